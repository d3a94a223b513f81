`default_nettype none
// UART transmitter: 8 data bits, no parity, one stop bit.
//
// Contract
//   divisor: clocks a bit, from 4 on, in DIVISOR_BITS bits. It is looked at as each bit begins.
//   A byte takes ten bit times exactly; s_ready is high in the last clock of a stop bit and while there is nothing to send, so
//   bytes that wait follow each other without a gap. s_ready depends on registers alone.
//   tx is a register, high in reset.
//
// HX8K: 55 LUT4, 156 to 173 MHz.
module uart_tx #(
    parameter DIVISOR_BITS = 16
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [DIVISOR_BITS-1:0] divisor,
    input  wire        s_valid,
    output wire        s_ready,
    input  wire [7:0]  s_data,
    output reg         tx
);
    localparam [DIVISOR_BITS-1:0] ONE = 1, TWO = 2;
    localparam [3:0] FOLLOWING = 4'd9;  // bits after the start bit

    reg [DIVISOR_BITS-1:0] clocks;    // left of this bit
    reg        bit_end;                 // its last clock
    reg [3:0]  bits;                    // left after this one
    reg [7:0]  shift;

    assign s_ready = bit_end && bits == 4'd0;
    wire   start = s_ready && s_valid;
    wire   next  = bit_end && bits != 4'd0;

    always @(posedge clk) begin
        if (start || next) begin
            clocks  <= divisor;
            bit_end <= 1'b0;
        end else if (!bit_end) begin
            clocks  <= clocks - ONE;
            bit_end <= clocks == TWO;
        end
        if (start) begin
            {shift, tx} <= {s_data, 1'b0};
            bits        <= FOLLOWING;
        end else if (next) begin
            {shift, tx} <= {1'b1, shift};
            bits        <= bits - 4'd1;
        end
        if (rst) begin
            bit_end <= 1'b1;
            bits    <= 4'd0;
            tx      <= 1'b1;
        end
    end
endmodule
`resetall
