`default_nettype none
// Counts the clocks in which enable is 1.
module counter (
    input  wire        clk,
    input  wire        rst,
    input  wire        enable,
    output reg  [31:0] count
);
    always @(posedge clk) begin
        if (enable) count <= count + 32'd1;
        if (rst) count <= 32'd0;
    end
endmodule
`resetall
