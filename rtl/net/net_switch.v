`default_nettype none
// Switch: a router with a link at each of its ports.
//
// Contract:
//   nonce: of this life, as of link_endpoint; 0: the links stay down. node: its number, which whoever manages it gives it; 0 before that.
//   tick, tx_sym / tx_ready, rx_sym / rx_valid: symbols to and from the PHY of each of the LANES of each link 1 .. PORTS, lowest
//   first, as of link_lanes. SPACED as of net_links.
//   BARRIER, 1: it carries out barriers. status: of each link, as of link_endpoint.
//   All else is managed by datagrams for its number, as of net_manage.
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
    parameter WIDTH        = 1,
    parameter LANES        = 1,
    parameter PATIENCE     = 4096,
    parameter BARRIER      = 0,
    parameter [PORTS-1:0] SPACED = 0,
    parameter [63:0] SOURCE_HASH = 64'd0
) (
    input  wire                clk,
    input  wire                rst,
    input  wire [31:0]         nonce,
    output wire [15:0]         node,

    input  wire [LANES*PORTS-1:0]   tick,
    output wire [9*LANES*PORTS-1:0] tx_sym,
    input  wire [LANES*PORTS-1:0]   tx_ready,
    input  wire [9*LANES*PORTS-1:0] rx_sym,
    input  wire [LANES*PORTS-1:0]   rx_valid,

    output wire [16*PORTS-1:0] status
);
`include "linkproto.vh"
    localparam NW = $clog2(PORTS + 1);
    localparam DW = 8 * WIDTH;

    // This node's port of the router: requests, q_*, and answers, a_*.
    wire             q_valid, q_ready, q_last, q_cancel, q_room, a_valid, a_ready, a_last;
    wire [DW-1:0]    q_data, a_data;
    wire [WIDTH-1:0] q_keep, a_keep;
    wire [NW-1:0]    from, back;
    wire [8*PORTS-1:0]  lanes;
    wire [18*PORTS-1:0] peer;
    wire [16*PORTS-1:0] events;
    wire [PORTS:0]      ev_bad, ev_lost, ev_hops, ev_late;
    wire                clearing, table_group, table_read, table_done, table_write;
    wire [15:0]         table_addr;
    wire [31:0]         table_wdata, table_value, b_value;
    wire                b_en, b_done, b_ok;
    wire        reg_en, reg_write, reg_done, reg_ok, ident_en, ident_done, ident_ok, ev_taken, ev_answered, ev_refused, ev_unanswered;
    wire [15:0] reg_addr;
    wire [31:0] reg_wdata, reg_value, ident_value;
    net_links #(
        .PORTS(PORTS), .MAX_PACKET(PAGE_BYTES + `LP_PACKET_EXTRA + `LP_ROUTE_EXTRA), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES),
        .HEADROOM(HEADROOM), .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT),
        .SLOTS(SLOTS), .NODES(NODES), .GROUPS(GROUPS), .WIDTH(WIDTH), .LANES(LANES), .BARRIER(BARRIER), .SPACED(SPACED)
    ) u_links (
        .clk(clk), .rst(rst), .node(node), .nonce(nonce), .renew(1'b0), .soon(1'b0), .back(back), .from(from),
        .strict(1'b0), .s_valid(a_valid), .s_ready(a_ready), .s_data(a_data), .s_keep(a_keep), .s_last(a_last), .s_void(1'b0),
        .m_valid(q_valid), .m_ready(q_ready), .m_data(q_data), .m_keep(q_keep), .m_last(q_last), .cancel(q_cancel), .has_room(q_room),
        .overdue(1'b0),
        .tick(tick), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid),
        .clearing(clearing), .wr_en(table_write), .wr_group(table_group), .wr_addr(table_addr), .wr_data(table_wdata),
        .rd_en(table_read), .rd_done(table_done), .rd_value(table_value),
        .b_en(b_en), .b_write(reg_write), .b_addr(reg_addr[6:0]), .b_wdata(reg_wdata), .b_done(b_done), .b_ok(b_ok), .b_value(b_value),
        .status(status), .lanes(lanes), .peer(peer), .events(events),
        .ev_bad(ev_bad), .ev_lost(ev_lost), .ev_hops(ev_hops), .ev_late(ev_late)
    );

    net_manage #(.PORTS(PORTS), .WIDTH(WIDTH), .PATIENCE(PATIENCE)) u_manage (
        .clk(clk), .rst(rst), .node(node),
        .s_valid(q_valid), .s_ready(q_ready), .s_data(q_data), .s_keep(q_keep), .s_last(q_last), .s_cancel(q_cancel),
        .has_room(q_room), .from(from),
        .m_valid(a_valid), .m_ready(a_ready), .m_data(a_data), .m_keep(a_keep), .m_last(a_last), .back(back),
        .reg_en(reg_en), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata),
        .reg_done(reg_done), .reg_ok(reg_ok), .reg_value(reg_value),
        .ev_taken(ev_taken), .ev_answered(ev_answered), .ev_bad(ev_refused), .ev_late(ev_unanswered)
    );
    // What counts at port 0.
    wire [15:0] own = {15'd0, ev_taken} << `LP_CNT_RX_PACKETS | {15'd0, ev_answered} << `LP_CNT_TX_PACKETS
        | {15'd0, ev_refused} << `LP_CNT_BAD_PACKET | {15'd0, ev_unanswered} << `LP_CNT_LOST_PACKETS;
    localparam [15:0] UP = 16'd1 << `LP_LINK_STATUS_UP_BIT;
    net_regs #(.PORTS(PORTS), .NODES(NODES), .GROUPS(GROUPS), .BARRIER(BARRIER), .WIDTH(WIDTH), .LANES(LANES)) u_regs (
        .clk(clk), .rst(rst), .reg_en(reg_en), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata),
        .reg_done(reg_done), .reg_ok(reg_ok), .reg_value(reg_value),
        .m_en(ident_en), .m_done(ident_done), .m_ok(ident_ok), .m_value(ident_value),
        .status({status, UP}), .lanes({lanes, 8'd0}), .peer({peer, 18'd0}), .events({events, own}),
        .ev_bad(ev_bad), .ev_lost(ev_lost), .ev_hops(ev_hops), .ev_late(ev_late),
        .clearing(clearing), .table_group(table_group), .table_addr(table_addr), .table_read(table_read), .table_done(table_done),
        .table_value(table_value), .table_write(table_write), .table_wdata(table_wdata),
        .b_en(b_en), .b_done(b_done), .b_ok(b_ok), .b_value(b_value)
    );
    net_ident #(.PORTS(PORTS), .BARRIER(BARRIER), .SOURCE_HASH(SOURCE_HASH)) u_ident (
        .clk(clk), .rst(rst), .reg_en(ident_en), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata),
        .reg_done(ident_done), .reg_ok(ident_ok), .reg_value(ident_value), .node(node), .nonce(nonce)
    );
endmodule
`resetall
