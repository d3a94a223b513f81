// Properties of link_rx, included in it: what comes out are the packets of good frames, whole, once and in order, and nothing else; a good
// frame is refused only when the FIFO refused a byte of it; `expected`, `lost` and the events say what has become of each frame.
//
// Every clock brings any symbol or none, and any key. The check sum is a small one (crc32c_byte.formal.v); it is computed here too. The
// FIFO is its contract with a reader that is always ready (link_rx_fifo.formal.v); that fifo_commit keeps it is proven by itself.

// A reset of some clocks, then none.
reg [1:0] f_clocks = 2'd0;
wire      f_run = f_clocks == 2'd3;
always @(posedge clk) if (!f_run) f_clocks <= f_clocks + 2'd1;
always @* begin
    assume (rst == !f_run);
    assume (sop + eop + data + err + aborted <= 1);
    assume (m_ready);
    if (restart) assume (!up);
end

// The frame in progress, by the rules of the protocol.
localparam MOST = 1 + MAX_PACKET + 4;
reg        f_in, f_admitted;
reg [3:0]  f_n;                     // data symbols since SOP
reg [7:0]  f_seq;
reg [15:0] f_length;
wire       f_ok;
wire       f_too_long = data && f_n == MOST;
wire       f_end      = f_in && (sop || eop || err || f_too_long);
wire       f_whole    = eop && f_ok && f_n >= 1 + 3 + 4;
wire [31:0] f_crc;
crc32c_byte f_check (.clk(clk), .init(sop), .key(key), .en(sop || data), .shift(1'b0), .data(byte_q), .crc(f_crc), .ok(f_ok));
always @(posedge clk) begin
    if (!up)   f_admitted <= 1'b0;
    if (f_end || aborted) f_in <= 1'b0;
    if (data) begin
        if (f_n <= MOST) f_n <= f_n + 4'd1;
        if (f_n == 0) f_seq <= byte_q;
        if (f_n == 2) f_length[7:0] <= byte_q;
        if (f_n == 3) f_length[15:8] <= byte_q;
    end
    if (sop) begin
        f_in       <= 1'b1;
        f_admitted <= 1'b1;
        f_n        <= 4'd0;
    end
    if (rst) f_in <= 1'b0;
end

// The frame that has ended, until its event. A frame that overran the FIFO may have ended before.
reg       e_end, e_whole, e_admitted, e_fits;
reg [7:0] e_seq;
reg       v_end, v_good, v_mine, v_old, v_admitted, v_fits;
reg       e_excused, v_excused, f_excused;
wire [7:0] e_ahead = e_seq - expected;
reg       v_restart;
reg [7:0] v_expected;
reg       v_lost;
always @(posedge clk) begin
    e_end      <= f_end && !rst;
    e_whole    <= f_whole;
    e_admitted <= f_admitted && up;
    e_fits     <= f_n == f_length + 8;
    e_seq      <= f_seq;
    v_end      <= e_end && !rst;
    v_good     <= e_whole;
    v_admitted <= e_admitted;
    v_fits     <= e_fits;
    v_mine     <= e_ahead == 0;
    v_old      <= e_ahead[7];
    v_restart  <= restart || rst;
    v_expected <= expected;
    v_lost     <= lost;
    f_excused  <= (f_excused && !sop) || ev_overrun;
    e_excused  <= f_excused || ev_overrun;
    v_excused  <= e_excused || ev_overrun;
end
wire v_packet    = v_end && v_admitted && v_good && v_mine && v_fits;
wire v_malformed = v_end && v_admitted && v_good && v_mine && !v_fits;
wire v_dup       = v_end && v_admitted && v_good && v_old;
wire v_gap       = v_end && v_admitted && v_good && !v_mine && !v_old;
wire v_crc       = v_end && v_admitted && !v_good;
always @* if (f_run) begin
    if (ev_packet)    assert (v_packet);
    if (ev_malformed) assert (v_malformed);
    if (ev_dup)       assert (v_dup);
    if (ev_gap)       assert (v_gap);
    if (ev_crc)       assert (v_crc);
    if (!v_excused && !ev_overrun) begin
        assert (ev_packet == v_packet);
        assert (ev_malformed == v_malformed);
        assert (ev_dup == v_dup);
        assert (ev_gap == v_gap);
        assert (ev_crc == v_crc);
    end
    assert (ev_packet + ev_malformed + ev_dup + ev_gap + ev_crc + ev_overrun <= 1);
    assert (expected == (v_restart ? 8'd0 : v_expected + (ev_packet || ev_malformed)));
    assert (lost == (!v_restart && ((v_lost && !ev_packet && !ev_malformed) || ev_gap || ev_crc || ev_overrun)));
end

// What comes out: with its event a packet begins, and all its bytes follow; nothing else. Of each packet one bit is compared, of the
// f_which-th byte.
(* anyconst *) wire [1:0] f_which;
(* anyconst *) wire [2:0] f_bit;
reg  [2:0] e_bytes, v_bytes, f_out, f_bytes;
reg        f_value, e_value, v_value, f_kept;
wire [2:0] f_at   = ev_packet ? 3'd0 : f_out;
wire [2:0] f_size = ev_packet ? v_bytes : f_bytes;
wire       f_want = ev_packet ? v_value : f_kept;
always @(posedge clk) begin
    if (data && f_n == f_which + 1) f_value <= byte_q[f_bit];
    e_bytes <= f_n - 4'd5;
    v_bytes <= e_bytes;
    e_value <= f_value;
    v_value <= e_value;
    f_bytes <= f_size;
    f_kept  <= f_want;
    f_out   <= f_at + {2'd0, m_valid};
    if (rst) {f_bytes, f_out} <= 6'd0;
end
always @* if (f_run) begin
    if (ev_packet) assert (f_out == f_bytes);
    assert (m_valid == (f_at != f_size));
    if (m_valid) assert (m_last == (f_at + 3'd1 == f_size));
    if (m_valid && f_at == f_which) assert (m_data[f_bit] == f_want);
end

// What ties the registers together; induction needs it. First the frame in progress and the one that has ended.
localparam HELD = 4;                // words that the FIFO here keeps, as many as MAX_PACKET
wire       f_hole;
wire [2:0] f_written, f_left;
wire [9*HELD-1:0] f_trial, f_there;
wire [LENW-1:0] f_beyond = f_n - 4'd6;
wire [7:0] f_ahead = f_seq - expected;
wire [3:0] f_payload = f_n == 0 ? 4'd0 : f_n - 4'd1;
always @* if (f_run) begin
    if (in_frame) begin
        assert (f_in && f_n <= MOST);
        assert (admitted == f_admitted);
        assert (have_seq == (f_n != 0));
        assert (fill == (f_payload > 5 ? 3'd5 : f_payload[2:0]));
        assert (written == (f_n < 6 ? NONE : NONE + f_beyond));
        assert (at_most == (f_n == MOST));
        if (f_n > 2) assert (length[7:0] == f_length[7:0]);
        if (f_n > 3) assert (length[15:8] == f_length[15:8]);
        assert ({f_crc[31], f_crc[0]} == {unused_crc[31], unused_crc[0]});
        if (f_n > 0 && admitted) assert (mine == (f_seq == expected) && old == f_ahead[7]);
    end
    if (end_frame && !f_hole && end_admitted) assert (e_end);
    if (end_frame && !f_hole && e_end) begin
        assert (e_admitted == end_admitted && e_whole == (end_whole && end_crc_ok));
        if (end_whole) assert (!in_frame && e_fits == end_length_ok);
        if (end_whole && end_admitted) assert (mine == (e_ahead == 0) && old == e_ahead[7]);
    end
    if (f_hole) assert (end_frame);
    if (f_in && !in_frame)   assert (f_hole || ev_overrun || f_excused || !f_admitted);
    if (e_end && !end_frame) assert (ev_overrun || e_excused || !e_admitted);
end

// Then the words of its packet: on trial in the FIFO, about to be written (a word with push), or not pushed yet. And those that come out.
wire [2:0] f_pushed = f_written + {2'd0, push && EARLY == 0};
wire       f_goes   = in_frame && admitted && f_n > 1 && f_seq == expected && !f_hole;
wire       f_commits = end_frame && e_admitted && e_whole && e_ahead == 0 && e_fits && !overflow;
wire [8:0] f_one    = EARLY == 0 && f_which == f_written ? push_word : f_trial[9*f_which +: 9];
integer f_i;
always @* if (f_run) begin
    if ((!in_frame || f_n < 2) && !end_frame && !undo) assert (f_pushed == 0);
    if (in_frame) assert (!undo && (f_left == 0 || f_left + f_n <= 4));
    if (end_frame && end_whole) assert (f_left == 0);
    assert (f_at <= f_size && f_size <= HELD);
    assert (f_left == f_size - f_at);
    for (f_i = 0; f_i < HELD; f_i = f_i + 1) begin
        if (f_i < f_left) assert (f_there[9*f_i + 8] == (f_i + 1 == f_left));
        if (f_i < f_left && f_at + f_i == f_which) assert (f_there[9*f_i + f_bit] == f_want);
        if (f_commits && f_i < f_written) assert (f_trial[9*f_i + 8] == (f_i + 1 == e_bytes));
        if (f_goes && f_i < f_written)  assert (!f_trial[9*f_i + 8]);
    end
    if (f_commits) begin
        assert (f_pushed == e_bytes);
        if (push && EARLY == 0) assert (push_word[8]);
        if (f_which < e_bytes) assert (f_one[f_bit] == e_value);
    end
end
generate
    if (EARLY == 2) begin : g_f_prompt
        // Whoever says a great length does not fit, wherever the count of its bytes thinks that it ends.
        wire [3:0] last_at = 4'd2 + f_length[2:0];          // the last byte's place
        always @* if (f_run && in_frame) begin
            if (f_n > 0 && admitted) assert (g_prompt.next_one == (f_seq == expected));
            if (f_payload > 2 && f_length < 4) begin
                assert (g_prompt.over == (f_payload > last_at));
                if (!g_prompt.over) assert (g_prompt.ending == (f_payload == last_at) && {1'b0, g_prompt.rest} + f_payload == last_at + 1);
            end
            if (f_goes && f_payload < 3) assert (f_written == f_payload[2:0]);
            if (f_goes && f_payload > 2 && f_length < 4) begin
                assert (f_written == (f_payload < last_at ? f_payload[2:0] : last_at[2:0]));
                if (f_which == (g_prompt.over ? last_at : f_payload - 4'd1)) assert (g_prompt.last_byte[f_bit] == f_value);
            end
            if (f_goes && (f_payload < 3 || f_length < 4) && f_which < f_written) assert (f_trial[9*f_which + f_bit] == f_value);
        end
    end else begin : g_f_delay
        wire [3:0] since = f_payload - 4'd1 - f_which;      // bytes that have come behind the followed one
        always @* if (f_run && in_frame) begin
            if (f_payload > f_which && since < 5) assert (g_delay.tail[8*since + f_bit] == f_value);
            if (f_goes) begin
                assert (f_pushed == (f_payload > 5 ? f_payload - 5 : 0));
                if (push) assert (!push_word[8]);
                if (f_which < f_pushed) assert (f_one[f_bit] == f_value);
            end
        end
    end
endgenerate
