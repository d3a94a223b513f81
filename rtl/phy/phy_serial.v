`default_nettype none
// Serial PHY: symbols as 8b/10b on one wire each way, without a clock beside them.
//
// Contract
//   A bit lasts OVERSAMPLE clocks. line_rx may be a pin.
//   Clocks that differ by up to 5000 ppm are followed. Edges may besides be off by as much of a bit either way, measured with
//   evenly spread jitter at 1000 ppm: 0.225 with 3 clocks a bit, 0.175 with 4, 0.25 with 5, 0.30 with 8.
//   tx_sym / tx_ready: tx_sym is taken in the clocks in which tx_ready is high, once a symbol time. `tick`: one clock a symbol time.
//   After COMMA_EVERY-1 symbols without IDLE the PHY sends one by itself, in a symbol time with tick but without tx_ready, so that
//   an end that has lost the borders of code groups finds them again however busy the link is.
//   rx_sym / rx_valid: symbols, while `locked` only; LP_SYM_ERR for each code group that is wrong in itself or in its disparity.
//   locked ends by itself when there is nothing to be decoded, some 12 symbol times later, ERRs most of them; it comes back with
//   the first K28.5 that 16 right code groups follow. Whatever the line does, nothing has to be reset.
//
// HX8K: 247 LUT4, 271 cells with 5 clocks a bit.
// Source: as enc_8b10b, dec_8b10b, comma_align.
module phy_serial #(
    parameter OVERSAMPLE  = 5,          // clocks a bit
    parameter COMMA_EVERY = 1024        // symbols
) (
    input  wire       clk,
    input  wire       rst,

    input  wire [8:0] tx_sym,
    output wire       tx_ready,
    output reg  [8:0] rx_sym,
    output reg        rx_valid,
    output reg        tick,
    output reg        locked,

    output reg        line_tx,
    input  wire       line_rx
);
`include "linkproto.vh"

    localparam OW = $clog2(OVERSAMPLE);
    localparam [31:0] SIZE = OVERSAMPLE;
    localparam [OW-1:0] LAST = SIZE[OW-1:0] - 1'b1;
    localparam CW = $clog2(COMMA_EVERY);

    generate
        if (COMMA_EVERY != 1 << CW || COMMA_EVERY < 2) error_comma_every_must_be_a_power_of_two u_check_comma_every ();
    endgenerate

    // Sender. A symbol is taken in the first clock of the last bit of the one before it: the encoder has two clocks or more.
    reg  [OW-1:0] sub;                  // clocks of the present bit
    reg  [3:0]    place;                // of the next bit in its code group
    reg  [CW-1:0] dry;                  // symbols since the last IDLE
    reg           forced;
    reg  [8:0]    sym_q;
    wire [9:0]    tx_code;
    wire          unused_rd;
    wire          bit_end = sub == LAST;
    wire [8:0]    send    = forced ? `LP_SYM_IDLE : tx_sym;
    wire          idle    = send == `LP_SYM_IDLE;

    enc_8b10b u_enc (.clk(clk), .rst(rst), .en(tick), .sym(sym_q), .code(tx_code), .rd(unused_rd));

    assign tx_ready = tick && !forced;

    always @(posedge clk) begin
        sub  <= bit_end ? {OW{1'b0}} : sub + 1'b1;
        tick <= bit_end && place == 4'd0;
        if (bit_end) begin
            line_tx <= tx_code[place];
            place   <= place == 4'd0 ? 4'd9 : place - 4'd1;
        end
        if (tick) begin
            sym_q  <= send;
            forced <= &dry[CW-1:1] && !idle;
        end
        dry <= tick && idle ? {CW{1'b0}} : dry + {{CW-1{1'b0}}, tick};
        if (rst) begin
            sub     <= 0;
            place   <= 4'd9;
            dry     <= 0;
            sym_q   <= `LP_SYM_IDLE;
            {tick, forced, line_tx} <= 3'b000;
        end
    end

    // Receiver.
    wire       d_valid, d, code_valid, synced;
    wire [9:0] rx_code;
    wire [8:0] symbol;
    wire       code_err, disp_err, unused_rx_rd;
    reg        judged;
    wire       bad = code_err || disp_err;

    cdr_oversample #(.OVERSAMPLE(OVERSAMPLE)) u_cdr (.clk(clk), .rst(rst), .line(line_rx), .d_valid(d_valid), .d(d));
    comma_align u_align (
        .clk(clk), .rst(rst), .d_valid(d_valid), .d(d), .code_valid(code_valid), .code(rx_code),
        .judged(judged), .bad(bad), .locked(synced)
    );
    dec_8b10b u_dec (
        .clk(clk), .rst(rst), .en(code_valid), .code(rx_code), .sym(symbol), .code_err(code_err), .disp_err(disp_err), .rd(unused_rx_rd)
    );

    always @(posedge clk) begin
        judged   <= code_valid && !rst;
        locked   <= synced && !rst;
        rx_valid <= judged && synced && !rst;
        rx_sym   <= bad ? `LP_SYM_ERR : symbol;
    end
endmodule
`resetall
