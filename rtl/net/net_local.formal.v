// Properties of net_local, included in it: who keeps the contract never overruns the queue, and what is said of it is exact. That packets
// come out as they went in is the queue's: fifo_commit, which stands here as its contract (fifo_commit_queue.formal.v).

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// The host's side: a packet of three bytes or more begins while there is room for it, three clocks or more behind the one before, and takes
// at most that room; what is taken back stands still.
reg  [15:0] f_size, f_most;             // `size` a clock ago; what the packet may have
reg  [15:0] f_in;                       // its bytes so far
reg  [2:0]  f_since;                    // clocks since the last packet's end
wire        f_begins = s_valid && f_in == 0;
wire [15:0] f_may    = takes && f_size + 1 > (has_room ? MAX_PACKET : 0) ? f_size + 16'd1 : MAX_PACKET;
wire [15:0] f_limit  = f_begins ? f_may : f_most;
reg         f_refused, f_shut;
always @* begin
    assume (s_keep == 1'b1);
    assume (size < MAX_PACKET);
    if (cancel) assume (f_in != 0 && !s_valid);
    if (f_begins) assume ((has_room || takes) && f_since >= 3);
    if (s_valid) assume (s_last == (f_in + 1 == f_limit) || (s_last && f_in >= 2 && f_in + 1 < f_limit));
end
always @(posedge clk) begin
    f_size  <= size;
    if (f_begins) f_most <= f_may;
    f_in    <= (s_valid && s_last) || cancel ? 16'd0 : f_in + {15'd0, s_valid};
    f_since <= (s_valid && s_last) || cancel ? 3'd1 : f_since + {2'd0, f_since < 3};
    if (rst) {f_in, f_since} <= {16'd0, 3'd3};
end

// What has come whole, and what the router has taken whole.
reg [15:0] f_put, f_got, f_got_whole, f_goes;
reg [7:0]  f_packets_put, f_packets_got, f_whole_was, f_whole_was2;
reg        f_rst, f_queued;
reg [15:0] f_held_was, f_held_was2;
wire       f_take = m_valid && m_ready;
always @(posedge clk) begin
    if (s_valid && s_last) {f_put, f_packets_put} <= {f_put + f_in + 16'd1, f_packets_put + 8'd1};
    f_goes <= m_void || (f_take && m_last) ? 16'd0 : f_goes + {15'd0, f_take};
    if (f_take && m_last) {f_got, f_packets_got} <= {f_got + f_goes + 16'd1, f_packets_got + 8'd1};
    f_held_was  <= f_put + f_in - f_got;
    f_held_was2 <= f_held_was;
    {f_whole_was, f_whole_was2} <= {f_packets_put - f_packets_got, f_whole_was};
    f_refused <= refused || (f_refused && !admit);
    f_shut    <= f_refused;
    f_rst     <= rst;
    f_queued  <= f_in != 0 || f_packets_put != f_packets_got;
    if (rst) begin
        {f_put, f_got, f_goes, f_held_was, f_held_was2} <= 80'd0;
        {f_packets_put, f_packets_got, f_whole_was, f_whole_was2} <= 32'd0;
        {f_refused, f_shut, f_queued} <= 3'd0;
    end
end
wire [15:0] f_bytes = f_put + f_in - f_got;             // for which there is no room
wire [7:0]  f_whole = f_packets_put - f_packets_got;
always @* if (f_run && !rst) begin
    assert (!overflow);
    assert (freed_bytes == f_got && freed_packets == f_packets_got);
    assert (f_bytes <= REPLAY_BYTES);
    assert (f_whole <= 128);
    assert (gap == f_refused && queued == f_queued);
    if (has_room) assert (f_held_was2 + MAX_PACKET <= REPLAY_BYTES && !f_shut);
    if (takes)    assert (f_held_was2 + f_size + 1 <= REPLAY_BYTES && !f_shut);
end

// What ties the registers together; induction needs it. Words of whole packets are committed ones, and the last of those ends its packet.
localparam FN = BEATS < 16 ? BEATS : 16;    // loops are unrolled before parameters are set
reg [7:0]       f_lasts;                // packets in the queue
reg [FN-1:0]    f_ends;                 // words that end one
integer f_k;
always @* begin
    f_lasts = 0;
    for (f_k = 0; f_k < FN; f_k = f_k + 1) begin
        f_ends[f_k] = f_k < f_firm && f_words[10*f_k + 9];
        f_lasts = f_lasts + {7'd0, f_ends[f_k]};
    end
end
wire [7:0] f_final = f_firm - 8'd1;
always @* if (f_run && !rst) begin
    assert (f_lasts == f_whole);
    for (f_k = 0; f_k < FN; f_k = f_k + 1) begin
        if (f_k < f_held) assert (f_words[10*f_k + 8]);
        if (f_k < f_held && f_k >= f_firm) assert (!f_words[10*f_k + 9]);
    end
    if (f_in != 0) assert (first == f_put);
    assert (next == f_put + f_in && coming == (f_in != 0) && taken == f_goes);
    if (f_in == 0 && f_since > 1 && !f_rst) assert (first == next);
    if (f_rst) assert (!has_room && !takes && !coming && f_bytes == 0 && f_since == 3);
    assert (come == f_packets_put && many == f_whole_was[7]);
    if (has_room || takes) assert (f_whole_was2 < 128);
    if (f_in != 0)         assert (f_whole < 128);
    if (f_in == 0 && f_since > 1) assert (f_whole <= f_whole_was && f_bytes <= f_held_was);
    if (f_in == 0 && f_since > 2) assert (f_whole <= f_whole_was2 && f_bytes <= f_held_was2);
    assert (held == f_held_was[AW:0]);
    assert (f_since <= 3 && (f_in < f_most || f_in == 0));
    if (f_in != 0) assert (f_most <= MAX_PACKET && f_bytes + f_most - f_in <= REPLAY_BYTES);
    if (f_in != 0) assert (f_held_was2 + f_most - f_in <= REPLAY_BYTES + 1);
    assert (f_past[15:8] <= f_held_was && f_past[7:0] <= f_held_was2);
    if (m_void) assert (f_held == 0 && !coming && f_bytes == 0);
    else        assert (f_held == f_bytes - f_goes);
    if (f_firm != 0) assert (f_ends[f_final[$clog2(FN)-1:0]] && f_put - f_got - f_goes == f_firm && f_firm + f_in == f_held);
    if (f_firm == 0) assert (f_put == f_got && f_loose == (f_goes != 0) || m_void);
    if (f_loose) assert (f_firm == 0 && f_goes != 0);
end
