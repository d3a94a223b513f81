`default_nettype none
// Memory of a counter_bank with N=8 whose counters soon reach 2^32: where a word's part above the small counter is written as 2^k,
// k >= 1, it becomes 2^(k+1)-1, so that after each wrap of the small counter there is one bit more in it.
module ram_sdp #(
    parameter WIDTH = 32,
    parameter DEPTH = 16,
    parameter FIRST = 0,
    parameter INIT  = 0
) (
    input  wire                     clk,
    input  wire                     wr_en,
    input  wire [$clog2(DEPTH)-1:0] wr_addr,
    input  wire [WIDTH-1:0]         wr_data,
    input  wire                     rd_en,
    input  wire [$clog2(DEPTH)-1:0] rd_addr,
    output reg  [WIDTH-1:0]         rd_data
);
    localparam SMALL = 5;
    localparam HIGH  = WIDTH - SMALL;
    reg  [WIDTH-1:0] mem [0:DEPTH-1];
    wire [HIGH-1:0]  high = wr_data[WIDTH-1:SMALL];
    wire [HIGH-1:0]  less = high - 1'b1;

    always @(posedge clk) begin
        if (wr_en) mem[wr_addr] <= {(high & less) == 0 && high != 0 ? high | less : high, wr_data[SMALL-1:0]};
        if (rd_en) rd_data <= mem[rd_addr];
    end
endmodule
`resetall
