`default_nettype none
// Signals of all kinds inside a hierarchy; for the tests of what is read and set from outside.
module deep_leaf #(
    parameter W = 8
) (
    input  wire         clk,
    input  wire [W-1:0] d,
    output wire [W-1:0] q,
    output wire         odd
);
    reg  [W-1:0] held, scratch;
    reg          bits [0:7];
    reg  [W-1:0] mem [4:11];
    reg  [6:0]   table2 [0:2][0:4];
    reg  [W+69:0] wide;
    wire [W-1:0] sum = held + scratch;  // nothing assigns scratch
    assign q = sum;
    assign odd = ^sum;
    initial scratch = 3;
    always @(posedge clk) begin
        held <= d;
        mem[4 + d[2:0]] <= d;
        bits[d[2:0]] <= d[0];
        table2[1][d[1:0]] <= d[6:0];
        wide <= {wide[W+61:0], d[7:0]};
    end
endmodule

module deep_end (
    input  wire       clk,
    input  wire [7:0] d,
    output reg  [7:0] last,
    output wire [7:0] shown
);
    assign shown = last;
    always @(posedge clk) last <= d;
endmodule

module deep (
    input  wire       clk,
    input  wire [7:0] d,
    output wire [7:0] q,
    output wire       odd,
    output wire [11:0] all,
    output reg  [7:0] ticks
);
    wire [7:0] mid;
    deep_leaf u_first (.clk(clk), .d(d), .q(mid), .odd(odd));
    wire [7:0] last, shown;
    deep_end u_end (.clk(clk), .d(d), .last(last), .shown(shown));
    reg [7:0] state;
    always @(posedge clk) begin
        state <= mid ^ (last & ~shown);
        ticks <= ticks + 1;
    end
    assign q = state;
    wire [11:0] part [0:1];
    genvar g;
    generate
        for (g = 0; g < 2; g = g + 1) begin : g_row
            reg [3:0] local_state;
            deep_leaf #(.W(12)) u_leaf (.clk(clk), .d({4'd0, mid} + g), .q(part[g]), .odd());
            always @(posedge clk) local_state <= part[g][3:0];
        end
    endgenerate
    assign all = part[0] ^ part[1] ^ {8'd0, g_row[0].local_state & g_row[1].local_state};
endmodule
`resetall
