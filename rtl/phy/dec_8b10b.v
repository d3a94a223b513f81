`default_nettype none
// 8b/10b decoder that knows every wrong code group, for up to one code group in two clocks.
//
// Contract
//   code (abcdei fghj from left to right: code[9] came first on the line) stands in the clock of en and in the one before. In the clock
//   after en:
//     sym        the symbol, {k, byte}; all twelve K symbols of the code are known; meaningless with code_err
//     code_err   no symbol has this code group at either running disparity
//     disp_err   one has, but at the other running disparity than the one reached
//     rd         running disparity after it (1: positive), from its own bits, so that one error is not reported for ever
//   Reset makes rd negative.
//
// HX8K: 74 LUT4.
// Proven: in enc_8b10b.formal.v, that it undoes the encoder.
// Source: IEEE 802.3 clause 36.2.4: the tables, and the rule for running disparity (36.2.4.4).
module dec_8b10b (
    input  wire       clk,
    input  wire       rst,
    input  wire       en,
    input  wire [9:0] code,
    output wire [8:0] sym,
    output reg        code_err,
    output reg        disp_err,
    output reg        rd
);
    wire [5:0] c6 = code[9:4];
    wire [3:0] c4 = code[3:0];

    // y of four bits; 7 also of those that are wrong.
    function [2:0] value4(input [3:0] c);
        casez (c)
            4'b1011, 4'b0100: value4 = 3'd0;
            4'b1001:          value4 = 3'd1;
            4'b0101:          value4 = 3'd2;
            4'b1100, 4'b0011: value4 = 3'd3;
            4'b1101, 4'b0010: value4 = 3'd4;
            4'b1010:          value4 = 3'd5;
            4'b0110:          value4 = 3'd6;
            4'b?000, 4'b0001, 4'b?111, 4'b1110: value4 = 3'd7;
        endcase
    endfunction

    function odd(input [2:0] b);  odd  = ^b; endfunction
    function most(input [2:0] b); most = (b[2] && b[1]) || (b[2] && b[0]) || (b[1] && b[0]); endfunction

    // Each half by itself. up: leaves disparity positive, down: negative. low, high: right at negative, at positive
    // disparity only. 111000 / 000111 and 1100 / 0011 do not tilt, but are right at one disparity only.
    wire m1 = most(c6[5:3]), m0 = most(c6[2:0]), o1 = odd(c6[5:3]), o0 = odd(c6[2:0]);
    wire tall6 = ( m1 &&  m0) || (( m1 ||  m0) &&  o1 &&  o0);     // four ones or more
    wire flat6 = (!m1 && !m0) || ((!m1 || !m0) && !o1 && !o0);     // two or less
    wire one6  = (m1 && m0 && (o1 || o0)) || (!m1 && !m0 && !(o1 && o0)); // one or none, or as few zeros
    wire tall4 = (c4[3] && c4[2] && (c4[1] || c4[0])) || (c4[1] && c4[0] && (c4[3] || c4[2]));
    wire flat4 = (!c4[3] && !c4[2] && !(c4[1] && c4[0])) || (!c4[1] && !c4[0] && !(c4[3] && c4[2]));
    wire k28_high = c6 == 6'b110000;                                // its four bits are inverted, those that do not tilt too

    // x is abcde of the column that enc_8b10b calls the symbol's own, but for those with two ones: they are told by where these are.
    // i is 1 in the other column, and in a few of three ones.
    wire       k28_low = c6 == 6'b001111;
    wire       tilted  = tall6 || flat6;
    wire       other   = k28_high || (c6[0] && !k28_low && (tilted || c6 == 6'b000111));
    reg        other6, pair;                                        // pair: two ones, both in abcde
    wire [4:0] a_e     = c6[5:1] ^ {5{other6}};                     // a first
    wire       a = a_e[4], b = a_e[3], c = a_e[2], d = a_e[1], e = a_e[0];
    wire [4:0] own_x   = {pair ? d && !e : e, d ^ (pair && a && (c || d)), c ^ (pair && ((b && c) || (d && (b || c)))),
                          b ^ (pair && ((b && c) || (a && c))), a ^ (pair && d && (a || b))};

    // Which form of .7 stands after which six bits: 17, 18, 20; 11, 13, 14; and 23, 27, 29, 30 of K symbols.
    wire in_low  = o1 && !m1 && c6[2:0] == 3'b011;
    wire in_high = !o1 && m1 && c6[2:0] == 3'b100;
    wire in_k    = (^c6[5:2]) && c6[1] == m1 && c6[0] != m1;

    // All of the clock before en, but for x.
    reg       valid6, k28, up6, down6, low6, high6, up4, down4, low4, high4, other7, usual7, none4, k_x7, fits7, fits_usual7;
    reg [4:0] x;
    reg [2:0] y;
    always @(posedge clk) begin
        other6   <= other;
        pair     <= other ? tall6 : flat6;
        x        <= own_x;
        valid6   <= !one6 && c6 != 6'b000011 && c6 != 6'b111100;
        y        <= value4(k28_high ? ~c4 : c4);
        k28      <= k28_high || k28_low;
        up6      <= tall6 || c6 == 6'b000111;
        down6    <= flat6 || c6 == 6'b111000;
        low6     <= tall6 || c6 == 6'b111000;
        high6    <= flat6 || c6 == 6'b000111;
        up4      <= tall4 || c4 == 4'b0011;
        down4    <= flat4 || c4 == 4'b1100;
        low4     <= tall4 || c4 == 4'b1100;
        high4    <= flat4 || c4 == 4'b0011;
        usual7   <= c4 == 4'b1110 || c4 == 4'b0001;
        other7   <= c4 == 4'b0111 || c4 == 4'b1000;
        none4    <= c4 == 4'b0000 || c4 == 4'b1111;
        k_x7     <= in_k;
        fits7    <= in_k || k28_high || k28_low || (c4[0] ? in_low : in_high);
        fits_usual7 <= !k28_high && !k28_low && !(c4[0] ? in_high : in_low);
    end

    // Do they go together, and with the disparity?
    wire wrong7  = other7 ? !fits7 : usual7 && !fits_usual7;
    wire clash   = (up6 && low4) || (down6 && high4);
    wire wrong   = !valid6 || none4 || wrong7 || clash;
    wire off     = (low6 && rd) || (high6 && !rd) || (!low6 && !high6 && ((low4 && rd) || (high4 && !rd)));

    assign sym = {k28 || (k_x7 && other7), y, x};
    always @(posedge clk) begin
        code_err <= wrong;
        disp_err <= off && !wrong;
        if (rst)     rd <= 1'b0;
        else if (en) rd <= up4 || (!down4 && (up6 || (!down6 && rd)));
    end
endmodule
`resetall
