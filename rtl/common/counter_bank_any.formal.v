`default_nettype none
// Stands in for counter_bank where a proof is about who reads it: the same ports; a read is answered when the solver likes, with any value.
module counter_bank #(
    parameter         N    = 32,
    parameter [N-1:0] SLOW = 0
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire [N-1:0]         event_in,
    input  wire                 rd_en,
    input  wire [$clog2(N)-1:0] rd_addr,
    input  wire                 other,
    input  wire                 wr_en,
    input  wire [31:0]          wr_data,
    output wire                 rd_valid,
    output wire [31:0]          rd_data
);
    (* anyseq *) wire        answers;
    (* anyseq *) wire [31:0] value;
    reg  asked;
    always @(posedge clk) asked <= rd_en && !rst;
    assign rd_valid = asked && rd_en && answers;
    assign rd_data  = value;
endmodule
`resetall
