`default_nettype none
// Stands in for net_vl_context where a proof is about its caller: the same ports; links have contexts, and slots are kept, as it likes. It
// holds its caller to the contract: nothing is written while it is read.
module net_vl_context #(
    parameter CONTEXTS = 8,
    parameter VIRTUAL  = 4,
    parameter SLOTS    = 64,
    parameter SW       = $clog2(SLOTS)
) (
    input  wire                clk,
    input  wire                rd_en,
    input  wire [VIRTUAL-1:0]  rd_vl,
    input  wire                sets,
    input  wire [7:0]          set_to,
    input  wire                opens,
    input  wire                wr_en,
    input  wire                clear,
    input  wire [VIRTUAL-1:0]  wr_vl,
    output wire [CONTEXTS-1:0] ctx,
    output wire [3:0]          life,
    input  wire                look,
    input  wire [SW-1:0]       at,
    input  wire                keep,
    input  wire [SW-1:0]       slot,
    input  wire                k_mine,
    input  wire                k_final,
    input  wire                walk,
    output wire                holds,
    output wire                freed
);
    (* anyseq *) wire [CONTEXTS+3:0] any;
    (* anyseq *) wire                any_holds, any_freed;
    assign {ctx, life, holds, freed} = {any, any_holds, walk && any_freed && !any_holds};
    reg reads = 1'b0;
    always @(posedge clk) reads <= rd_en;
    always @* begin
        if (wr_en && !clear) assert (!rd_en && !reads);
        if (sets || opens) assert (!rd_en && !reads && !wr_en);
        if (look) assert (!keep);
    end
endmodule
`resetall
