`default_nettype none
// Table of a router: by which output packets go to each destination.
//
// Contract:
//   look[i] with dest[16*i +: 16] until looked[i] (pulse) of input i; then `ways`, the same for all inputs, has a bit for each output: 0
//   is this node. One input or read is served in a clock, in turn, so it takes N + 1 clocks at most that write nothing.
//   rd_en with wr_group and wr_addr until rd_done (pulse): reads the entry; rd_value stands with rd_done. One beyond the table reads 0.
//   Of a group's number 12 bits count, and no node has a group's.
//   A node's entry is a port and an alternate, 0 none: the alternate if the port is not `alive`. `self` is this node's number; while that
//   is 0, all that comes by another input than 0 is for this node. A multicast group's entry is a mask of outputs; the packet does not go
//   back by its input i, port i, and output 0 stands in the mask as the others. `back`: port by which packets of input 0 leave that have
//   no way else, 0: none.
//   wr_en writes an entry: that of a node {alternate, port}, with wr_group that of a group. No entry is looked up in that clock.
//   Reset clears all entries, one in a clock, GROUPS <= NODES; `clearing` says so; then there are no ways, and nothing is to be written.
//   No number beyond the table has a way. Without `alive` ports there is none.
//
// Proven: net_table.formal.v, by induction with N=3, NODES=4, GROUPS=2. Source: doc/network.md.
module net_table #(
    parameter N      = 5,
    parameter NODES  = 4096,
    parameter GROUPS = 16
) (
    input  wire            clk,
    input  wire            rst,
    input  wire [15:0]     self,
    input  wire [$clog2(N)-1:0] back,
    input  wire [N-1:0]    alive,           // bit 0 is not looked at
    input  wire [N-1:0]    look,
    input  wire [16*N-1:0] dest,
    output wire [N-1:0]    looked,
    output reg  [N-1:0]    ways,

    output wire            clearing,
    input  wire            wr_en,
    input  wire            wr_group,
    input  wire [15:0]     wr_addr,
    input  wire [31:0]     wr_data,
    input  wire            rd_en,
    output wire            rd_done,
    output wire [31:0]     rd_value
);
`include "linkproto.vh"
    localparam NW = $clog2(N);
    localparam AW = $clog2(NODES);
    localparam GW = $clog2(GROUPS);

    // Inputs in turn, and then a read.
    reg  [N:0] served, behind;              // behind: those after the one served last
    wire [N:0] asking = {rd_en, look} & ~served & {N+1{!wr_en}};     // what is written as it is read comes out undefined
    wire [N:0] second = asking & behind;
    wire [N:0] turn   = second != 0 ? second : asking;
    wire [N:0] now    = turn & (~turn + 1'b1);
    wire [15:0] entry_at = wr_addr | ({16{wr_group}} & `LP_MULTICAST_BASE);
    reg  [15:0] asked;
    integer i;
    always @* begin
        asked = now[N] ? entry_at : 16'd0;
        for (i = 0; i < N; i = i + 1) if (now[i]) asked = asked | dest[16*i +: 16];
    end
    always @(posedge clk) begin
        served <= now;
        if (now != 0) behind <= ~(now | (now - 1'b1));
        if (rst) {served, behind} <= {2*N+2{1'b0}};
    end
    assign {rd_done, looked} = served;

    // Their entries.
    wire [2*NW-1:0] route;
    wire [N-1:0]    mask;
    reg  [AW:0]     cleared;
    assign clearing = !cleared[AW];
    always @(posedge clk) cleared <= rst ? {AW + 1{1'b0}} : cleared + {{AW{1'b0}}, clearing};
`ifdef FORMAL
    wire [AW-1:0]   f_route_at;
    wire [GW-1:0]   f_mask_at;
    wire [2*NW-1:0] f_route;
    wire [N-1:0]    f_masks;
`endif
    wire            wr_node = clearing || (wr_en && !wr_group && wr_addr >> AW == 0);
    wire            wr_mask = clearing || (wr_en && wr_group && wr_addr[11:0] >> GW == 0);
    wire [AW-1:0]   entry   = clearing ? cleared[AW-1:0] : wr_addr[AW-1:0];
    wire [31:0]     value   = clearing ? 32'd0 : wr_data;
    ram_sdp #(.WIDTH(2 * NW), .DEPTH(NODES)) u_routes (
        .clk(clk), .wr_en(wr_node), .wr_addr(entry), .wr_data({value[16 +: NW], value[0 +: NW]}),
        .rd_en(now != 0), .rd_addr(asked[AW-1:0]), .rd_data(route)
`ifdef FORMAL
        , .f_addr(f_route_at), .f_word(f_route)
`endif
    );
    ram_sdp #(.WIDTH(N), .DEPTH(GROUPS)) u_masks (
        .clk(clk), .wr_en(wr_mask), .wr_addr(entry[GW-1:0]), .wr_data(value[N-1:0]),
        .rd_en(now != 0), .rd_addr(asked[GW-1:0]), .rd_data(mask)
`ifdef FORMAL
        , .f_addr(f_mask_at), .f_word(f_masks)
`endif
    );
    wire unused = ^value;

    reg here, node, group;
    always @(posedge clk) begin
        here  <= self == 16'd0 ? !now[0] : asked == self;
        node  <= asked >> AW == 0 && !clearing;
        group <= !clearing && asked >= `LP_MULTICAST_BASE && asked[11:0] >> GW == 0;
    end

    function [N-1:0] only(input [NW-1:0] port);     // 0: none
        integer k;
        for (k = 0; k < N; k = k + 1) only[k] = k != 0 && port == k[NW-1:0];
    endfunction
    wire [N-1:0] first      = only(route[0 +: NW]) & alive & {N{node}};
    wire [N-1:0] second_way = only(route[NW +: NW]) & alive & {N{node}};
    wire [N-1:0] backward   = only(back) & alive & {N{looked[0]}};
    wire [N-1:0] members    = mask & {alive[N-1:1], 1'b1} & ~looked;
    always @*
        if (here)       ways = {{(N-1){1'b0}}, 1'b1};
        else if (group) ways = members;
        else            ways = first != 0 ? first : second_way != 0 ? second_way : backward;
    assign rd_value = group ? {{(32 - N){1'b0}}, mask} :
                      node  ? {{(16 - NW){1'b0}}, route[NW +: NW], {(16 - NW){1'b0}}, route[0 +: NW]} : 32'd0;
`ifdef FORMAL
`include "net_table.formal.v"
`endif
endmodule
`resetall
