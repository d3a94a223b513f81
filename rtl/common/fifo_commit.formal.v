// Properties of fifo_commit, included in it. One word, whichever the solver likes, is followed from
// its writing to its reading; the pointers are compared with counts of words.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// The specification: how many words are in memory, how many of them committed, how many behind it.
reg [AW:0] f_held, f_kept, f_held_was;
reg [1:0]  f_out;
reg        f_hole;                      // the packet being written has lost a word
reg [1:0]  f_left;                      // a word left the memory, or was taken back, in the last two clocks

wire f_refuse = wr_en && full;
wire f_take   = wr_en && !full;
wire f_commit = commit && !f_hole && !f_refuse;
wire f_undo   = rollback && !f_commit;
wire f_read   = m_valid && m_ready;

always @(posedge clk)
    if (rst) begin
        f_held     <= 0;
        f_held_was <= 0;
        f_kept     <= 0;
        f_out      <= 0;
        f_hole     <= 1'b0;
        f_left     <= 2'd0;
    end else begin
        f_held_was <= f_held;
        f_hole <= !rollback && (f_hole || f_refuse);
        f_out  <= f_out + fetch - f_read;
        f_left <= {f_left[0], fetch || f_undo};
        if (f_undo)   f_held <= f_kept - fetch;
        else          f_held <= f_held + f_take - fetch;
        if (f_commit) f_kept <= f_held + f_take - fetch;
        else          f_kept <= f_kept - fetch;
    end

// The followed word: f_ahead words are to be read before it.
(* anyseq *) wire f_pick;
reg             f_here, f_sure;
reg [AW+1:0]    f_ahead;
reg [WIDTH-1:0] f_data;
wire [AW+1:0]   f_deep = f_ahead - f_out;      // its place in memory, if it is not out already

always @(posedge clk)
    if (rst) begin
        f_here <= 1'b0;
        f_sure <= 1'b0;
    end else if (!f_here) begin
        if (f_pick && f_take && !f_undo) begin
            f_here  <= 1'b1;
            f_sure  <= f_commit;
            f_ahead <= f_held + f_out - f_read;
            f_data  <= wr_data;
        end
    end else begin
        if (f_read) f_ahead <= f_ahead - 1;
        if (f_commit) f_sure <= 1'b1;
        if (f_undo && !f_sure) f_here <= 1'b0;
        if (f_read && f_ahead == 0) f_here <= 1'b0;
    end

// A committed word that nothing stands before waits two clocks at most.
reg f_was, f_was2;
always @(posedge clk) begin
    f_was  <= !rst && f_kept != 0;
    f_was2 <= !rst && f_was;
end

wire [AW:0] f_rp = ~not_rp;
always @* if (f_run) begin
    assert (used == f_held_was);
    if (f_held == DEPTH) assert (full);
    if (full) assert (f_held == DEPTH || f_left != 0);
    assert (overflow == (f_hole || f_refuse));
    if (f_was2) assert (m_valid);
    if (f_here && f_ahead == 0 && m_valid) begin
        assert (f_sure);
        assert (m_data == f_data);
    end
end

// What ties the registers together; induction needs it.
assign f_at = f_rp[AW-1:0] + f_deep[AW-1:0];
wire [AW:0] f_wp = f_rp + f_held;
wire [AW:0] f_cp = f_rp + f_kept;
always @* if (f_run) begin
    assert (f_held <= DEPTH && f_kept <= f_held);
    assert (wp == f_wp);
    assert (cp == f_cp);
    assert (hole == f_hole);
    assert (f_held <= f_held_was + write_q);
    assert (f_out == fetched + m_valid + !room);
    if (!room) assert (m_valid);
    if (f_was) assert (fetched || m_valid);
    if (f_here) begin
        assert (f_ahead < f_held + f_out);
        assert (f_sure == (f_ahead < f_kept + f_out));
        if (f_ahead >= f_out)                             assert (f_word == f_data);
        if (fetched && f_ahead == f_out - 1)              assert (word == f_data);
        if (!room && f_ahead == 1)                        assert (f_second == f_data);
        if (m_valid && f_ahead == 0)                      assert (m_data == f_data);
    end
end
