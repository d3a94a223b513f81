// Properties of net_vl_context, included in it: of each link and each slot, whichever the solver likes, what was last said of it is told,
// whatever is said of others. A context that there is not is none. A slot is kept for a completion, or counted as freed, if it is a
// context's, and never both.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (!rd_en);

(* anyconst *) wire [VIRTUAL-1:0] f_vl;
(* anyconst *) wire [SW-1:0]      f_slot;

// What callers keep to: what is written is what was read, of the link that was, and neither while it is read.
reg                f_known, f_read, f_shown;    // its entry was written; it is read; it is what ctx and life are of
reg                f_reads;
reg [CONTEXTS-1:0] f_ctx, f_now_ctx;            // in the table, and now
reg [3:0]          f_life, f_now_life;
always @* begin
    if (wr_en) assume (!(rd_en && rd_vl == wr_vl) && !f_reads);
    if (wr_en && !clear && wr_vl == f_vl) assume (f_shown);
    if (wr_en && !clear && f_shown) assume (wr_vl == f_vl);
    if (sets || opens) assume (!wr_en && !rd_en && !f_reads);
    if (look) assume (!(keep && slot == at));
end
always @(posedge clk) begin
    f_read <= rd_en && rd_vl == f_vl && f_known;
    f_reads <= rd_en;
    if (f_reads) {f_shown, f_now_ctx, f_now_life} <= {f_read, f_ctx, f_life};
    if (sets)  f_now_ctx  <= {24'd0, set_to} < 32'd1 << CONTEXTS ? set_to[CONTEXTS-1:0] : {CONTEXTS{1'b0}};
    if (opens) f_now_life <= f_now_life + 4'd1;
    if (wr_en && wr_vl == f_vl) begin
        f_known <= 1'b1;
        {f_ctx, f_life} <= clear ? {CONTEXTS + 4{1'b0}} : {f_now_ctx, f_now_life};
    end
    if (!f_run) {f_known, f_read, f_reads, f_shown} <= 4'b0000;
end

reg       f_kept, f_looked;                     // something has been put into its slot; it was looked at last
reg [1:0] f_mark, f_told;
always @(posedge clk) begin
    if (keep && slot == f_slot) {f_kept, f_mark} <= {1'b1, k_mine, k_final};
    if (look) {f_looked, f_told} <= {f_kept && at == f_slot, f_mark};
    if (!f_run) {f_kept, f_looked} <= 2'b00;
end
always @* if (f_run) begin
    if (f_shown) assert (ctx == f_now_ctx && life == f_now_life);
    if (f_looked) begin
        assert (holds == (f_told == 2'b11));
        assert (freed == (walk && f_told == 2'b10));
    end
    assert (!(holds && freed));
end

// What ties them to the memories; induction needs it.
always @* if (f_run) begin
    assert (fresh == f_reads);
    if (f_known) assert (f_entry == {f_ctx, f_life});
    if (f_read) assert (f_known && f_reads && entry == {f_ctx, f_life});
    if (f_kept) assert (f_marks == f_mark);
    if (f_looked) assert ({mine, is_last} == f_told);
end
