`default_nettype none
// Window and replay, both ends at once, each in one of its lives: over a cable that loses what it likes and may lead elsewhere at any time,
// every packet is delivered once and in order, nothing is sent outside the window, and nothing is freed that has not been delivered.
//
// The sender is any that keeps link_window_rules: it sends, repeats and goes back whenever it likes. The receiver takes a frame by the
// protocol's rule. Frames and acknowledgements are numbers here, and one that arrives damaged is one that is lost. The channels keep
// order and hold CHANNEL of each; what is proven is of neighbours in a channel, so that more of them add nothing.
//
// Lives: the proof watches one life of each end, any two. A life begins at any time, once, and ends at any time, or when the other was seen
// to be in another. What either end says in other lives, before and after, and what others say that share the cable by and by, is all that
// does not come from a watched life: anything, at any time. A life says what it is called until it is up (INIT), then seals to the life
// that it knows; an end takes only what is sealed to its life by the one that it knows, and learns another only while it knows none
// (doc/protocol.md, "Link state machine"). That no two lives are called alike, and that what is sealed otherwise is damaged, is the duty of
// 32 bits and of the checks.
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
    localparam [1:0] INIT = 2'd0, WORD = 2'd1, FRAME = 2'd2;
    reg begins = 1'b1;
    always @(posedge clk) begins <= 1'b0;

    // Items on their way, the first to arrive at 0: their kind; whether the watched life of that side says it, and seals it to the watched
    // life of the other. Of frames: number, packet, and what `sent` was when it left; of words of the receiver: the number that it expects.
    localparam COUNTW = $clog2(CHANNEL + 1);
    (* anyseq *) wire            f_out, f_in, f_out_comes, f_in_comes, f_out_lost, f_in_lost, f_out_other, f_in_other;
    (* anyseq *) wire [1:0]      f_out_kind, f_in_kind;
    (* anyseq *) wire [WIDE-1:0] f_any_number, f_any_next;
    reg  [COUNTW-1:0]       outs, ins;
    reg  [CHANNEL-1:0]      out_from, out_to, in_from, in_to;
    reg  [CHANNEL*2-1:0]    out_kind, in_kind;
    reg  [CHANNEL*WIDE-1:0] number, packet, limit, next;
    wire [COUNTW-1:0]       outs_left = outs - f_out_comes, ins_left = ins - f_in_comes;
    wire                    out_arrives = f_out_comes && !f_out_lost && !begins, in_arrives = f_in_comes && !f_in_lost && !begins;

    // The lives that are watched: yet to come (neither), now (lives) or over; and, as they were when it was over, whether they know the
    // other end, whether that is in its watched life, and whether they are up.
    (* anyseq *) wire f_s_begins, f_s_ends, f_s_same, f_r_begins, f_r_ends, f_r_same;
    wire s_was, s_lives, s_known, s_pair, s_up, s_takes;
    wire r_was, r_lives, r_known, r_pair, r_up, r_takes;
    link_window_life u_s_life (
        .clk(clk), .rst(begins), .begins(f_s_begins), .ends(f_s_ends), .same(f_s_same), .comes(in_arrives), .init(in_kind[1:0] == INIT),
        .word(in_kind[1:0] == WORD), .from(in_from[0]), .to(in_to[0]),
        .was(s_was), .lives(s_lives), .known(s_known), .pair(s_pair), .up(s_up), .takes(s_takes)
    );
    link_window_life u_r_life (
        .clk(clk), .rst(begins), .begins(f_r_begins), .ends(f_r_ends), .same(f_r_same), .comes(out_arrives), .init(out_kind[1:0] == INIT),
        .word(out_kind[1:0] == WORD), .from(out_from[0]), .to(out_to[0]),
        .was(r_was), .lives(r_lives), .known(r_known), .pair(r_pair), .up(r_up), .takes(r_takes)
    );

    // Any sender.
    (* anyseq *) wire [SEQ-1:0]  f_freed, f_completed, f_loaded, f_seq;
    (* anyseq *) wire            f_leaves;
    (* anyseq *) wire [WIDE-1:0] f_overwritten;
    reg [WIDE-1:0] base_g, sent_g, load_g;
    wire [SEQ-1:0] base = base_g[SEQ-1:0], sent = sent_g[SEQ-1:0], load = load_g[SEQ-1:0];
    wire [SEQ-1:0] named, ack_n;
    wire           ack, replay_ok, framer_ok;
    wire           s_begins = begins || !s_was;
    always @(posedge clk)
        if (s_begins) {base_g, sent_g, load_g} <= 0;
        else if (s_lives) begin
            base_g <= base_g + f_freed;
            sent_g <= sent_g + f_completed;
            load_g <= load_g + f_loaded;
        end
    link_window_rules #(.SEQ(SEQ), .WINDOW(WINDOW)) u_rules (
        .clk(clk), .begins(s_begins), .base(base), .sent(sent), .load(load), .ack(ack), .ack_n(ack_n), .leaves(f_leaves), .seq(f_seq),
        .named(named), .replay_ok(replay_ok), .framer_ok(framer_ok)
    );
    always @* begin
        assume (replay_ok && framer_ok);
        if (!s_up) assume (f_completed == 0);
        if (f_leaves) assume (s_up && s_lives);
    end

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

    // What is said on the sender's side: by the watched life, or by others.
    wire out_own = f_out && !f_out_other;
    always @* begin
        if (f_out_comes) assume (outs != 0);
        if (f_out)       assume (outs_left < CHANNEL && !begins && f_out_kind <= FRAME);
        if (out_own)     assume (s_lives && (f_out_kind == INIT ? !s_up : s_known) && f_leaves == (f_out_kind == FRAME));
        else             assume (!f_leaves);
    end
    always @(posedge clk) begin
        if (f_out_comes) begin
            {out_from, out_to, out_kind} <= {out_from >> 1, out_to >> 1, out_kind >> 2};
            number <= number >> WIDE;
            packet <= packet >> WIDE;
            limit  <= limit >> WIDE;
        end
        if (f_out) begin
            out_from[outs_left]              <= out_own;
            out_to[outs_left]                <= out_own ? s_pair : f_s_same;
            out_kind[outs_left*2 +: 2]       <= f_out_kind;
            number[outs_left*WIDE +: WIDE] <= out_own ? number_g : f_any_number;
            packet[outs_left*WIDE +: WIDE] <= packet_g;
            limit[outs_left*WIDE +: WIDE]  <= sent_g;
        end
        outs <= begins ? 0 : outs_left + f_out;
    end

    // The receiver. delivered_g: of what the watched lives have between them.
    reg  [SEQ-1:0]  expected;
    reg  [WIDE-1:0] delivered_g;
    wire [SEQ-1:0]  ahead   = number[SEQ-1:0] - expected;
    wire            taken   = r_takes && r_up && out_kind[1:0] == FRAME;
    wire            arrives = taken && r_pair;
    wire            deliver = arrives && ahead == 0;
    always @(posedge clk)
        if (begins || !r_was) begin
            expected    <= 0;
            delivered_g <= 0;
        end else begin
            expected    <= expected + (taken && ahead == 0);
            delivered_g <= delivered_g + deliver;
        end

    // Words on their way back.
    wire in_own = f_in && !f_in_other;
    reg  [WIDE-1:0] named_g;
    assign          ack   = s_takes && in_kind[1:0] == WORD;
    assign          ack_n = next[SEQ-1:0];
    wire [SEQ-1:0]  names = ack_n - base, underway = sent - base;
    always @* begin
        if (f_in_comes) assume (ins != 0);
        if (f_in)       assume (ins_left < CHANNEL && !begins && f_in_kind <= WORD);
        if (in_own)     assume (r_lives && (f_in_kind == INIT ? !r_up : r_known));
    end
    always @(posedge clk) begin
        if (f_in_comes) begin
            {in_from, in_to, in_kind} <= {in_from >> 1, in_to >> 1, in_kind >> 2};
            next <= next >> WIDE;
        end
        if (f_in) begin
            in_from[ins_left]            <= in_own;
            in_to[ins_left]              <= in_own ? r_pair : f_r_same;
            in_kind[ins_left*2 +: 2]     <= f_in_kind;
            next[ins_left*WIDE +: WIDE] <= in_own && r_pair ? delivered_g : f_any_next;
        end
        ins <= begins ? 0 : ins_left + f_in;
        if (s_begins)           named_g <= 0;
        else if (ack && s_pair) named_g <= next[WIDE-1:0];
    end

    // a .. b in this order, no more than a window apart.
    function within(input [WIDE-1:0] a, input [WIDE-1:0] b);
        reg [WIDE-1:0] distance;
        begin
            distance = b - a;
            within = distance <= WINDOW;
        end
    endfunction

    wire paired = s_up && s_pair;       // the sender was up with the watched life, which the receiver's side may not know yet
    always @* if (!begins) begin
        // What the link is for.
        if (arrives) assert (out_from[0]);
        if (deliver) begin
            assert (number[WIDE-1:0] == delivered_g);
            assert (packet[WIDE-1:0] == delivered_g);
        end
        if (paired) assert (!before(delivered_g, base_g));
        if (f_leaves && s_pair) assert (stale || in_window);
        // A frame that came before is known as such, and no acknowledgement looks impossible.
        if (arrives)       assert (ahead[SEQ-1] == before(number[WIDE-1:0], delivered_g));
        if (ack && s_pair) assert (in_from[0] && names <= underway);

        // Why: where everybody stands.
        assert (s_was || !(s_lives || s_known || s_pair || s_up));
        assert (r_was || !(r_lives || r_known || r_pair || r_up));
        assert ((s_known || !s_up) && (r_known || !r_up));
        if (s_pair) assert (r_was);
        if (r_pair) assert (s_was);
        if (!r_up) assert (expected == 0);
        if (!r_up || !r_pair) assert (delivered_g == 0);
        if (!r_up || r_pair) assert (expected == delivered_g[SEQ-1:0]);
        if (!s_up) assert (sent_g == 0 && base_g == 0 && named == 0 && named_g == 0);
        if (!paired) assert (delivered_g == 0 && named_g == 0);
        assert (within(base_g, sent_g) && within(sent_g, load_g) && within(base_g, load_g));
        if (paired) begin
            assert (named == named_g[SEQ-1:0]);
            assert (within(base_g, named_g) && within(named_g, delivered_g) && within(delivered_g, sent_g));
        end
        assert (outs <= CHANNEL && ins <= CHANNEL);
    end

    // Neighbours are those that the watched lives say to each other.
    wire [CHANNEL*WIDE-1:0] last_limit, last_next;
    genvar i;
    generate
        for (i = 0; i < CHANNEL; i = i + 1) begin : g_slot
            wire [WIDE-1:0] slot_number = number[i*WIDE +: WIDE];
            wire [WIDE-1:0] slot_packet = packet[i*WIDE +: WIDE];
            wire [WIDE-1:0] slot_limit  = limit[i*WIDE +: WIDE];
            wire [WIDE-1:0] slot_next   = next[i*WIDE +: WIDE];
            wire            is_frame = out_kind[2*i +: 2] == FRAME && out_from[i] && out_to[i];
            wire            is_word  = in_kind[2*i +: 2] == WORD && in_from[i] && in_to[i];
            wire [WIDE-1:0] older_limit = i == 0 ? delivered_g : last_limit[(i == 0 ? 0 : i-1)*WIDE +: WIDE];
            wire [WIDE-1:0] older_next  = i == 0 ? named_g : last_next[(i == 0 ? 0 : i-1)*WIDE +: WIDE];
            assign last_limit[i*WIDE +: WIDE] = is_frame ? slot_limit : older_limit;
            assign last_next[i*WIDE +: WIDE]  = is_word ? slot_next : older_next;
            always @* if (!begins) begin
                if (i < outs && out_from[i]) assert (s_was);
                if (i < ins && in_from[i])   assert (r_was);
                if (i < outs && is_frame) begin
                    assert (paired);
                    assert (within(older_limit, slot_limit) && within(slot_limit, sent_g));
                    assert (slot_number != slot_limit && within(slot_number, slot_limit));
                    assert (slot_packet == slot_number || before(slot_number, base_g));
                end
                if (i < ins && is_word) assert (within(older_next, slot_next) && within(slot_next, delivered_g));
            end
        end
    endgenerate
endmodule
`resetall
