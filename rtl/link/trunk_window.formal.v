`default_nettype none
// Order and exactly once over several lanes, of which any loses what it likes and any may die and come back: every packet is delivered once
// and in order, whatever lanes its copies went by.
//
// The sender is any that keeps what trunk_issue and link_replay promise: a frame has a number that is sent before or the next;
// it is less than half the numbers beyond `safe`; `safe` moves on over numbers that are freed, when no copy before them is on its way any
// more. That none is, is what SKEW symbol times are for: they are an assumption of lanes' delays. What is freed was named in an
// acknowledgement, and those say an `expected` that was so at some time. The receiver takes the oldest frame of any lane by the rule that
// trunk_order is proven to keep: the expected one is delivered, one behind it is dropped, a later one waits, or is dropped as doomed,
// which is no other than lost.
//
// Each lane holds CHANNEL frames on their way and in its receiver; what is proven is of one frame by itself, so that more add nothing. Wide
// numbers (_g) count on where sequence numbers come round, and are shown to lie within half of those.
module trunk_window_formal #(
    parameter SEQ     = 3,
    parameter LANES   = 2,
    parameter CHANNEL = 3,
    parameter WIDE    = SEQ + 2
) (
    input wire clk
);
    localparam HALF = 1 << (SEQ - 1);
    reg begins = 1'b1;
    always @(posedge clk) begins <= 1'b0;

    (* anyseq *) wire [LANES-1:0] f_gives, f_loses, f_dies, f_shows;
    (* anyseq *) wire             f_back, f_loads, f_acks, f_safe;
    (* anyseq *) wire [WIDE-1:0]  f_overwritten, f_acked, f_safe_g;
    reg  [WIDE-1:0] base_g, safe_g, next_g, sent_g, load_g, expected_g;
    wire [SEQ-1:0]  expected = expected_g[SEQ-1:0];     // what the receiver has of it

    // Of each lane: frames, the oldest lowest, with the number and the packet that they carry.
    localparam CW = $clog2(CHANNEL + 1);
    reg  [LANES*CW-1:0]           counts;
    reg  [LANES*CHANNEL*WIDE-1:0] numbers, packets;
    reg  [LANES-1:0]              mine, old;
    reg  [SEQ-1:0]                ahead;
    reg                           none_before;          // safe_g may move to f_safe_g
    // Distances, of WIDE bits.
    wire [WIDE-1:0] f_base = base_g - safe_g, f_next = next_g - safe_g, f_sent = sent_g - safe_g, f_expected = expected_g - safe_g;
    wire [WIDE-1:0] f_held = load_g - base_g, f_unsaid = sent_g - base_g, f_given = expected_g - base_g;
    wire [WIDE-1:0] f_says = f_acked - base_g, f_moves = f_safe_g - safe_g;
    wire [WIDE-1:0] packet_g = f_next < f_base ? f_overwritten : next_g;
    reg  [WIDE-1:0] there;
    integer k, j, left;
    always @* begin
        none_before = 1'b1;
        for (k = 0; k < LANES; k = k + 1) begin
            ahead   = numbers[k*CHANNEL*WIDE +: SEQ] - expected;
            mine[k] = counts[k*CW +: CW] != 0 && ahead == 0;
            old[k]  = counts[k*CW +: CW] != 0 && ahead >= HALF;
            for (j = 0; j < CHANNEL; j = j + 1) begin
                there = numbers[(k*CHANNEL+j)*WIDE +: WIDE] - safe_g;
                if (j < counts[k*CW +: CW] && there < f_moves) none_before = 1'b0;
            end
        end
    end
    wire deliver = (f_shows & mine) != 0;

    // The rules that the sender keeps.
    always @* begin
        assume ((f_gives & (f_gives - 1'b1)) == 0 && (f_shows & (f_shows - 1'b1)) == 0 && (f_shows & f_loses) == 0);
        if (f_gives != 0) assume (next_g != load_g && f_next < HALF - 1 && !f_back);
        if (f_loads) assume (f_held < HALF);
        if (f_acks)  assume (f_says <= f_given && f_says <= f_unsaid);
        if (f_safe)  assume (f_moves <= f_base && none_before && f_next >= f_moves);
        for (k = 0; k < LANES; k = k + 1) begin
            if (f_gives[k]) assume (counts[k*CW +: CW] != CHANNEL);
            if (f_shows[k] || f_loses[k]) assume (counts[k*CW +: CW] != 0);
            if (f_shows[k]) assume (mine[k] || old[k]);
        end
    end
    always @(posedge clk) begin
        if (f_acks)       base_g <= f_acked;
        if (f_safe)       safe_g <= f_safe_g;
        if (f_loads)      load_g <= load_g + 1'b1;
        if (deliver)      expected_g <= expected_g + 1'b1;
        if (f_back)       next_g <= base_g;
        if (f_gives != 0) begin
            next_g <= next_g + 1'b1;
            if (next_g == sent_g) sent_g <= sent_g + 1'b1;
        end
        for (k = 0; k < LANES; k = k + 1) begin
            left = counts[k*CW +: CW] - (f_shows[k] || f_loses[k]);
            if (f_shows[k] || f_loses[k]) begin
                numbers[k*CHANNEL*WIDE +: CHANNEL*WIDE] <= numbers[k*CHANNEL*WIDE +: CHANNEL*WIDE] >> WIDE;
                packets[k*CHANNEL*WIDE +: CHANNEL*WIDE] <= packets[k*CHANNEL*WIDE +: CHANNEL*WIDE] >> WIDE;
            end
            if (f_gives[k]) begin
                numbers[(k*CHANNEL+left)*WIDE +: WIDE] <= next_g;
                packets[(k*CHANNEL+left)*WIDE +: WIDE] <= packet_g;
            end
            counts[k*CW +: CW] <= f_dies[k] || begins ? 0 : left + f_gives[k];
        end
        if (begins) {base_g, safe_g, next_g, sent_g, load_g, expected_g} <= 0;
    end

    // Each packet once, and in order.
    reg  [WIDE-1:0] f_there;
    always @* if (!begins) begin
        for (k = 0; k < LANES; k = k + 1) begin
            if (f_shows[k] && mine[k]) assert (packets[k*CHANNEL*WIDE +: WIDE] == expected_g);
            f_there = numbers[k*CHANNEL*WIDE +: WIDE] - safe_g;
            if (f_shows[k] && old[k])  assert (f_there < f_expected);
        end
        // What ties it together; induction needs it.
        assert (f_base <= f_expected && f_expected <= f_sent && f_sent < HALF && f_next <= f_sent);
        assert (f_unsaid <= f_held && f_held <= HALF);
        for (k = 0; k < LANES; k = k + 1) begin
            assert (counts[k*CW +: CW] <= CHANNEL);
            for (j = 0; j < CHANNEL; j = j + 1)
                if (j < counts[k*CW +: CW]) begin
                    f_there = numbers[(k*CHANNEL+j)*WIDE +: WIDE] - safe_g;
                    assert (f_there < f_sent);
                    assert (f_there < f_base || packets[(k*CHANNEL+j)*WIDE +: WIDE] == numbers[(k*CHANNEL+j)*WIDE +: WIDE]);
                end
        end
    end
endmodule
`resetall
