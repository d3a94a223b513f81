`default_nettype none
// Tables that are never written; for the tests of what is set from outside.
module lookup (
    input  wire        clk,
    input  wire [3:0]  at,
    output reg  [9:0]  found,
    output wire [31:0] since,
    output reg  [31:0] twice
);
    genvar g;
    generate
        for (g = 0; g < 2; g = g + 1) begin : g_half
            reg [4:0] mem [0:15];
            always @(posedge clk) found[5*g +: 5] <= mem[at];
        end
    endgenerate
    reg [31:0] clocks;
    assign since = clocks ^ twice;
    always @(posedge clk) begin
        clocks <= clocks + 1;
        twice  <= twice + 2;
    end
endmodule
`resetall
