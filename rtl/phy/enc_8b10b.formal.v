// Properties of enc_8b10b, included in it, with a decoder behind it.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// A symbol in two clocks, as fast as the decoder takes them. Longer pauses only hold what is there: left out, for induction to reach
// back to the last en.
reg f_was_en = 1'b0;
always @(posedge clk) f_was_en <= en || rst;
always @* if (!rst) assume (en == !f_was_en);

// What is sent: in the clock of en, and in the two clocks after it.
reg [8:0] f_asked, f_sym;
reg [9:0] f_code;
reg       f_any;
wire      f_next = rd6 ^ tilt4;         // disparity after code
always @(posedge clk) begin
    f_asked <= error ? ERR : sym;
    if (en) {f_sym, f_code} <= {f_asked, code};
    if (rst)     f_any <= 1'b0;
    else if (en) f_any <= 1'b1;
end

// The decoder takes it in the second of these.
wire [8:0] f_out;
wire       f_code_err, f_disp_err, f_rd;
dec_8b10b f_dec (
    .clk(clk), .rst(rst), .en(en && f_any), .code(f_code), .sym(f_out), .code_err(f_code_err), .disp_err(f_disp_err), .rd(f_rd)
);
reg [8:0] f_sent;
reg       f_out_new, f_rd1, f_rd2;
always @(posedge clk) begin
    f_out_new <= en && f_any && !rst;
    f_sent    <= f_sym;
    {f_rd2, f_rd1} <= rst ? 2'b00 : {f_rd1, rd};
end

// Nothing is lost or changed on the way, and the two ends agree on disparity.
always @* if (f_run) begin
    if (f_out_new) assert (f_out == f_sent && !f_code_err && !f_disp_err);
    assert (f_rd == f_rd2);
    if (!f_any) assert (!rd && !f_out_new);
end

// The sum of all bits sent, ones against zeros, is -1 or +1 after every code group: rd says which.
integer f_i;
reg [3:0] f_ones;
always @* begin
    f_ones = 0;
    for (f_i = 0; f_i < 10; f_i = f_i + 1) f_ones = f_ones + code[f_i];
    if (f_run && en && !rst) assert (f_ones == (f_next == rd ? 5 : f_next ? 6 : 4));
end

// No more than five equal bits in a row, and no comma but in a K28.5: over each border too.
wire [19:0] f_line = {f_code, code};
always @* begin
    for (f_i = 0; f_i < 15; f_i = f_i + 1)
        if (f_run && en && !rst && (f_any || f_i < 5)) assert (f_line[f_i +: 6] != 6'b000000 && f_line[f_i +: 6] != 6'b111111);
    for (f_i = 0; f_i < 13; f_i = f_i + 1)
        if (f_run && en && !rst && (f_any || f_i < 4) && (f_line[f_i +: 7] == 7'b0011111 || f_line[f_i +: 7] == 7'b1100000))
            assert (f_i == 3 && f_asked == `LP_SYM_IDLE);
end
