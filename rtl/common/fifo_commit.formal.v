// Properties of fifo_commit, included in it. One word, whichever the solver likes, is followed from
// its writing to its reading; the counters are compared with their definitions.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// The specification: how many words are there, and how many of them are committed.
reg [AW:0] f_used, f_kept;
reg        f_hole;                      // the packet being written has lost a word
reg        f_fresh;                     // the last committed word was written in the last clock

wire f_take   = wr_en && f_used != DEPTH;
wire f_refuse = wr_en && f_used == DEPTH;
wire f_commit = commit && !rollback && !f_hole && !f_refuse;
wire f_read   = m_valid && m_ready;

always @(posedge clk)
    if (rst) begin
        f_used  <= 0;
        f_kept  <= 0;
        f_hole  <= 1'b0;
        f_fresh <= 1'b0;
    end else begin
        f_fresh <= f_commit && f_take;
        f_hole  <= !rollback && (f_hole || f_refuse);
        if (rollback)      f_used <= f_kept - f_read;
        else               f_used <= f_used + f_take - f_read;
        if (f_commit)      f_kept <= f_used + f_take - f_read;
        else               f_kept <= f_kept - f_read;
    end

// The followed word: f_ahead words are to be read before it.
(* anyseq *) wire f_pick;
reg             f_here, f_sure;
reg [AW:0]      f_ahead;
reg [WIDTH-1:0] f_data;

always @(posedge clk)
    if (rst) begin
        f_here <= 1'b0;
        f_sure <= 1'b0;
    end else if (!f_here) begin
        if (f_pick && f_take && !rollback) begin
            f_here  <= 1'b1;
            f_sure  <= f_commit;
            f_ahead <= f_used - f_read;
            f_data  <= wr_data;
        end
    end else begin
        if (f_read) f_ahead <= f_ahead - 1;
        if (f_commit) f_sure <= 1'b1;
        if (rollback && !f_sure) f_here <= 1'b0;
        if (f_read && f_ahead == 0) f_here <= 1'b0;
    end

always @* if (f_run) begin
    assert (used == f_used);
    assert (full == (f_used == DEPTH));
    assert (overflow == f_hole);
    assert (m_valid == (f_kept != f_fresh));
    if (f_here && f_ahead == 0 && m_valid) begin
        assert (f_sure);
        assert (m_data == f_data);
    end
end

// What ties the registers together; induction needs it.
assign f_at = rp + f_ahead[AW-1:0];
wire [AW-1:0] f_wp = rp + used[AW-1:0];
wire [AW-1:0] f_cp = rp + kept[AW-1:0];
always @* if (f_run) begin
    assert (used <= DEPTH && kept <= used);
    assert (kept == f_kept);
    assert (wp == f_wp);
    assert (cp == f_cp);
    if (f_fresh) assert (f_kept != 0 && kept == used);
    if (f_here) begin
        assert (f_ahead < used);
        assert (f_sure == (f_ahead < kept));
        assert (f_word == f_data);
    end
end
