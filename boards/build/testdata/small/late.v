`default_nettype none
// d, CLOCKS clocks later.
module late #(parameter CLOCKS = 5) (input wire clk, input wire d, output wire q);
    reg [CLOCKS-1:0] line;
    always @(posedge clk) line <= {line[CLOCKS-2:0], d};
    assign q = line[CLOCKS-1];
endmodule
`resetall
