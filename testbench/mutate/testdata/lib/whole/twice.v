`default_nettype none
// For tests: an instance with other parameters, two levels down for the adder's mutants.
module twice (
    input  wire       clk,
    input  wire [6:0] a,
    output wire [6:0] sum,
    output wire       odd,
    output wire [3:0] age
);
    adder #(.WIDTH(7)) u_adder (.clk(clk), .a(a), .b(a), .sum(sum), .odd(odd), .age(age));
endmodule
`resetall
