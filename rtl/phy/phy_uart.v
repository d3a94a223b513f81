`default_nettype none
// UART PHY: symbols on a byte pipe, escape-stuffed, over uart_tx and uart_rx.
//
// Contract
//   divisor: clocks a bit, and DIVISOR_BITS, as for the UART. `tick`: one clock in ten bit times, the time of a byte.
//   tx_sym / tx_ready: tx_sym is taken in the clocks in which tx_ready is high. IDLE is taken and not sent, so with nothing to send
//   tx_ready comes every other clock, and never in two in a row. A K symbol that is not the protocol's goes as ERR. While
//   one symbol is sent the next is taken: no gap.
//   rx_sym / rx_valid: symbols; LP_SYM_ERR for a byte without stop bit, a break, and an ESC before what is no symbol.
//   An ESC waits for its byte however long that takes; a byte without stop bit, or a break, takes the place of that byte.
//
// Payload in writes of 1024 random bytes, of all bytes on the line: 97.9 % one way, 97.4 % both ways at once (97.7 % with ACK_DELAY 2048).
// HX8K: 262 LUT4 with a divisor of 16 bits, 160 with 4.
// Source: doc/protocol.md, "Symbols".
module phy_uart #(
    parameter DIVISOR_BITS = 16
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [DIVISOR_BITS-1:0] divisor,

    input  wire [8:0]  tx_sym,
    output wire        tx_ready,
    output reg  [8:0]  rx_sym,
    output reg         rx_valid,
    output reg         tick,

    output wire        uart_txd,
    input  wire        uart_rxd
);
`include "linkproto.vh"

    localparam [DIVISOR_BITS-1:0] ONE = 1, TWO = 2;
    localparam [8:0] ERR = `LP_SYM_ERR;

    // The time of a byte.
    reg [DIVISOR_BITS-1:0] clocks;
    reg [3:0]  bits;
    reg        bit_end;
    always @(posedge clk) begin
        clocks  <= bit_end ? divisor : clocks - ONE;
        bit_end <= !bit_end && clocks == TWO;
        tick    <= bit_end && bits == 4'd9;
        if (bit_end) bits <= bits == 4'd9 ? 4'd0 : bits + 4'd1;
        if (rst) begin
            bit_end <= 1'b1;
            bits    <= 4'd0;
            tick    <= 1'b0;
        end
    end

    // Sender: the symbol taken waits here until the transmitter takes its byte, or its two.
    reg        held, escape;            // escape: ESC is to go before the byte
    reg  [7:0] byte_q;
    wire       t_ready;
    wire       known = tx_sym == `LP_SYM_SOP || tx_sym == `LP_SYM_EOP || tx_sym == `LP_SYM_ABORT || tx_sym == `LP_SYM_LSW;
    reg        rests;
    assign tx_ready = !held && !rests;

    always @(posedge clk) begin
        rests <= tx_ready && !rst;
        if (rst) held <= 1'b0;
        else if (tx_ready) begin
            held   <= tx_sym != `LP_SYM_IDLE;
            escape <= tx_sym[`LP_SYM_K_BIT] || tx_sym[7:0] == `LP_ESC;
            byte_q <= tx_sym[`LP_SYM_K_BIT] && !known ? ERR[7:0] : tx_sym[7:0];
        end else if (t_ready && held) begin
            held   <= escape;
            escape <= 1'b0;
        end
    end

    uart_tx #(.DIVISOR_BITS(DIVISOR_BITS)) u_tx (
        .clk(clk), .rst(rst), .divisor(divisor), .s_valid(held), .s_ready(t_ready), .s_data(escape ? `LP_ESC : byte_q), .tx(uart_txd)
    );

    // Receiver.
    wire       r_valid, frame_err, line_break;
    wire [7:0] r_data;
    reg        escaped;                 // the last byte was the first of two
    uart_rx #(.DIVISOR_BITS(DIVISOR_BITS)) u_rx (
        .clk(clk), .rst(rst), .divisor(divisor), .rx(uart_rxd),
        .m_valid(r_valid), .m_data(r_data), .frame_err(frame_err), .line_break(line_break)
    );

    wire       broken = frame_err || line_break;
    wire       is_esc = r_data == `LP_ESC;
    wire [8:0] k_sym  = {1'b1, r_data};
    wire       is_k   = k_sym == `LP_SYM_IDLE || k_sym == `LP_SYM_SOP || k_sym == `LP_SYM_EOP || k_sym == `LP_SYM_ABORT
                        || k_sym == `LP_SYM_LSW;

    always @(posedge clk) begin
        rx_valid <= broken || (r_valid && (escaped || !is_esc));
        if (broken)                         rx_sym <= `LP_SYM_ERR;
        else if (!escaped || is_esc)        rx_sym <= {1'b0, r_data};
        else if (is_k)                      rx_sym <= k_sym;
        else                                rx_sym <= `LP_SYM_ERR;
        if (broken)       escaped <= 1'b0;
        else if (r_valid) escaped <= is_esc && !escaped;
        if (rst) begin
            rx_valid <= 1'b0;
            escaped  <= 1'b0;
        end
    end
endmodule
`resetall
