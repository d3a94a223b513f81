`default_nettype none
// UART receiver: 8 data bits, no parity, one stop bit.
//
// Contract
//   divisor: clocks a bit, from 4 on, in DIVISOR_BITS bits. rx may be a pin.
//   Each bit is the majority of three samples around its middle. After each byte one of these is high for one clock, 4
//   clocks after the middle of the stop bit:
//     m_valid    the byte is m_data
//     frame_err  there was no stop bit
//     line_break there was no stop bit and no bit set: the line was low for a whole byte; once for each break
//   After the latter two the line must have been high before a start bit is looked for. A low that does not reach the middle of
//   a start bit is no start bit. The next start bit may come from there on, and from the middle of the stop bit on.
//   The far end's bits may be 2 % shorter or longer at a divisor of 4, 3.3 % from 5 on.
//
// HX8K: 92 LUT4, 152 to 165 MHz.
module uart_rx #(
    parameter DIVISOR_BITS = 16
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [DIVISOR_BITS-1:0] divisor,
    input  wire        rx,
    output reg         m_valid,
    output reg  [7:0]  m_data,
    output reg         frame_err,
    output reg         line_break
);
    localparam [DIVISOR_BITS-1:0] ONE = 1, TWO = 2;
    localparam [3:0] START = 4'd9;      // bits after the start bit

    wire       now;
    reg  [2:1] past;
    sync_bit #(.INIT(1'b1)) u_sync (.clk(clk), .d(rx), .q(now));
    wire       most = (now && past[1]) || (now && past[2]) || (past[1] && past[2]);   // of the clock before this one

    reg [DIVISOR_BITS-1:0] clocks;    // to the next sampling point
    reg        sample;                  // now
    reg        busy;
    reg [3:0]  bits;                    // to come after the one being sampled
    wire       ends   = busy && sample && bits == 4'd0;
    wire       passed = sample && bits == START && most;    // a low too short for a start bit
    wire       begins = (!busy || ends || passed) && !now && past[1];
    wire       soon   = clocks == (bits == START ? ONE : TWO);

    always @(posedge clk) begin
        past <= {past[1], now};
        if (begins || sample) begin
            clocks <= begins ? {1'b0, divisor[DIVISOR_BITS-1:1]} : divisor;
        end else begin
            clocks <= clocks - ONE;
        end
        sample <= busy && soon && !sample;

        m_valid    <= ends && most;
        frame_err  <= ends && !most && m_data != 8'd0;
        line_break <= ends && !most && m_data == 8'd0;
        if (begins) begin
            busy <= 1'b1;
            bits <= START;
        end else if (busy && sample) begin
            bits <= bits - 4'd1;
            busy <= !(ends || passed);
        end
        if (busy && sample && !ends) m_data <= {most, m_data[7:1]};
        if (rst) begin
            busy   <= 1'b0;
            sample <= 1'b0;
            past   <= 2'b00;
            {m_valid, frame_err, line_break} <= 3'b000;
        end
    end
endmodule
`resetall
