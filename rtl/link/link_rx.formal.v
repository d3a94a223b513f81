// Properties of link_rx, included in it: what comes out are the packets of good frames, whole, once and in order, and nothing else; a good
// frame is refused only when the FIFO refused a byte of it; `expected`, `lost` and the events say what has become of each frame.
//
// The FIFO is its contract with a reader that is always ready (link_rx_fifo.formal.v); that fifo_commit keeps it is proven by itself.
`include "link_frame.formal.v"
always @* assume (m_ready);

// Nothing is written in the clock of a commit, as APART promises.
always @* if (f_run) begin
    assert (hole == f_hole);
    if (EARLY != 1 && end_frame) assert (!push);
    assert (end_fits == (end_frame && end_whole && end_length_ok && end_admitted));
end

// What its number makes of a frame that has ended.
wire [7:0] e_ahead = e_seq - expected;
reg       v_mine, v_old, v_restart, v_lost;
reg [7:0] v_expected;
always @(posedge clk) begin
    v_mine     <= e_ahead == 0;
    v_old      <= e_ahead[7];
    v_restart  <= restart || rst;
    v_expected <= expected;
    v_lost     <= lost;
end
wire v_packet    = v_end && v_admitted && v_good && v_mine && v_fits;
wire v_malformed = v_end && v_admitted && v_good && v_mine && !v_fits;
wire v_dup       = v_end && v_admitted && v_good && v_old;
wire v_gap       = v_end && v_admitted && v_good && !v_mine && !v_old;
always @* if (f_run) begin
    if (ev_packet)    assert (v_packet);
    if (ev_malformed) assert (v_malformed);
    if (ev_dup)       assert (v_dup);
    if (ev_gap)       assert (v_gap);
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

// What comes out: with its event a packet begins, and all its bytes follow; nothing else. Of each packet the followed bit is
// compared.
reg  [2:0] v_bytes, f_out, f_bytes;
reg        v_value, f_kept;
wire [2:0] f_at   = ev_packet ? 3'd0 : f_out;
wire [2:0] f_size = ev_packet ? v_bytes : f_bytes;
wire       f_want = ev_packet ? v_value : f_kept;
always @(posedge clk) begin
    v_bytes <= e_bytes;
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

// What ties the registers together; induction needs it. First the numbers of the frame in progress and of the one that has ended.
localparam HELD = 4;                // words that the FIFO here keeps, as many as MAX_PACKET
wire [2:0] f_written, f_left;
wire [9*HELD-1:0] f_trial, f_there;
wire [7:0] f_ahead = f_seq - expected;
always @* if (f_run) begin
    if (in_frame && f_n > 0 && admitted) assert (mine == (f_seq == expected) && old == f_ahead[7]);
    if (end_frame && !f_hole && e_end && end_whole && end_admitted) assert (mine == (e_ahead == 0) && old == e_ahead[7]);
end

// Then the words of its packet: on trial in the FIFO, about to be written (a word with push), or not pushed yet. And those that come out.
wire [2:0] f_pushed = f_written + {2'd0, push && EARLY == 1};
wire       f_goes   = in_frame && admitted && f_n > 1 && f_seq == expected && !f_hole;
wire       f_commits = end_frame && e_admitted && e_whole && e_ahead == 0 && e_fits && !overflow;
wire [8:0] f_one    = EARLY == 1 && f_which == f_written ? push_word : f_trial[9*f_which +: 9];
integer f_i;
always @* if (f_run) begin
    if ((!in_frame || f_n < 2) && !end_frame && !undo) assert (f_pushed == 0);
    if (in_frame) assert (f_left == 0 || f_left + f_n <= 4);
    if (end_frame && end_whole) assert (f_left == 0);
    assert (f_at <= f_size && f_size <= HELD);
    assert (f_left == f_size - f_at);
    for (f_i = 0; f_i < HELD; f_i = f_i + 1) begin
        if (f_i < f_left) assert (f_there[9*f_i + 8] == (f_i + 1 == f_left));
        if (f_i < f_left && f_at + f_i == f_which) assert (f_there[9*f_i + f_bit] == f_want);
        if (f_commits && f_i < f_written) assert (f_trial[9*f_i + 8] == (f_i + 1 == e_bytes));
        if (f_goes && f_i < f_written)  assert (f_trial[9*f_i + 8] == (EARLY == 0 && f_payload > 3 && f_i == f_length + 2));
    end
    if (f_commits) begin
        assert (f_pushed == e_bytes);
        if (push && EARLY == 1) assert (push_word[8]);
        if (f_which < e_bytes) assert (f_one[f_bit] == e_value);
    end
end
generate
    if (EARLY == 0) begin : g_f_plain
        wire [3:0] behind = f_payload - 4'd3;               // bytes that have come behind the header
        wire       headed = f_payload > 2;
        wire       over   = headed && behind > f_length;    // the packet's last byte, and one more
        wire       most   = headed && behind > MAX_PACKET - 3;
        wire [3:0] packet = 4'd3 + (f_length > MAX_PACKET - 3 ? MAX_PACKET[3:0] - 4'd3 : f_length[3:0]);
        always @* if (f_run && in_frame) begin
            assert (fill == (!headed ? f_payload[2:0] : over && behind <= f_length + 4 ? 3'd3 + behind - f_length : 3'd3));
            assert (g_plain.count == (headed ? behind + 4'd1 : 4'd1));
            assert (g_plain.last == (headed && behind == f_length));
            assert (g_plain.most == (headed && behind == MAX_PACKET - 3));
            assert (g_plain.enough == (f_payload > 6));
            if (f_payload == 2) assert (g_plain.beyond == (f_length[7:0] >> LENW != 0));
            if (headed) assert (g_plain.beyond == (f_length >> LENW != 0));
            if (f_payload != 0 && f_which == f_payload - 4'd1) assert (g_plain.held[f_bit] == f_value);
            if (g_plain.goes) assert (admitted && f_payload != 0);
            if (f_goes) begin
                assert (g_plain.goes == (f_payload != 0 && !over && !most));
                assert (f_written == (f_payload == 0 ? 4'd0 : over || most ? packet : f_payload - 4'd1));
                if (f_which < f_written) assert (f_trial[9*f_which + f_bit] == f_value);
            end
        end
    end else begin : g_f_early
        wire [LENW-1:0] beyond = f_n - 4'd6;
        always @* if (f_run && in_frame) begin
            assert (fill == (f_payload > 5 ? 3'd5 : f_payload[2:0]));
            assert (g_early.written == (f_n < 6 ? g_early.NONE : g_early.NONE + beyond));
        end
    end
    if (EARLY == 2) begin : g_f_prompt
        // Whoever says a great length does not fit, wherever the count of its bytes thinks that it ends.
        wire [3:0] last_at = 4'd2 + f_length[2:0];          // the last byte's place
        always @* if (f_run && in_frame) begin
            if (f_n > 0 && admitted) assert (g_early.g_prompt.next_one == (f_seq == expected));
            if (f_payload > 2 && f_length < 4) begin
                assert (g_early.g_prompt.over == (f_payload > last_at));
                if (!g_early.g_prompt.over) begin
                    assert (g_early.g_prompt.ending == (f_payload == last_at));
                    assert ({1'b0, g_early.g_prompt.rest} + f_payload == last_at + 1);
                end
            end
            if (f_goes && f_payload < 3) assert (f_written == f_payload[2:0]);
            if (f_goes && f_payload > 2 && f_length < 4) begin
                assert (f_written == (f_payload < last_at ? f_payload[2:0] : last_at[2:0]));
                if (f_which == (g_early.g_prompt.over ? last_at : f_payload - 4'd1)) assert (g_early.g_prompt.last_byte[f_bit] == f_value);
            end
            if (f_goes && (f_payload < 3 || f_length < 4) && f_which < f_written) assert (f_trial[9*f_which + f_bit] == f_value);
        end
    end
    if (EARLY == 1) begin : g_f_delay
        wire [3:0] since = f_payload - 4'd1 - f_which;      // bytes that have come behind the followed one
        always @* if (f_run && in_frame) begin
            if (f_payload > f_which && since < 5) assert (g_early.g_delay.tail[8*since + f_bit] == f_value);
            if (f_goes) begin
                assert (f_pushed == (f_payload > 5 ? f_payload - 5 : 0));
                if (push) assert (!push_word[8]);
                if (f_which < f_pushed) assert (f_one[f_bit] == f_value);
            end
        end
    end
endgenerate
