`default_nettype none
// A router with a link at each of its ports but port 0, which is the caller's: what a switch and a network interface have in common.
//
// Contract:
//   node, nonce, renew, soon: who it is, as of link_endpoint; nonce 0: the links stay down. EARLY as of link_rx.
//   s_*: packets of this node, as of net_router; they are to be from this node if `strict`. m_*, cancel, has_room, overdue: those for it,
//   as of net_router's port 0.
//   tick, tx_sym / tx_ready, rx_sym / rx_valid: symbols to and from the PHY of each of the LANES of each link 1 .. PORTS, lowest first,
//   as of link_lanes.
//   back, clearing, wr_*, rd_*: as of net_table. from: as of net_router. status, peer, events: of each link, as of link_endpoint. lanes: of
//   each, over which of several frames go, a bit each.
//   ev_*: as of net_router. b_*: registers of barriers, BARRIER 1, as of net_barrier.
//   SPACED: links, a bit each, whose PHY does not bring a symbol a clock. What comes by them goes on when it has come whole.
//
// Source: doc/network.md.
module net_links #(
    parameter PORTS        = 4,
    parameter MAX_PACKET   = 1049,
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
    parameter EARLY        = 2,
    parameter WIDTH        = 1,
    parameter LANES        = 1,
    parameter BARRIER      = 0,
    parameter [PORTS-1:0] SPACED = 0
) (
    input  wire                clk,
    input  wire                rst,
    input  wire [15:0]         node,
    input  wire [31:0]         nonce,
    input  wire                renew,
    input  wire                soon,
    input  wire [$clog2(PORTS+1)-1:0] back,
    output wire [$clog2(PORTS+1)-1:0] from,

    input  wire                strict,
    input  wire                s_valid,
    output wire                s_ready,
    input  wire [8*WIDTH-1:0]  s_data,
    input  wire [WIDTH-1:0]    s_keep,
    input  wire                s_last,
    input  wire                s_void,
    output wire                m_valid,
    input  wire                m_ready,
    output wire [8*WIDTH-1:0]  m_data,
    output wire [WIDTH-1:0]    m_keep,
    output wire                m_last,
    output wire                cancel,
    input  wire                has_room,
    input  wire                overdue,

    input  wire [LANES*PORTS-1:0]   tick,
    output wire [9*LANES*PORTS-1:0] tx_sym,
    input  wire [LANES*PORTS-1:0]   tx_ready,
    input  wire [9*LANES*PORTS-1:0] rx_sym,
    input  wire [LANES*PORTS-1:0]   rx_valid,

    output wire                clearing,
    input  wire                wr_en,
    input  wire                wr_group,
    input  wire [15:0]         wr_addr,
    input  wire [31:0]         wr_data,
    input  wire                rd_en,
    output wire                rd_done,
    output wire [31:0]         rd_value,

    input  wire                b_en,
    input  wire                b_write,
    input  wire [6:0]          b_addr,
    input  wire [31:0]         b_wdata,
    output wire                b_done,
    output wire                b_ok,
    output wire [31:0]         b_value,

    output wire [16*PORTS-1:0] status,
    output wire [8*PORTS-1:0]  lanes,
    output wire [18*PORTS-1:0] peer,
    output wire [16*PORTS-1:0] events,
    output wire [PORTS:0]      ev_bad,
    output wire [PORTS:0]      ev_lost,
    output wire [PORTS:0]      ev_hops,
    output wire [PORTS:0]      ev_late
);
`include "linkproto.vh"
    localparam DW = 8 * WIDTH;

    // Of links: what comes by them, l_*, and what leaves, o_*.
    wire [PORTS-1:0]       l_valid, l_ready, l_last, l_void, o_valid, o_ready, o_last, o_cancel, o_room, gap, admit, alive;
    wire [DW*PORTS-1:0]    l_data, o_data;
    wire [WIDTH*PORTS-1:0] l_keep, o_keep;
    wire                   unused_admit;
    net_router #(
        .PORTS(PORTS), .SLOTS(SLOTS), .SLOT_BYTES(1 << $clog2(MAX_PACKET)), .WIDTH(WIDTH), .NODES(NODES), .GROUPS(GROUPS)
    ) u_router (
        .clk(clk), .rst(rst), .self(node), .back(back), .from(from), .alive({alive, 1'b1}),
        .strict({{PORTS{1'b0}}, strict}), .peer({{PORTS{16'd0}}, node}),
        .s_valid({l_valid, s_valid}), .s_ready({l_ready, s_ready}), .s_data({l_data, s_data}), .s_keep({l_keep, s_keep}),
        .s_last({l_last, s_last}), .s_void({l_void, s_void}),
        .m_valid({o_valid, m_valid}), .m_ready({o_ready, m_ready}), .m_data({o_data, m_data}), .m_keep({o_keep, m_keep}),
        .m_last({o_last, m_last}), .m_cancel({o_cancel, cancel}),
        .has_room({o_room, has_room}), .overdue({{PORTS{1'b0}}, overdue}), .gap({gap, 1'b0}), .admit({admit, unused_admit}),
        .clearing(clearing), .wr_en(wr_en), .wr_group(wr_group), .wr_addr(wr_addr), .wr_data(wr_data),
        .rd_en(rd_en), .rd_done(rd_done), .rd_value(rd_value),
        .ev_bad(ev_bad), .ev_lost(ev_lost), .ev_hops(ev_hops), .ev_late(ev_late)
    );

    wire [PORTS-1:0]    say, say_take;
    wire [15*PORTS-1:0] heard;
    wire [12:0]         word;               // to be said, by any of them
    generate
        if (BARRIER != 0) begin : g_barrier
            net_barrier #(.PORTS(PORTS)) u_barrier (
                .clk(clk), .rst(rst), .tick(tick[0]), .alive(alive), .heard(heard), .s_valid(say), .s_word(word), .s_take(say_take),
                .reg_en(b_en), .reg_write(b_write), .reg_addr(b_addr), .reg_wdata(b_wdata),
                .reg_done(b_done), .reg_ok(b_ok), .reg_value(b_value)
            );
        end else begin : g_no_barrier
            assign {say, word, b_done, b_ok, b_value} = 0;
            wire unused_barrier = ^{heard, say_take, b_en, b_write, b_addr, b_wdata};
        end
    endgenerate

    reg anonymous;
    always @(posedge clk) anonymous <= nonce == 32'd0;

    genvar p;
    generate
        for (p = 0; p < PORTS; p = p + 1) begin : g_link
            wire        coming, takes, sure;
            wire [LANES-1:0] open, foreign;
            wire [15:0] freed_bytes;
            wire [7:0]  freed_packets;
            wire [LANES+7:0] all = {8'd0, open};
            wire        unused = ^{coming, takes, sure, freed_bytes, freed_packets, all, foreign};
            assign lanes[8*p +: 8] = LANES == 1 ? 8'd0 : all[7:0];
            link_lanes #(
                .LANES(LANES), .PORT(p + 1), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .HEADROOM(HEADROOM),
                .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT),
                .EARLY(SPACED[p] ? 0 : EARLY), .ROUTES(1), .BARRIER(BARRIER), .WIDTH(WIDTH)
            ) u_end (
                .clk(clk), .rst(rst), .node(node), .nonce(nonce), .anonymous(anonymous), .renew(renew), .soon(soon),
                .s_valid(o_valid[p]), .s_ready(o_ready[p]), .s_data(o_data[DW*p +: DW]), .s_keep(o_keep[WIDTH*p +: WIDTH]),
                .s_last(o_last[p]),
                .cancel(o_cancel[p]), .has_room(o_room[p]), .size(16'd0), .takes(takes), .refused(1'b0), .admit(admit[p]),
                .freed_bytes(freed_bytes), .freed_packets(freed_packets),
                .m_valid(l_valid[p]), .m_ready(l_ready[p]), .m_data(l_data[DW*p +: DW]), .m_keep(l_keep[WIDTH*p +: WIDTH]),
                .m_last(l_last[p]), .m_sure(sure), .m_void(l_void[p]), .coming(coming),
                .say({say[p], word}), .say_take(say_take[p]), .heard(heard[15*p +: 15]),
                .tick(tick[LANES*p +: LANES]), .tx_sym(tx_sym[9*LANES*p +: 9*LANES]), .tx_ready(tx_ready[LANES*p +: LANES]),
                .rx_sym(rx_sym[9*LANES*p +: 9*LANES]), .rx_valid(rx_valid[LANES*p +: LANES]),
                .status(status[16*p +: 16]), .peer(peer[18*p +: 18]), .events(events[16*p +: 16]),
                .open(open), .foreign(foreign)
            );
            assign gap[p]   = status[16*p + `LP_LINK_STATUS_LOST_BIT];
            assign alive[p] = status[16*p + `LP_LINK_STATUS_UP_BIT];
        end
    endgenerate
endmodule
`resetall
