// Adds two numbers, a clock later.
module adder (
    input  wire        clk,
    input  wire        rst,
    input  wire [31:0] a,
    input  wire [31:0] b,
    output reg  [31:0] sum
);
    always @(posedge clk) begin
        if (rst) sum <= 0;
        else sum <= a + b;
    end
endmodule
