// Simple dual-port memory with a clock a port: one write port, one synchronous read port.
//
// Contract
//   rd_data changes one rd_clk after rd_en and holds while rd_en is low.
//   A word that is written around the time it is read comes out undefined: the caller keeps the two
//   apart by more than its synchronisers' delay (fifo_async). Contents are not reset.
//
// HX8K: block RAM only. Source: Lattice TN1250.
`default_nettype none

module ram_2clk #(
    parameter WIDTH = 8,
    parameter DEPTH = 512
) (
    input  wire                     wr_clk,
    input  wire                     wr_en,
    input  wire [$clog2(DEPTH)-1:0] wr_addr,
    input  wire [WIDTH-1:0]         wr_data,

    input  wire                     rd_clk,
    input  wire                     rd_en,
    input  wire [$clog2(DEPTH)-1:0] rd_addr,
    output reg  [WIDTH-1:0]         rd_data
`ifdef FORMAL
    ,
    input  wire [$clog2(DEPTH)-1:0] f_addr,
    output wire [WIDTH-1:0]         f_word
`endif
);
    generate
        if (DEPTH < 2) error_depth_must_be_at_least_two u_check_depth ();
    endgenerate

    (* no_rw_check *) reg [WIDTH-1:0] mem [0:DEPTH-1];

    always @(posedge wr_clk)
        if (wr_en) mem[wr_addr] <= wr_data;

    always @(posedge rd_clk)
        if (rd_en) rd_data <= mem[rd_addr];
`ifdef FORMAL
    assign f_word = mem[f_addr];
`endif
endmodule

`resetall
