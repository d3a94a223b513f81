`default_nettype none
// Switch: a router with a link at each of its ports.
//
// Contract:
//   node, nonce: who it is, as of link_endpoint; nonce 0: the links stay down.
//   tick, tx_sym / tx_ready, rx_sym / rx_valid: symbols to and from the PHY of each link 1 .. PORTS, lowest first, as of link_endpoint.
//   clearing, wr_*: writes the routing table, as of net_table. status, peer, events: of each link, as of link_endpoint.
//   ev_*: as of net_router.
//
// Source: doc/network.md.
module net_switch #(
    parameter PORTS        = 4,
    parameter PAGE_BYTES   = 1024,
    parameter REPLAY_BYTES = 4096,
    parameter RX_BYTES     = 4096,
    parameter HEADROOM     = 256,
    parameter ACK_DELAY    = 512,
    parameter WORD_TIMER   = 4096,
    parameter RETRY        = 16384,
    parameter RETRY_LIMIT  = 8,
    parameter SLOTS        = 8,
    parameter NODES        = 4096,
    parameter GROUPS       = 16,
    parameter WIDTH        = 1
) (
    input  wire                clk,
    input  wire                rst,
    input  wire [15:0]         node,
    input  wire [31:0]         nonce,

    input  wire [PORTS-1:0]    tick,
    output wire [9*PORTS-1:0]  tx_sym,
    input  wire [PORTS-1:0]    tx_ready,
    input  wire [9*PORTS-1:0]  rx_sym,
    input  wire [PORTS-1:0]    rx_valid,

    output wire                clearing,
    input  wire                wr_en,
    input  wire                wr_group,
    input  wire [15:0]         wr_addr,
    input  wire [31:0]         wr_data,

    output wire [16*PORTS-1:0] status,
    output wire [18*PORTS-1:0] peer,
    output wire [16*PORTS-1:0] events,
    output wire [PORTS:0]      ev_bad,
    output wire [PORTS:0]      ev_lost,
    output wire [PORTS:0]      ev_hops,
    output wire [PORTS:0]      ev_late
);
`include "linkproto.vh"
    localparam MAX_PACKET = PAGE_BYTES + `LP_PACKET_EXTRA + `LP_ROUTE_EXTRA;
    localparam SLOT_BYTES = 1 << $clog2(MAX_PACKET);
    localparam DW = 8 * WIDTH;

    wire [PORTS:0]              s_valid, s_ready, s_last, s_void, m_valid, m_ready, m_last, m_cancel, has_room, gap, admit, alive;
    wire [DW*(PORTS+1)-1:0]     s_data, m_data;
    wire [WIDTH*(PORTS+1)-1:0]  s_keep, m_keep;
    wire [16*(PORTS+1)-1:0]     from;
    net_router #(.PORTS(PORTS), .SLOTS(SLOTS), .SLOT_BYTES(SLOT_BYTES), .WIDTH(WIDTH), .NODES(NODES), .GROUPS(GROUPS)) u_router (
        .clk(clk), .rst(rst), .self(node), .alive(alive), .strict({PORTS + 1{1'b0}}), .peer(from),
        .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_keep(s_keep), .s_last(s_last), .s_void(s_void),
        .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_keep(m_keep), .m_last(m_last), .m_cancel(m_cancel),
        .has_room(has_room), .gap(gap), .admit(admit),
        .clearing(clearing), .wr_en(wr_en), .wr_group(wr_group), .wr_addr(wr_addr), .wr_data(wr_data),
        .ev_bad(ev_bad), .ev_lost(ev_lost), .ev_hops(ev_hops), .ev_late(ev_late)
    );

    // This node takes packets and drops them.
    assign {s_valid[0], s_data[DW-1:0], s_keep[WIDTH-1:0], s_last[0], s_void[0]} = {DW + WIDTH + 3{1'b0}};
    wire unused_here = ^{s_ready[0], m_valid[0], m_last[0], m_cancel[0], m_data[DW-1:0], m_keep[WIDTH-1:0], admit[0]};
    assign {m_ready[0], has_room[0], gap[0], alive[0], from[15:0]} = {4'b1101, node};

    genvar p;
    generate
        for (p = 1; p <= PORTS; p = p + 1) begin : g_link
            wire [15:0] state;
            wire        coming, takes, sure;
            wire [15:0] freed_bytes;
            wire [7:0]  freed_packets;
            wire        unused = ^{coming, takes, sure, freed_bytes, freed_packets};
            link_endpoint #(
                .PORT(p), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .HEADROOM(HEADROOM),
                .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT),
                .EARLY(1), .ROUTES(1), .WIDTH(WIDTH)
            ) u_end (
                .clk(clk), .rst(rst), .node(node), .nonce(nonce), .anonymous(nonce == 32'd0), .renew(1'b0), .soon(1'b0),
                .s_valid(m_valid[p]), .s_ready(m_ready[p]), .s_data(m_data[DW*p +: DW]), .s_keep(m_keep[WIDTH*p +: WIDTH]),
                .s_last(m_last[p]),
                .cancel(m_cancel[p]), .has_room(has_room[p]), .size(16'd0), .takes(takes), .refused(1'b0), .admit(admit[p]),
                .freed_bytes(freed_bytes), .freed_packets(freed_packets),
                .m_valid(s_valid[p]), .m_ready(s_ready[p]), .m_data(s_data[DW*p +: DW]), .m_keep(s_keep[WIDTH*p +: WIDTH]),
                .m_last(s_last[p]), .m_sure(sure), .m_void(s_void[p]), .coming(coming),
                .tick(tick[p-1]), .tx_sym(tx_sym[9*(p-1) +: 9]), .tx_ready(tx_ready[p-1]),
                .rx_sym(rx_sym[9*(p-1) +: 9]), .rx_valid(rx_valid[p-1]),
                .status(state), .peer(peer[18*(p-1) +: 18]), .events(events[16*(p-1) +: 16])
            );
            assign status[16*(p-1) +: 16] = state;
            assign gap[p]   = state[`LP_LINK_STATUS_LOST_BIT];
            assign alive[p] = state[`LP_LINK_STATUS_UP_BIT];
            assign from[16*p +: 16] = peer[18*(p-1) +: 16];
        end
    endgenerate
endmodule
`resetall
