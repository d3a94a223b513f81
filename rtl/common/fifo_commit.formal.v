// Properties of fifo_commit, included in it. One word, whichever the solver likes, is followed from
// its writing to its reading; the pointers are compared with counts of words.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);
always @* if (APART != 0) assume (!(wr_en && commit));

// The specification: how many words are in memory, how many of them committed; how many behind it, firm, and then on trial; and whether one
// on trial has left the memory, has been shown, and has been taken.
reg [AW:0] f_held, f_kept, f_held_was;
reg [1:0]  f_firm, f_loose;
reg        f_beyond, f_shown, f_taken;
reg        f_hole;                      // the packet being written has lost a word
reg        f_undone;
reg [AW:0] f_peak;                      // what it held two clocks ago, and has taken since

wire f_refuse = wr_en && full;
wire f_take   = wr_en && !full;
wire f_commit = commit && !f_hole && !f_refuse;
wire f_undo   = rollback && !f_commit;
wire f_read   = m_valid && m_ready;
wire f_loosen = fetch && f_kept == 0;   // it is on trial
wire f_show   = m_valid && f_firm == 0;
wire [1:0] f_out     = f_firm + f_loose;
wire [1:0] f_firm_n  = f_firm + (fetch && !f_loosen) - (f_read && f_firm != 0);
wire [1:0] f_loose_n = f_loose + f_loosen - (f_read && f_firm == 0);

always @(posedge clk)
    if (rst) begin
        f_held     <= 0;
        f_held_was <= 0;
        f_kept     <= 0;
        {f_firm, f_loose} <= 4'd0;
        f_peak     <= 0;
        {f_beyond, f_shown, f_taken, f_hole, f_undone} <= 5'd0;
    end else begin
        f_held_was <= f_held;
        f_hole   <= !rollback && (f_hole || f_refuse);
        f_undone <= f_undo;
        f_peak   <= f_held_was + write_q + f_take;
        if (f_undo)   f_held <= f_kept == 0 ? 0 : f_kept - fetch;
        else          f_held <= f_held + f_take - fetch;
        if (f_commit)       f_kept <= f_held + f_take - fetch;
        else if (!f_loosen) f_kept <= f_kept - fetch;
        f_firm   <= f_commit ? f_firm_n + f_loose_n : f_firm_n;
        f_loose  <= f_commit || f_undo ? 2'd0 : f_loose_n;
        f_beyond <= !f_commit && !f_undo && (f_beyond || f_loosen);
        f_shown  <= !f_commit && !f_undo && (f_shown || f_show);
        f_taken  <= !f_commit && !f_undo && (f_taken || (f_show && m_ready));
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

// A word that nothing stands before waits two clocks at most, once it is committed or, if EARLY, written.
reg f_was, f_was2, f_early, f_early2, f_took;   // f_took: one has been read in the clock before
always @(posedge clk) begin
    f_took   <= f_read;
    f_was    <= !rst && f_kept != 0;
    f_was2   <= !rst && f_was;
    f_early  <= !rst && EARLY != 0 && !f_undo && f_held != 0;
    f_early2 <= !rst && !f_undo && f_early;
end

wire [AW:0] f_rp = ~not_rp;
always @* if (f_run) begin
    assert (used == f_held_was);
    if (f_held == DEPTH) assert (full);
    if (full) assert (f_peak == DEPTH);
    assert (overflow == (f_hole || f_refuse));
    if ((f_was2 || f_early2) && !(SPACED != 0 && f_took)) assert (m_valid);
    assert (m_sure == (m_valid ? f_firm != 0 : !f_taken));
    if (f_here && f_ahead == 0 && m_valid) begin
        assert (m_sure == f_sure);
        assert (m_data == f_data);
    end
    // What is taken back is told, when nothing else is left.
    if (m_void) assert (f_undone && f_out == 0 && f_held == 0);
    if (EARLY == 0) assert (!m_void && m_sure);
end
reg f_owed;
always @(posedge clk) f_owed <= !rst && f_undo && (f_shown || f_show);
always @* if (f_run && f_owed) assert (m_void);

// What ties the registers together; induction needs it.
assign f_at = f_rp[AW-1:0] + f_deep[AW-1:0];
wire [AW:0] f_wp = f_rp + f_held;
wire [AW:0] f_cp = f_rp + f_kept;
always @* if (f_run) begin
    assert (f_held <= DEPTH && f_kept <= f_held);
    assert (wp == f_wp);
    if (!f_beyond) assert (cp == f_cp);
    assert (ahead == f_beyond);
    assert (hole == f_hole);
    assert (f_held <= f_held_was + write_q);
    assert ({1'b0, f_firm} + f_loose == fetched + m_valid + !room);
    assert (f_loose == (fetched && word_trial) + (!room && aside_trial) + (m_valid && m_trial));
    if (m_trial) assert (room || aside_trial);
    if (m_trial || (!room && aside_trial)) assert (!fetched || word_trial);
    if (f_loose != 0 || f_shown) assert (f_beyond);
    if (f_taken) assert (f_shown && f_firm == 0);
    if (f_shown) assert (m_trial && f_firm == 0);
    if (m_trial && !m_valid) assert (f_taken);
    if (f_beyond) assert (f_kept == 0 && EARLY != 0);
    if (!room) assert (m_valid && SPACED == 0);
    if (f_was || f_early) assert (fetched || m_valid);
    if (f_here) begin
        assert (f_ahead < f_held + f_out);
        assert (f_sure == (f_ahead < f_kept + f_firm));
        if (f_ahead >= f_out)                             assert (f_word == f_data);
        if (fetched && f_ahead == f_out - 1)              assert (word == f_data);
        if (!room && f_ahead == 1)                        assert (aside == f_data);
        if (m_valid && f_ahead == 0)                      assert (m_data == f_data);
    end
end
