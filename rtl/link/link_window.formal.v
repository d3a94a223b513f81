`default_nettype none
// Window and replay, both ends at once: over a channel that loses what it likes, every packet is delivered once and in order, nothing is
// sent outside the window, and nothing is freed that has not been delivered.
//
// The sender is any that keeps link_window_rules: it sends, repeats and goes back whenever it likes. The receiver takes a frame by the
// protocol's rule. Frames and acknowledgements are numbers here, and one that arrives damaged is one that is lost. The channels keep
// order and hold CHANNEL of each; what is proven is of neighbours in a channel, so that more of them add nothing. One life of the
// link: that both ends begin again together, and that nothing of an earlier life arrives, is link_state's duty.
//
// Wide numbers (_g) count on where sequence numbers come round. They come round too, but all that are compared are shown to
// lie within a window or two of each other, and they have room for four.
module link_window_formal #(
    parameter SEQ     = 3,
    parameter WINDOW  = 1 << (SEQ - 1),
    parameter CHANNEL = 3,
    parameter WIDE    = SEQ + 2
) (
    input wire clk
);
    reg begins = 1'b1;
    always @(posedge clk) begins <= 1'b0;

    // Any sender.
    (* anyseq *) wire [SEQ-1:0]  f_freed, f_completed, f_loaded, f_seq;
    (* anyseq *) wire            f_leaves;
    (* anyseq *) wire [WIDE-1:0] f_overwritten;
    reg [WIDE-1:0] base_g, sent_g, load_g;
    wire [SEQ-1:0] base = base_g[SEQ-1:0], sent = sent_g[SEQ-1:0], load = load_g[SEQ-1:0];
    wire [SEQ-1:0] named, ack_n;
    wire           ack, replay_ok, framer_ok;
    always @(posedge clk)
        if (begins) {base_g, sent_g, load_g} <= 0;
        else begin
            base_g <= base_g + f_freed;
            sent_g <= sent_g + f_completed;
            load_g <= load_g + f_loaded;
        end
    link_window_rules #(.SEQ(SEQ), .WINDOW(WINDOW)) u_rules (
        .clk(clk), .begins(begins), .base(base), .sent(sent), .load(load), .ack(ack), .ack_n(ack_n), .leaves(f_leaves), .seq(f_seq),
        .named(named), .replay_ok(replay_ok), .framer_ok(framer_ok)
    );
    always @* assume (replay_ok && framer_ok);

    // The frame that leaves: its number, and which packet it carries. The bytes of one that is freed may be overwritten by any other's.
    wire [SEQ-1:0]  back     = sent - f_seq;
    wire [WIDE-1:0] number_g = sent_g - back;
    wire            stale    = before(number_g, base_g);
    wire [WIDE-1:0] packet_g = stale ? f_overwritten : number_g;
    wire [WIDE-1:0] into_g   = number_g - base_g;
    wire            in_window = into_g < WINDOW;
    function before(input [WIDE-1:0] a, input [WIDE-1:0] b);
        reg [WIDE-1:0] distance;
        begin
            distance = a - b;
            before = distance[WIDE-1];
        end
    endfunction

    // Frames on their way, the first to arrive at 0, and what `sent` was when each left.
    localparam COUNTW = $clog2(CHANNEL + 1);
    (* anyseq *) wire f_frame_comes, f_frame_lost;
    reg  [COUNTW-1:0]       frames;
    reg  [CHANNEL*WIDE-1:0] number, packet, limit;
    wire [COUNTW-1:0]       frames_left = frames - f_frame_comes;
    always @* begin
        if (f_frame_comes) assume (frames != 0);
        if (f_leaves)      assume (frames_left < CHANNEL);
    end
    always @(posedge clk) begin
        if (f_frame_comes) begin
            number <= number >> WIDE;
            packet <= packet >> WIDE;
            limit  <= limit >> WIDE;
        end
        if (f_leaves) begin
            number[frames_left*WIDE +: WIDE] <= number_g;
            packet[frames_left*WIDE +: WIDE] <= packet_g;
            limit[frames_left*WIDE +: WIDE]  <= sent_g;
        end
        frames <= begins ? 0 : frames_left + f_leaves;
    end

    // The receiver.
    reg  [SEQ-1:0]  expected;
    reg  [WIDE-1:0] delivered_g;
    wire [SEQ-1:0]  ahead   = number[SEQ-1:0] - expected;
    wire            arrives = f_frame_comes && !f_frame_lost && !begins;
    wire            deliver = arrives && ahead == 0;
    always @(posedge clk)
        if (begins) begin
            expected    <= 0;
            delivered_g <= 0;
        end else if (deliver) begin
            expected    <= expected + 1'b1;
            delivered_g <= delivered_g + 1'b1;
        end

    // Acknowledgements on their way back.
    (* anyseq *) wire f_says, f_ack_comes, f_ack_lost;
    reg  [COUNTW-1:0]       acks;
    reg  [CHANNEL*WIDE-1:0] next;
    reg  [WIDE-1:0]         named_g;
    wire [COUNTW-1:0]       acks_left = acks - f_ack_comes;
    assign                  ack   = f_ack_comes && !f_ack_lost && !begins;
    assign                  ack_n = next[SEQ-1:0];
    wire [SEQ-1:0]          names = ack_n - base, underway = sent - base;
    always @* begin
        if (f_ack_comes) assume (acks != 0);
        if (f_says)      assume (acks_left < CHANNEL);
    end
    always @(posedge clk) begin
        if (f_ack_comes) next <= next >> WIDE;
        if (f_says)      next[acks_left*WIDE +: WIDE] <= delivered_g;
        acks <= begins ? 0 : acks_left + f_says;
        if (begins)   named_g <= 0;
        else if (ack) named_g <= next[WIDE-1:0];
    end

    // a .. b in this order, no more than a window apart.
    function within(input [WIDE-1:0] a, input [WIDE-1:0] b);
        reg [WIDE-1:0] distance;
        begin
            distance = b - a;
            within = distance <= WINDOW;
        end
    endfunction

    always @* if (!begins) begin
        // What the link is for.
        if (deliver) begin
            assert (number[WIDE-1:0] == delivered_g);
            assert (packet[WIDE-1:0] == delivered_g);
        end
        assert (!before(delivered_g, base_g));
        if (f_leaves) assert (stale || in_window);
        // A frame that came before is known as such, and no acknowledgement looks impossible.
        if (arrives) assert (ahead[SEQ-1] == before(number[WIDE-1:0], delivered_g));
        if (ack)     assert (names <= underway);

        // Why: where everybody stands.
        assert (expected == delivered_g[SEQ-1:0] && named == named_g[SEQ-1:0]);
        assert (within(base_g, named_g) && within(named_g, delivered_g) && within(delivered_g, sent_g));
        assert (within(base_g, sent_g) && within(sent_g, load_g) && within(base_g, load_g));
        assert (frames <= CHANNEL && acks <= CHANNEL);
    end
    genvar i;
    generate
        for (i = 0; i < CHANNEL; i = i + 1) begin : g_slot
            wire [WIDE-1:0] slot_number = number[i*WIDE +: WIDE];
            wire [WIDE-1:0] slot_packet = packet[i*WIDE +: WIDE];
            wire [WIDE-1:0] slot_limit  = limit[i*WIDE +: WIDE];
            wire [WIDE-1:0] older_limit = i == 0 ? delivered_g : limit[(i == 0 ? 0 : i-1)*WIDE +: WIDE];
            wire [WIDE-1:0] slot_next   = next[i*WIDE +: WIDE];
            wire [WIDE-1:0] older_next  = i == 0 ? named_g : next[(i == 0 ? 0 : i-1)*WIDE +: WIDE];
            always @* if (!begins) begin
                if (i < frames) begin
                    assert (within(older_limit, slot_limit) && within(slot_limit, sent_g));
                    assert (slot_number != slot_limit && within(slot_number, slot_limit));
                    assert (slot_packet == slot_number || before(slot_number, base_g));
                end
                if (i < acks) assert (within(older_next, slot_next) && within(slot_next, delivered_g));
            end
        end
    endgenerate
endmodule
`resetall
