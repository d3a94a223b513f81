`default_nettype none
// Compares a number with a constant, in the few LUTs that the constant's bits need rather than by a carry chain of the number's width.
//
// Contract: y is x >= LIMIT, combinational.
//
// HX8K: 1 to 4 LUT4 for numbers of 12 bits; none for a power of two that is the highest bit.
module at_least #(
    parameter WIDTH = 8,
    parameter LIMIT = 1
) (
    input  wire [WIDTH-1:0] x,
    output reg              y
);
    generate
        if (LIMIT < 0 || LIMIT >= 1 << WIDTH) error_limit_must_fit_the_width u_check_limit ();
    endgenerate

    integer i;
    always @* begin
        y = 1'b1;
        for (i = 0; i < WIDTH; i = i + 1)
            y = LIMIT[i] ? x[i] && y : x[i] || y;
    end
endmodule
`resetall
