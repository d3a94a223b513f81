`default_nettype none
// Ends the simulation in the ways a design can.
module halt (
    input  wire       clk,
    input  wire [2:0] how,
    output reg        flip,
    input  wire       in,
    output wire       loop
);
    wire other = loop_on & ~loop;
    wire loop_on = how == 5;
    assign loop = loop_on & ~other ^ in;
    always @(posedge clk) begin
        flip <= ~flip;
        if (how == 1) $finish;
        if (how == 2) $stop;
        if (how == 3) $error("three is %0d", how);
        if (how == 4) $fatal(1, "four");
        if (how == 6) $display("six");
        if (how == 7) assert (flip & ~flip);
    end
endmodule
`resetall
