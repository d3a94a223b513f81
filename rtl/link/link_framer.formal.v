// Properties of link_framer: it keeps its part of link_window_rules and sends of each packet its bytes, from the first to the last,
// whatever the line takes and the peer says. The replay buffer is any that keeps its contract.

reg f_run = 1'b0, f_rst = 1'b0, f_resets = 1'b0;
always @(posedge clk) {f_run, f_rst, f_resets} <= {1'b1, rst, rst && !f_rst};
always @* if (!f_run || f_resets) assume (rst);     // two clocks at least
always @* begin
    if (!f_run || !f_rst) assert (!f_resets && !(f_rst && !f_run));
    if (f_rst) assert (reset && (f_resets || (!f_valid && sent_seq == 8'd0)));
end
wire f_begins = rst || restart;

// The replay buffer: numbers and pointers. While `restart` lasts it may be dropping packets.
localparam [POINTER-1:0] F_TOP = 1 << (POINTER - 1);
(* anyseq *) wire f_writes;
reg  [POINTER-1:0] f_load_from;         // the packet that is being loaded
wire [POINTER-1:0] f_more = load_last - load;        // bytes that come with the first of those in this clock
reg                f_looked, f_loading;
reg  [7:0]         f_load_seq, f_look_seq;
reg  [POINTER-1:0] f_load;
wire [POINTER-1:0] f_oldest_at = base + 1'b1;    // base is the place before
wire [POINTER-1:0] f_used  = load - f_oldest_at;
always @(posedge clk) begin
    f_looked   <= look && !f_begins;
    f_look_seq <= look_seq;
    f_load_seq <= f_begins ? 8'd0 : load_seq + {7'd0, loaded};
    f_load     <= cancel ? f_load_from : f_writes ? load_last + 1'b1 : load;
    if (!f_loading) f_load_from <= load;
    if (f_begins || cancel) f_loading <= 1'b0;
    else if (f_writes) f_loading <= !loaded;
end
always @* if (f_run) begin
    assume (load == f_load && look_done == f_looked);
end
always @* if (f_run && !f_begins) begin
    assume (load_seq == f_load_seq && loading == f_loading);
    assume (!cancel || (f_loading && !f_writes));
    assume (!loaded || (f_writes && load_seq - base_seq != `LP_WINDOW_MAX));
    assume (f_used <= F_TOP && !(f_writes && f_used + {1'b0, f_more} >= F_TOP));
    if (load_seq == base_seq && !loading) assume (f_oldest_at == load);
end

// One packet that the solver chooses: where it begins, and where it ends. Packets have three bytes or more.
(* anyconst *) wire [7:0] f_n;
wire [7:0]         f_n1   = f_n + 8'd1;
wire               f_held = f_n - base_seq <= load_seq - base_seq;
reg                f_begun, f_whole;
reg  [POINTER-1:0] f_start, f_end;
wire [POINTER-1:0] f_size = f_end - f_start, f_there = load - f_start, f_past = f_start - f_oldest_at;
always @(posedge clk) begin
    if (f_writes && !f_loading && load_seq == f_n) {f_begun, f_start} <= {1'b1, load};
    if (loaded && load_seq + 8'd1 == f_n)         {f_begun, f_start, f_whole} <= {1'b1, load_last + 1'b1, 1'b0};
    if (loaded && load_seq == f_n)                {f_whole, f_end} <= {1'b1, load_last + 1'b1};
    if (f_begins) {f_begun, f_whole} <= 2'd0;
end
always @* if (f_run) begin
    if (loaded && load_seq == f_n)  assume (f_begun ? f_there + f_more >= 2 : f_more >= 2);
    if (f_begun && f_held)          assume (f_past <= f_used);
    if (f_begun && base_seq == f_n) assume (f_oldest_at == f_start);
    if (f_whole && base_seq == f_n1) assume (f_oldest_at == f_end);
    if (f_begun && look_done && f_look_seq == f_n - 8'd1)  assume (look_last + 1'b1 == f_start);
    if (f_whole && look_done && f_look_seq == f_n) assume (look_last + 1'b1 == f_end);
end

// Its bytes: at a place that the solver chooses stands a byte that it chooses.
(* anyconst *) wire [POINTER-1:0] f_place;
(* anyconst *) wire [7:0]         f_byte;
reg [POINTER-1:0] f_read;
always @(posedge clk) if (rd_en) f_read <= send;
always @* if (f_read == f_place) assume (rd_data == f_byte);

// The number in the frame that stands at the port.
reg       f_first;
reg [7:0] f_seq;
always @(posedge clk) if (f_valid && f_take) begin
    f_first <= f_sym == `LP_SYM_SOP;
    if (f_first) f_seq <= f_sym[7:0];
end

wire f_ends = f_valid && f_sym == `LP_SYM_EOP;
wire f_replay_ok, f_framer_ok;
wire [7:0] f_named;
(* anyseq *) wire       f_ack;
(* anyseq *) wire [7:0] f_ack_n;
link_window_rules #(.SEQ(8), .WINDOW(`LP_WINDOW_MAX)) f_rules (
    .clk(clk), .begins(f_begins), .base(base_seq), .sent(sent_seq), .load(load_seq), .ack(f_ack), .ack_n(f_ack_n),
    .leaves(f_ends && f_take), .seq(f_seq), .named(f_named), .replay_ok(f_replay_ok), .framer_ok(f_framer_ok)
);
always @* assume (f_replay_ok);

// What has been sent of the packet: f_at is the place of the next byte, f_taken how many went before it.
wire [POINTER-1:0] f_at = rewound ? send + 1'b1 : send - fetched - have;
reg  [POINTER-1:0] f_taken;
reg                f_took;              // f_byte, in the clock before
always @(posedge clk) begin
    f_took  <= take && f_at == f_place && !reset;
    f_taken <= state[DATA] ? f_taken + take : 0;
end

// Clocks since next_seq changed, and whether it was set to the oldest packet's then.
reg [1:0] f_since;
reg       f_oldest;
always @(posedge clk) begin
    f_since <= passed || rewind || reset ? 2'd0 : f_since + (f_since != 2'd3);
    if (reset || rewind)  f_oldest <= 1'b1;
    else if (passed)       f_oldest <= 1'b0;
end

wire       f_idle     = state[IDLE];
wire       f_frame    = state[SEQ] || state[DATA];
wire [7:0] f_following = next_seq + {7'd0, passed};         // of the frame behind the one whose CRC is sent
wire [7:0] f_number   = f_following - {7'd0, state[CRC] || (state[END] && !aborts)};
wire [7:0] f_back     = sent_seq - f_number;
wire [7:0] f_behind   = sent_seq - f_seq;
wire [7:0] f_underway = sent_seq - base_seq;
wire [7:0] f_packets  = load_seq - base_seq;
wire [7:0] f_ahead    = next_seq - base_seq;
wire [7:0] f_moved    = in_flight - f_ahead;
wire [7:0] f_ith      = f_n - base_seq, f_later = f_ith - 8'd1;
wire [7:0] f_turn     = f_n - f_number, f_next = f_turn - 8'd1, f_left = load_seq - f_number;
wire       f_open     = f_ahead[7] || f_ahead < `LP_WINDOW_MAX - 1;
wire [POINTER-1:0] f_gone = send - f_start, f_fetched_to = f_whole ? f_end : load;

always @* if (f_run && !f_begins) begin
    assert (f_framer_ok);
    if (reset) assert (!f_valid && sent_seq == 0 && base_seq == 0 && load_seq == 0 && !f_loading && !f_begun && !f_whole);
end
always @* if (f_run && !f_begins && !reset) begin
    // Of the packet each byte is sent, in its turn, and none before it is there.
    if (take && f_number == f_n && !canceled) begin
        assert (f_begun && f_at == f_start + f_taken);
        assert (last == (f_whole && f_at + 1'b1 == f_end));
    end
    if (fetch && f_number == f_n && !astray && !canceled) assert (f_begun && f_gone < f_fetched_to - f_start);
    if (f_took) assert (f_valid && f_sym == {1'b0, f_byte});

    // Why: where the frame stands.
    assert (state == 1 || state == 2 || state == 4 || state == 8 || state == 16);
    assert (f_back < `LP_WINDOW_MAX);
    assert (f_underway < `LP_WINDOW_MAX && f_underway <= f_packets && f_packets <= `LP_WINDOW_MAX);
    if (state[CRC] || state[END]) assert (first_time == (!aborts && f_number == sent_seq));
    if (aborts) assert (state[END] || f_idle);
    if (canceled) assert (next_seq == load_seq && !f_loading && !rewound);
    if (!f_idle && f_number == sent_seq) assert (f_underway < `LP_WINDOW_MAX - 1);
    if (state[CRC] || (state[END] && !aborts)) assert (f_number != load_seq);
    if (state[CRC] || (state[END] && !astray)) assert (!have && !fetched);
    if (passed) assert (state[CRC] && crc_left == 3);
    // The window: f_ahead is known a clock late, and only falls meanwhile.
    if (f_oldest) assert (f_ahead == 0 || f_ahead[7]);
    if (f_since >= 1) assert (f_moved <= `LP_WINDOW_MAX - 1);
    if (f_since >= 2 && !closed) assert (f_open);
    if (f_since >= 3 && may_begin) assert (f_open);
    if (state[CRC]) assert (passed || f_since + crc_left >= 2);
    else            assert (crc_left == 3);
    if ((state[END] && !aborts) || ((state[END] || f_frame) && !f_oldest) || (f_idle && !astray && !f_oldest)) assert (f_since == 3);
    // The packet's end.
    if (f_idle && !rewound && !astray) assert (pending == (next_seq != load_seq));
    if ((end_known || looked) && !rewound && !state[END]) assert (f_number != load_seq && !current);
    if (current && !state[END]) assert (f_frame && (loading || canceled) && f_number == load_seq && !end_known);
    if (f_idle && astray) assert (!looked && !end_known);
    if (rewound) assert (f_idle && f_oldest && f_since == 0 && !may_begin && !current);
    if (f_looked && looked && !rewound && !state[END]) assert (f_look_seq == f_number);
    if (looked) assert (end_known || look_done);
    if (f_frame) assert (end_known || looked || current);
    if (starved) assert (!have && (state[DATA] || f_idle || aborts));
    if (astray) assert ((f_idle || aborts) && !may_begin);
    // Its bytes. Every packet begins after another, but for the first.
    if (f_later < f_packets) assert (f_begun);
    if (f_ith < f_packets) assert (f_whole);
    if (!astray && f_next < f_left) assert (f_begun);
    if (!astray && f_turn < f_left) assert (f_whole);
    if (load_seq == f_n) begin
        assert (!f_whole && (f_begun || !f_loading));
        if (f_begun) assert (f_there <= F_TOP && (f_there != 0) == f_loading && (!f_loading || f_load_from == f_start));
    end
    if (f_whole) assert (f_begun && f_size >= 3 && f_size <= F_TOP);
    if ((f_idle || aborts) && !astray && !canceled && next_seq == f_n) begin
        assert (f_at == (f_whole || f_loading ? f_start : load));
        if (!f_whole && !rewound) assert ({1'b0, fetched} + have <= load - f_at);
    end
    if (ended && !rewound && !state[END]) assert (end_known && send == send_last + 1'b1);
    if (end_known && !rewound && !state[END] && f_number == f_n) assert (f_whole && send_last + 1'b1 == f_end);
    if (end_known && !rewound && !state[END] && f_number == f_n - 8'd1) assert (f_begun && send_last + 1'b1 == f_start);
    if (f_frame && f_number == f_n && !canceled) begin
        assert (f_begun && f_at == f_start + f_taken);
        if (state[SEQ]) assert (f_taken == 0);
        if (f_whole) assert (ended ? send == f_end : f_gone < f_size);
        else         assert (current && f_gone <= f_there);
        if (!end_known && !current) assert (f_whole && f_gone <= 2);
    end
    if ((state[CRC] || (state[END] && !aborts)) && f_following == f_n) assert (f_begun && send == f_start);
    if (fetched && !rewound) assert (f_read == send - 1'b1);
    if (have && !rewound && f_at == f_place) assert (byte_q == f_byte);
    // What stands at the port.
    if (state[SEQ]) assert (f_valid);
    if (f_valid) assert (state[SEQ] ? f_sym == `LP_SYM_SOP : (state[END] && aborts) || f_sym != `LP_SYM_SOP);
    if (f_valid && state[DATA] && f_sym[8] == 0 && f_first) assert (f_sym[7:0] == f_number);
    if (!f_idle && !state[SEQ] && !aborts) assert (f_first ? f_valid && f_sym == {1'b0, f_number} : f_seq == f_number);
    if (f_ends) assert (f_idle && !f_first && f_behind != 0 && f_behind <= `LP_WINDOW_MAX);
end
