`default_nettype none
// at_least with each limit of eight bits, for its test.
module at_least_all (
    input  wire [7:0]   x,
    output wire [255:0] y
);
    genvar i;
    generate
        for (i = 0; i < 256; i = i + 1) begin : g_limit
            at_least #(.WIDTH(8), .LIMIT(i)) u (.x(x), .y(y[i]));
        end
    endgenerate
endmodule
`resetall
