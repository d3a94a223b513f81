`default_nettype none
// What net_vl_engine knows of contexts of messages: that of each virtual link, and which slots are theirs.
//
// Contract:
//   rd_en with rd_vl: two clocks later ctx and life are that link's. sets (pulse): ctx becomes set_to, or 0 if there is no such context;
//   opens (pulse): another life. wr_en with wr_vl writes them; clear: it writes zeroes.
//   keep (pulse) with slot: its packet is a context's if k_mine, and the last one of a message if k_final.
//   look with `at`, and from the next clock on: holds: that slot is to be kept when it is freed, since a completion goes with it; walk: it
//   is freed; freed (pulse): one of a context has been, and is not kept.
//
// Source: doc/protocol.md, "Messages of an interface". Proven: net_vl_context.formal.v.
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
    output reg  [CONTEXTS-1:0] ctx,
    output reg  [3:0]          life,
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
`ifdef FORMAL
    wire [CONTEXTS+3:0] f_entry;
    wire [1:0]          f_marks;
`endif
    wire [CONTEXTS+3:0] entry;
    reg                 fresh;
    ram_sdp #(.WIDTH(CONTEXTS + 4), .DEPTH(1 << VIRTUAL)) u_table (
        .clk(clk), .wr_en(wr_en), .wr_addr(wr_vl), .wr_data(clear ? {CONTEXTS + 4{1'b0}} : {ctx, life}),
        .rd_en(rd_en), .rd_addr(rd_vl), .rd_data(entry)
`ifdef FORMAL
        , .f_addr(f_vl), .f_word(f_entry)
`endif
    );
    wire mine, is_last;
    ram_sdp #(.WIDTH(2), .DEPTH(SLOTS)) u_marks (
        .clk(clk), .wr_en(keep), .wr_addr(slot), .wr_data({k_mine, k_final}), .rd_en(look), .rd_addr(at), .rd_data({mine, is_last})
`ifdef FORMAL
        , .f_addr(f_slot), .f_word(f_marks)
`endif
    );
    assign holds = mine && is_last;
    assign freed = walk && mine && !is_last;
    always @(posedge clk) begin
        fresh <= rd_en;
        if (fresh) {ctx, life} <= entry;
        if (sets)  ctx <= set_to >> CONTEXTS == 8'd0 ? set_to[CONTEXTS-1:0] : {CONTEXTS{1'b0}};
        if (opens) life    <= life + 4'd1;
    end
`ifdef FORMAL
`include "net_vl_context.formal.v"
`endif
endmodule
`resetall
