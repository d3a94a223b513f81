// Properties of ni_msg_complete, included in it: what a unit has completed is written to the ring of its context, whole, in order and once,
// and then counted, if the context is enabled, and is neither otherwise. A send that has been noted is completed when its last packet is
// freed, as it was noted, unless its context has ended since; of a context that has been forgotten none is kept. Each slot that is freed
// is given once; which ones wait is a queue, proven as fifo_sync.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);
wire f_lives = f_run && !rst;

// What is completed.
reg            f_due;
reg [WHAT-1:0] f_what;
reg [3:0]      f_written;
reg [35:0]     f_entry;
wire           f_accepts = (s_valid & s_ready) != 3'd0;
always @(posedge clk) begin
    if (f_accepts) begin
        {f_due, f_written} <= 5'b10000;
        f_what <= s_what[WHAT*(s_ready[0] ? 0 : s_ready[1] ? 1 : 2) +: WHAT];
    end
    if (given && give_ready && word[0]) {f_due, f_written, f_what} <= {5'b10000, what};
    if (state == PEEK && u_done) {f_due, f_entry} <= {e_enabled, e_first, e_last, e_size, e_completions};
    if (w_valid && w_take) f_written <= f_written | 4'd1 << w_addr[1:0];
    if (u_valid && u_op && u_done) f_due <= 1'b0;
    if (rst) f_due <= 1'b0;
end
always @* if (f_lives) begin
    assert ((s_ready & (s_ready - 3'd1)) == 3'd0 && (s_ready & ~s_valid) == 3'd0);
    assert (f_due == (state == PEEK || state == WRITE || state == ADD));
    assert (state <= CLEAR && state != 4'd5);
    if (f_due) assert (what == f_what);
    if (u_valid) assert (f_due && ctx == f_what[WHAT-1 -: CONTEXTS] && (!u_op || f_written == 4'b1111));
    if (state == PEEK) assert (word == 2'd0 && f_written == 4'd0);
    if (state == WRITE) assert (f_written == (4'd1 << word) - 4'd1);
    if (state == WRITE || state == ADD) assert ({first, last, size, count} == f_entry);
    if (w_valid) assert (f_due && !f_written[w_addr[1:0]] && w_addr[ADDR_WIDTH-3:2] == entry[ADDR_WIDTH-1:4] &&
        w_data == (w_addr[1] ? (w_addr[0] ? {24'd0, f_what[103:96]} : f_what[95:64]) : w_addr[0] ? f_what[63:32] : f_what[31:0]));
end

// A send of a slot, whichever the solver likes: it is noted, and then freed, and noted anew only when it has been given.
reg            f_alive, f_freed;
reg [WHAT-1:0] f_record;
wire           f_notes = note && n_slot == f_slot, f_gives = given && give_ready && given_slot == f_slot;
wire           f_ends  = forget && f_record[WHAT-1 -: CONTEXTS] == forget_context;
always @(posedge clk) begin
    if (done && done_slot == f_slot) f_freed <= 1'b1;
    if (f_gives) f_freed <= 1'b0;
    if (f_ends || f_gives) f_alive <= 1'b0;
    if (f_notes) {f_alive, f_record} <= {1'b1, n_what};
    if (rst) {f_alive, f_freed} <= 2'b00;
end
wire f_in_hand = (state == SLOT || state == RECORD || state == GIVE) && given_slot == f_slot;
always @* if (f_run) begin
    assume (!(f_notes && (f_freed || f_alive || f_in_hand)));
    assume (!(done && state == CLEAR));
    assume (!(note && (state == CLEAR || (forget && n_what[WHAT-1 -: CONTEXTS] == forget_context))));
end
// forget stands until forgotten.
reg            f_forget;
reg [CONTEXTS-1:0] f_context;
always @(posedge clk) {f_forget, f_context} <= {forget && !forgotten && !rst, forget_context};
always @* if (f_run && f_forget) assume (forget && forget_context == f_context);
wire f_sweeps = state == SWEEP || state == STRIKE || state == END;
reg  f_had, f_closed;
reg [WHAT-1:0] f_was;                   // what the slot had when it was looked at
always @(posedge clk) begin
    if (state == SLOT)   {f_had, f_was} <= f_word;
    if (state == IDLE)   f_closed <= freed_closed;
end
always @* if (f_lives) begin
    if (state == CLEAR) assert (!f_alive && !f_freed);
    if (f_sweeps) assert (f_forget);
    if (f_alive && !f_ends) assert (f_word == {1'b1, f_record});
    if (state == CLEAR && sweep > f_slot) assert (!f_word[WHAT]);
    if (state == STRIKE && sweep == f_slot) assert ({kept, record} == f_word);
    if (forget && (state == END || ((state == SWEEP || state == STRIKE) && sweep > f_slot)))
        assert (!f_word[WHAT] || f_word[WHAT-1 -: CONTEXTS] != forget_context);
    if (state != CLEAR && state != SWEEP && state != STRIKE) assert (sweep == {SW{1'b0}});
    if (state == RECORD && given_slot == f_slot) assert ({kept, record} == {f_had, f_was});
    if (state == GIVE && given_slot == f_slot)
        assert (word[0] == f_had && what == {f_was[WHAT-1:103], closed ? `LP_COMPLETION_CLOSED : f_was[102:96], f_was[95:0]});
    if (f_in_hand && state != SLOT && f_alive) assert ({f_had, f_was} == {1'b1, f_record});
    if (state == SLOT || state == RECORD || state == GIVE) assert (closed == f_closed);
end

// As many slots are given as are freed.
reg  [SW:0] f_waits;
always @(posedge clk) f_waits <= rst ? {SW + 1{1'b0}} : f_waits + {{SW{1'b0}}, done} - {{SW{1'b0}}, given && give_ready};
always @* if (f_run) assume (!(done && f_waits >= SLOTS));
always @* if (f_lives) assert (f_waits == unused_used + {{SW{1'b0}}, state == SLOT || state == RECORD || state == GIVE});
