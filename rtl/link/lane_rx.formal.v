// Properties of lane_rx, included in it: of good frames, and of no others, the packet waits, and comes out whole, once, in the order in
// which the frames came, with its number and whether its length fits; it is doomed from the next frame on whose number is before that
// of the one that came before it, or which finds no room. A reader may wait as long as it likes.
//
// The FIFO is its contract, as a queue whose words are seen (fifo_commit_queue.formal.v); that fifo_commit keeps it is proven by itself.
`include "link_frame.formal.v"
wire [LENW-1:0] f_beyond = f_n - 4'd6;
always @* if (f_run && in_frame) begin
    assert (fill == (f_payload > 5 ? 3'd5 : f_payload[2:0]));
    assert (written == (f_n < 6 ? NONE : NONE + f_beyond));
end
always @* if (f_run) begin
    if (ev_good) assert (v_end && v_admitted && v_good);
    if (!v_excused && !ev_overrun) begin
        assert (ev_good == (v_end && v_admitted && v_good));
        assert (ev_crc == v_crc);
    end
    assert (ev_good + ev_crc + ev_overrun <= 1);
end

// Of the packets that come out one is followed, whichever the solver likes, and behind it another.
localparam FW = 19, FN = 8;             // a word: number, does not fit, last, keep, byte; words that the FIFO holds
(* anyseq *) wire f_pick;
reg        f_mine, f_mine_fits, f_mine_value, f_mine_doomed;
reg  [7:0] f_mine_seq, f_before;        // f_before: number of the good frame that came last
reg  [2:0] f_size, f_out;               // words of the followed one, and how many of them are out
reg  [7:0] f_first;                     // words that come out before its next one
reg  [7:0] f_count;                     // packets that wait
wire [7:0] f_held, f_firm;
wire       f_loose;
wire [15:0] f_past;
wire [FW*FN-1:0] f_words;
wire       f_take   = h_valid && h_ready;
wire       f_comes  = end_frame && e_end && e_admitted && e_whole && !overflow;
wire       f_drops  = end_frame && end_admitted && overflow;    // with ev_overrun
wire [7:0] f_step   = e_seq - f_before;
wire       f_leaves = f_take && h_last;
reg        f_dropped;
always @(posedge clk) begin
    f_dropped <= f_drops && !rst;
    f_count   <= f_count + f_comes - f_leaves;
    if (f_take && f_mine) begin
        if (f_first != 0) f_first <= f_first - 8'd1;
        else begin
            f_out  <= f_out + 3'd1;
            f_mine <= f_out + 3'd1 != f_size;
        end
    end
    if ((f_comes && f_step[7]) || f_drops) f_mine_doomed <= 1'b1;
    if (f_comes) begin
        f_before <= e_seq;
        if (f_pick && !f_mine) begin
            {f_mine, f_mine_fits, f_mine_value, f_mine_doomed} <= {1'b1, e_fits, e_value, 1'b0};
            {f_mine_seq, f_size, f_out} <= {e_seq, e_bytes, 3'd0};
            f_first <= f_firm - f_take;
        end
    end
    if (rst || restart) {f_mine, f_count} <= 0;
end
always @* if (f_run) begin
    assert (ev_overrun == f_dropped);
    assert (waits == (f_count != 0));
    if (h_valid && f_mine && f_first == 0) begin
        assert (h_seq == f_mine_seq && h_doomed == f_mine_doomed && h_keep);
        assert (h_last == (f_out + 3'd1 == f_size));
        if (h_last) assert (h_malformed == !f_mine_fits);
        if (f_out == f_which) assert (h_data[f_bit] == f_mine_value);
    end
end

// What ties the registers together; induction needs it: the words of the followed packet, and those of the frame in progress.
wire [7:0] f_written = f_held - f_firm, f_pushed = f_written + push;
wire       f_goes    = in_frame && admitted && f_n > 1 && !f_hole;
reg  [7:0] f_lasts, f_ahead, f_at, f_trial, f_since;
integer    f_i;
always @* begin
    f_lasts = 0;
    f_ahead = 0;                        // packets before the followed one
    for (f_i = 0; f_i < FN; f_i = f_i + 1) begin
        f_lasts = f_lasts + (f_i < f_firm && f_words[FW*f_i + 9]);
        f_ahead = f_ahead + (f_i < f_first && f_words[FW*f_i + 9]);
        f_at    = f_i - f_first + f_out;            // which of its words
        f_trial = f_i - f_firm;
        if (f_run && f_mine && f_i >= f_first && f_at < f_size) begin
            assert (f_words[FW*f_i + 11 +: 8] == f_mine_seq && f_words[FW*f_i + 8]);
            assert (f_words[FW*f_i + 9] == (f_at + 1 == f_size));
            if (f_words[FW*f_i + 9]) assert (f_words[FW*f_i + 10] == !f_mine_fits);
            if (f_at == f_which) assert (f_words[FW*f_i + f_bit] == f_mine_value);
        end
        if (f_run && f_mine && f_i + 1 == f_first) assert (f_words[FW*f_i + 9] && f_out == 0);
        if (f_run && f_i + 1 == f_firm) assert (f_words[FW*f_i + 9]);
        if (f_run && f_i >= f_firm && f_i < f_held) begin
            assert (!f_words[FW*f_i + 9] && f_words[FW*f_i + 8]);
            if (f_goes || f_comes) assert (f_words[FW*f_i + 11 +: 8] == seq);
            if (f_goes && f_trial == f_which)  assert (f_words[FW*f_i + f_bit] == f_value);
            if (f_comes && f_trial == f_which) assert (f_words[FW*f_i + f_bit] == e_value);
        end
    end
    f_since = f_payload - 4'd1 - f_which;           // bytes that have come behind the followed one
end
always @* if (f_run) begin
    assert (f_held <= FN && f_firm <= f_held && !f_loose);
    assert (held == f_lasts && held == f_count && doomed <= held);
    if (held != 0) assert (newest == f_before);
    if (f_mine) begin
        assert (f_out < f_size && f_size <= 4 && f_first + f_size - f_out <= f_firm);
        assert (f_mine_doomed == (doomed > f_ahead) && f_ahead < held);
    end
    if ((!in_frame || f_n < 2) && !end_frame && !undo) assert (f_pushed == 0);
    if (f_goes) begin
        assert (f_pushed == (f_payload > 5 ? f_payload - 5 : 0));
        if (push) assert (!push_word[8]);
        if (push && f_which == f_written) assert (push_word[f_bit] == f_value);
    end
    if (in_frame && f_n > 0) assert (seq == f_seq);
    if (in_frame && f_payload > f_which && f_since < 5) assert (tail[8*f_since + f_bit] == f_value);
    if (end_frame && e_end && e_whole) assert (seq == e_seq);
    if (f_comes) begin
        assert (f_pushed == e_bytes && push && push_word[8]);
        if (f_which == f_written) assert (push_word[f_bit] == e_value);
    end
end
