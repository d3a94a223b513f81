// Properties of enc_8b10b, included in it, with a decoder behind it.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// Pauses of more than a clock only hold what is there: left out, for induction to reach back to the last en.
reg f_was_en = 1'b0;
always @(posedge clk) f_was_en <= en || rst;
always @* assume (en || f_was_en);

// What was taken, and what it has become two clocks later.
reg [8:0] f_taken, f_sym;
reg       f_new;                        // code is new in this clock
reg       f_any, f_pair;                // code is a code group of this run; f_last is, too
reg [9:0] f_last;                       // the code group before code
reg       f_rd0;                        // disparity before code
always @(posedge clk) begin
    f_new <= en_q && !rst;
    if (en) f_taken <= error ? ERR : sym;
    if (en_q) begin
        f_sym  <= f_taken;
        f_last <= code;
        f_rd0  <= rd;
    end
    if (rst)       {f_any, f_pair} <= 2'b00;
    else if (en_q) {f_any, f_pair} <= {1'b1, f_any};
end

// The decoder has two clocks more.
wire [8:0] f_out;
wire       f_code_err, f_disp_err, f_rd;
dec_8b10b f_dec (
    .clk(clk), .rst(rst), .en(f_new), .code(code), .sym(f_out), .code_err(f_code_err), .disp_err(f_disp_err), .rd(f_rd)
);
reg       f_new1, f_new2, f_rd1, f_rd2;
reg [8:0] f_sym1, f_sym2;
always @(posedge clk) begin
    {f_new2, f_new1} <= rst ? 2'b00 : {f_new1, f_new};
    {f_sym2, f_sym1} <= {f_sym1, f_sym};
    {f_rd2, f_rd1} <= rst ? 2'b00 : {f_rd1, rd};
end

// Nothing is lost or changed on the way, and the two ends agree on disparity.
always @* if (f_run) begin
    if (f_new2) assert (f_out == f_sym2 && !f_code_err && !f_disp_err);
    assert (f_rd == f_rd2);
    if (f_new) assert (f_any);
    if (!f_any) assert (!rd && !f_pair);
end

// The sum of all bits sent, ones against zeros, is -1 or +1 after every code group: rd says which.
integer f_i;
reg [3:0] f_ones;
always @* begin
    f_ones = 0;
    for (f_i = 0; f_i < 10; f_i = f_i + 1) f_ones = f_ones + code[f_i];
    if (f_run && f_any) assert (f_ones == (f_rd0 == rd ? 5 : rd ? 6 : 4));
end

// No more than five equal bits in a row, and no comma but in a K28.5: over each border too.
wire [19:0] f_line = {f_last, code};
always @* begin
    for (f_i = 0; f_i < 15; f_i = f_i + 1)
        if (f_run && f_any && (f_pair || f_i < 5)) assert (f_line[f_i +: 6] != 6'b000000 && f_line[f_i +: 6] != 6'b111111);
    for (f_i = 0; f_i < 13; f_i = f_i + 1)
        if (f_run && f_any && (f_pair || f_i < 4) && (f_line[f_i +: 7] == 7'b0011111 || f_line[f_i +: 7] == 7'b1100000))
            assert (f_i == 3 && f_sym == `LP_SYM_IDLE);
end
