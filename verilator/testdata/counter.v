`default_nettype none
// Counts; for the tests of clocks, binding and widths.
module counter #(
    parameter WIDTH = 8
) (
    input  wire              clk,
    input  wire              rst,
    input  wire              enable,
    input  wire [31:0]       step,
    output reg  [31:0]       count,
    output reg  [WIDTH-1:0]  narrow,
    output wire              even,
    input  wire [99:0]       wide,
    output reg  [99:0]       wide_back,
    output reg  [63:0]       unset
);
    assign even = ~count[0] & enable;
    always @(posedge clk) begin
        wide_back <= ~wide;
        if (rst) begin
            count <= 0;
            narrow <= 0;
        end else if (enable) begin
            count <= count + step;
            narrow <= narrow + 1;
        end
    end
endmodule
`resetall
