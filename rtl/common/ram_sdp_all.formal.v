`default_nettype none
// Stands in for ram_sdp where a proof looks at all of its words at once.
module ram_sdp #(
    parameter WIDTH = 8,
    parameter DEPTH = 2
) (
    input  wire                     clk,
    input  wire                     wr_en,
    input  wire [$clog2(DEPTH)-1:0] wr_addr,
    input  wire [WIDTH-1:0]         wr_data,
    input  wire                     rd_en,
    input  wire [$clog2(DEPTH)-1:0] rd_addr,
    output reg  [WIDTH-1:0]         rd_data,
    output wire [WIDTH*DEPTH-1:0]   f_words
);
    reg [WIDTH-1:0] mem [0:DEPTH-1];
    always @(posedge clk) begin
        if (wr_en) mem[wr_addr] <= wr_data;
        if (rd_en) rd_data <= wr_en && rd_addr == wr_addr ? ~wr_data : mem[rd_addr];
    end
    genvar i;
    generate for (i = 0; i < DEPTH; i = i + 1) begin : g_word
        assign f_words[WIDTH*i +: WIDTH] = mem[i];
    end endgenerate
endmodule
`resetall
