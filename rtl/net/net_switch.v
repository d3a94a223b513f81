`default_nettype none
// Switch: a router with a link at each of its ports.
//
// Contract:
//   node, nonce: who it is, as of net_links.
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
    // This node takes packets and drops them.
    wire                ready, valid, last, cancel;
    wire [8*WIDTH-1:0]  data;
    wire [WIDTH-1:0]    keep;
    wire [$clog2(PORTS+1)-1:0] from;
    wire                read;
    wire [31:0]         value;
    wire                unused = ^{from, read, value, ready, valid, last, cancel, data, keep};
    net_links #(
        .PORTS(PORTS), .MAX_PACKET(PAGE_BYTES + `LP_PACKET_EXTRA + `LP_ROUTE_EXTRA), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES),
        .HEADROOM(HEADROOM), .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT),
        .SLOTS(SLOTS), .NODES(NODES), .GROUPS(GROUPS), .WIDTH(WIDTH)
    ) u_links (
        .clk(clk), .rst(rst), .node(node), .nonce(nonce), .renew(1'b0), .soon(1'b0), .back({$clog2(PORTS+1){1'b0}}), .from(from),
        .strict(1'b0), .s_valid(1'b0), .s_ready(ready), .s_data({8 * WIDTH{1'b0}}), .s_keep({WIDTH{1'b0}}), .s_last(1'b0), .s_void(1'b0),
        .m_valid(valid), .m_ready(1'b1), .m_data(data), .m_keep(keep), .m_last(last), .cancel(cancel), .has_room(1'b1), .overdue(1'b0),
        .tick(tick), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid),
        .clearing(clearing), .wr_en(wr_en), .wr_group(wr_group), .wr_addr(wr_addr), .wr_data(wr_data),
        .rd_en(1'b0), .rd_done(read), .rd_value(value),
        .status(status), .peer(peer), .events(events), .ev_bad(ev_bad), .ev_lost(ev_lost), .ev_hops(ev_hops), .ev_late(ev_late)
    );
endmodule
`resetall
