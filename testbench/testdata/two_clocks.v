// Two domains that each count, and one register that is clocked by a falling edge.
module two_clocks (
    input  wire        clk,
    input  wire        other_clk,
    input  wire [15:0] in,
    output reg  [15:0] count,
    output reg  [15:0] other_count,
    output reg  [15:0] fallen
);
    initial count = 0;
    initial other_count = 0;
    always @(posedge clk) count <= count + 16'd1;
    always @(posedge other_clk) other_count <= other_count + 16'd1;
    always @(negedge clk) fallen <= in;
    always @(posedge clk) if (count == 16'd900) $finish;
endmodule
