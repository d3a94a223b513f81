`default_nettype none
// For tests: a memory that is read without a clock, so that its read port has no enable.
module slots (
    input  wire       clk,
    input  wire       write,
    input  wire [1:0] at,
    input  wire [1:0] data,
    output wire [1:0] have
);
    reg [1:0] all [0:3];
    assign have = all[at];
    always @(posedge clk) if (write) all[at] <= data;
endmodule
`resetall
