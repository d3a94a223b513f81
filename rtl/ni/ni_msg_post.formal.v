// Properties of ni_msg_post, included in it. One context, whichever the solver likes, is followed.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* assume (rst == !f_run);

(* anyconst *) wire [CONTEXTS-1:0] f_context;

// The specification: a receive of the context has been taken off the ring, and not been counted as used up (f_taken); it is there for
// messages, as f_is says (f_has).
reg         f_taken, f_has;
reg [127:0] f_words, f_is;              // the words that have been read
wire        f_mine = ctx == f_context;
wire        f_takes = u_valid && !u_op && u_done && e_enabled && e_posted && f_mine;
wire        f_counts = u_valid && u_op && u_done && f_mine;
wire        f_eats = consume && consume_context == f_context;
wire        f_forgets = forgotten && forget_context == f_context;
wire        f_sets = set && f_mine;
always @(posedge clk) begin
    if (rd_valid && rd_done) f_words <= {rd_data, f_words[127:32]};
    if (f_takes)  f_taken <= 1'b1;
    if (f_counts) f_taken <= 1'b0;
    if (f_sets)   {f_has, f_is} <= {1'b1, f_words};
    if (f_eats || f_forgets) f_has <= 1'b0;
    if (rst) {f_taken, f_has} <= 2'b00;
end

// The callers' side.
reg                f_forget;
reg [CONTEXTS-1:0] f_forget_context;
always @(posedge clk) begin
    f_forget <= forget && !forgotten && !rst;
    f_forget_context <= forget_context;
end
always @* begin
    if (u_done)  assume (u_valid);
    if (rd_done) assume (rd_valid);
    if (woken)   assume (wake);
    if (d_ready) assume (d_valid);
    if (consume) assume (idle && state != CLEAR);
    if (f_eats)  assume (f_has);
    if (q_valid && q_context == f_context) assume (!f_taken);           // it is fetched, or there is none
    if (f_forget) assume (forget && forget_context == f_forget_context);
    if (f_forget && f_eats) assume (forget_context != f_context);       // in the first clock at the latest
end

// A context that is taken off the queue is served.
reg                f_popped;
reg [CONTEXTS-1:0] f_queued;
always @(posedge clk) {f_popped, f_queued} <= {q_take && !rst, q_context};
always @* if (f_run && f_popped) assert (state == TAKE && ctx == f_queued);

// What is looked at is what is there.
reg         f_looked, f_had;
reg [127:0] f_was;
always @(posedge clk) begin
    f_looked <= look && look_context == f_context && !blind && state != CLEAR && !rst;
    {f_had, f_was} <= {f_has, f_is};
end
always @* if (f_run) begin
    // In the clock of a write it is not known.
    if (state != CLEAR && (f_eats || f_sets || f_forgets)) assert (blind);
    if (f_looked) begin
        assert (p_ready == f_had);
        if (f_had) assert (p_address == f_was[ADDR_WIDTH-1:0] && p_length == f_was[32 +: ADDR_WIDTH + 1] && p_cookie == f_was[127:112]);
    end
    // One receive at a time, of which the bytes are the context's. It is counted once, when it has been taken by a message or found wrong.
    if (f_takes)  assert (!f_taken && !f_has);
    if (f_sets)   assert (f_taken && !f_has && owns && descriptor == f_words);
    if (f_counts) assert (f_taken && (!f_has || (forget && forget_context == f_context)));
    if (d_valid)  assert (!owns && descriptor == f_words);
    if ((state == WAIT || wake) && f_mine) assert (f_taken);
    if (f_forgets) assert (!f_taken || (used && spent == f_context));
end

// What ties the registers together; induction needs it.
wire f_reads = state == READ || state == JUDGE || state == BAD || state == SET;
assign f_at = f_context;
always @* if (f_run && state == CLEAR) begin
    assert (!f_taken && !f_has && !used);
    if (f_context < ctx) assert (!f_word[WIDTH-1]);
end
always @* if (f_run && state != CLEAR) begin
    assert (state <= DROP);
    assert (f_word[WIDTH-1] == f_has);
    if (f_has) assert (f_word[WIDTH-2:0] == {f_is[127:112], f_is[32 +: ADDR_WIDTH + 1], f_is[ADDR_WIDTH-1:0]});
    if (f_reads && f_mine) assert (f_taken && !f_has);
    if (state == READ) assert (count < 3'd4);
    if (state == TAKE) assert (count == 3'd0);
    if (f_reads && (state != READ || count > 3'd0)) assert (descriptor[127:96] == f_words[127:96]);
    if (f_reads && (state != READ || count > 3'd1)) assert (descriptor[95:64] == f_words[95:64]);
    if (f_reads && (state != READ || count > 3'd2)) assert (descriptor[63:32] == f_words[63:32]);
    if (f_reads && state != READ)                   assert (descriptor[31:0] == f_words[31:0]);
    if (state == SET) assert (owns);
    if (state == BAD) assert (!owns);
    if (state == TAKE && f_mine) assert (!f_taken && !f_has);
    if (used && spent == f_context) assert (f_taken && !f_has && !(f_mine && (f_reads || state == TAKE || (state == NEXT && !serves))));
    if (f_has && !(state == DROP && f_mine)) assert (f_taken);
    if (serves) assert (state == IDLE || (state == NEXT && used && ctx == spent));
    if (forgets) assert (state == IDLE || ((state == NEXT || state == DROP) && !serves));
    if (state == FIND || state == FOUND || state == DROP || (state == NEXT && forgets)) assert (forget && ctx == forget_context);
    if (state == FIND || state == FOUND || state == DROP || (state == NEXT && forgets)) assert (f_forget);
    if (state == FOUND && f_mine) assert (p_ready == f_has);
    if (state == NEXT && f_mine) assert (f_has == forgets);
    if (f_taken && !f_has) assert ((f_reads && f_mine) || (used && spent == f_context) || (state == NEXT && f_mine));
    if (state == NEXT && f_mine) assert (f_taken);
end
