`default_nettype none
// The network behind a network interface, in the place of ni_endpoint of its only link: a router, and a link at each of its ports.
//
// Contract:
//   s_*, cancel, has_room, size, takes, refused, admit, freed_*: packets of the host, as of net_local: ROUTEs from this node; any other is
//   dropped, ev_bad of the router's port 0.
//   v_*: ROUTEs of virtual links, if VIRTUAL is not 0, on trial while they come: they take turns with the host's.
//   m_*: ROUTEs for this node, on trial while they come; m_void (pulse, m_valid low) takes back what has come of one. One begins only while
//   `room` is high, or is dropped. overdue: as of net_router.
//   status, peer, events: of the network as of one link, which is up as soon as there is a nonce, and of which OWN_STOP says that it has no
//   room; with trapped, ev_denied and ev_bad as of ni_endpoint.
//   reg_*: as of net_regs, the router's registers; what is for others goes on to n_*. LANES, tick, tx_*, rx_*: of the links, as
//   of net_links. BARRIER, 1: the router carries out barriers.
//
// Source: doc/network.md.
module ni_network #(
    parameter ROUTER       = 2,
    parameter REPLAY_BYTES = 4096,
    parameter RX_BYTES     = 4096,
    parameter MAX_PACKET   = 1049,
    parameter HEADROOM     = 256,
    parameter ACK_DELAY    = 512,
    parameter WORD_TIMER   = 4096,
    parameter RETRY        = 16384,
    parameter RETRY_LIMIT  = 8,
    parameter EARLY        = 2,
    parameter VIRTUAL      = 0,
    parameter WIDTH        = 1,
    parameter LANES        = 1,
    parameter BARRIER      = 0
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [15:0] node,
    input  wire [31:0] nonce,
    input  wire        renew,
    input  wire        soon,

    input  wire        s_valid,
    input  wire [8*WIDTH-1:0] s_data,
    input  wire [WIDTH-1:0]   s_keep,
    input  wire        s_last,
    input  wire        cancel,
    output wire        has_room,
    input  wire [15:0] size,
    output wire        takes,
    input  wire        refused,
    input  wire        admit,
    output wire [15:0] freed_bytes,
    output wire [7:0]  freed_packets,

    input  wire        v_valid,
    output wire        v_ready,
    input  wire [8*WIDTH-1:0] v_data,
    input  wire [WIDTH-1:0]   v_keep,
    input  wire        v_last,
    input  wire        v_void,

    output wire        m_valid,
    input  wire        m_ready,
    output wire [8*WIDTH-1:0] m_data,
    output wire [WIDTH-1:0]   m_keep,
    output wire        m_last,
    output wire        m_void,
    input  wire        room,
    input  wire        overdue,
    input  wire        trapped,
    input  wire        ev_denied,
    input  wire        ev_bad,

    output wire [15:0] status,
    output wire [17:0] peer,
    output reg  [15:0] events,

    input  wire        reg_en,
    input  wire        reg_write,
    input  wire [15:0] reg_addr,
    input  wire [31:0] reg_wdata,
    output wire        reg_done,
    output wire        reg_ok,
    output wire [31:0] reg_value,
    output wire        n_en,
    input  wire        n_done,
    input  wire        n_ok,
    input  wire [31:0] n_value,

    input  wire [LANES*ROUTER-1:0]   tick,
    output wire [9*LANES*ROUTER-1:0] tx_sym,
    input  wire [LANES*ROUTER-1:0]   tx_ready,
    input  wire [9*LANES*ROUTER-1:0] rx_sym,
    input  wire [LANES*ROUTER-1:0]   rx_valid
);
`include "linkproto.vh"

    wire               own_valid, own_ready, own_last, own_void, queued, gap;
    wire [8*WIDTH-1:0] own_data;
    wire [WIDTH-1:0]   own_keep;
    net_local #(.REPLAY_BYTES(REPLAY_BYTES), .MAX_PACKET(MAX_PACKET), .WIDTH(WIDTH)) u_local (
        .clk(clk), .rst(rst), .s_valid(s_valid), .s_data(s_data), .s_keep(s_keep), .s_last(s_last), .cancel(cancel),
        .has_room(has_room), .size(size), .takes(takes), .refused(refused), .admit(admit),
        .freed_bytes(freed_bytes), .freed_packets(freed_packets), .queued(queued), .gap(gap),
        .m_valid(own_valid), .m_ready(own_ready), .m_data(own_data), .m_keep(own_keep), .m_last(own_last), .m_void(own_void)
    );
    wire               in_valid, in_ready, in_last, in_void;
    wire [8*WIDTH-1:0] in_data;
    wire [WIDTH-1:0]   in_keep;
    generate
        if (VIRTUAL != 0) begin : g_virtual
            reg  own_runs, v_runs, v_next;      // a packet is underway; whose turn is next
            wire v_turn = !own_runs && (v_runs || (v_valid && (v_next || !own_valid)));
            assign in_valid  = v_turn ? v_valid : own_valid;
            assign in_data   = v_turn ? v_data : own_data;
            assign in_keep   = v_turn ? v_keep : own_keep;
            assign in_last   = v_turn ? v_last : own_last;
            assign in_void   = (own_void && own_runs) || (v_void && v_runs);
            assign own_ready = in_ready && !v_turn;
            assign v_ready   = in_ready && v_turn;
            always @(posedge clk) begin
                if (in_valid && in_ready) begin
                    {own_runs, v_runs} <= {!v_turn, v_turn} & {2{!in_last}};
                    v_next <= !v_turn;
                end
                if (own_void) own_runs <= 1'b0;
                if (v_void)   v_runs   <= 1'b0;
                if (rst) {own_runs, v_runs, v_next} <= 3'b000;
            end
        end else begin : g_host
            assign {in_valid, in_data, in_keep, in_last, in_void} = {own_valid, own_data, own_keep, own_last, own_void};
            assign {own_ready, v_ready} = {in_ready, 1'b0};
            wire unused_virtual = ^{v_valid, v_data, v_keep, v_last, v_void};
        end
    endgenerate

    wire                 clearing, wr_en, wr_group, rd_en, rd_done;
    wire [15:0]          wr_addr;
    wire [31:0]          wr_data, rd_value, b_value;
    wire                 b_en, b_done, b_ok;
    wire [16*ROUTER-1:0] l_status, l_events;
    wire [8*ROUTER-1:0]  l_lanes;
    wire [18*ROUTER-1:0] l_peer;
    wire [ROUTER:0]      e_bad, e_lost, e_hops, e_late;
    wire [$clog2(ROUTER+1)-1:0] unused_from;
    net_links #(
        .PORTS(ROUTER), .MAX_PACKET(MAX_PACKET), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .HEADROOM(HEADROOM),
        .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT), .EARLY(EARLY), .WIDTH(WIDTH),
        .LANES(LANES), .BARRIER(BARRIER)
    ) u_links (
        .clk(clk), .rst(rst), .node(node), .nonce(nonce), .renew(renew), .soon(soon),
        .back({$clog2(ROUTER+1){1'b0}}), .from(unused_from), .strict(1'b1),
        .s_valid(in_valid), .s_ready(in_ready), .s_data(in_data), .s_keep(in_keep), .s_last(in_last), .s_void(in_void),
        .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_keep(m_keep), .m_last(m_last), .cancel(m_void),
        .has_room(room), .overdue(overdue),
        .tick(tick), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid),
        .clearing(clearing), .wr_en(wr_en), .wr_group(wr_group), .wr_addr(wr_addr), .wr_data(wr_data),
        .rd_en(rd_en), .rd_done(rd_done), .rd_value(rd_value),
        .b_en(b_en), .b_write(reg_write), .b_addr(reg_addr[6:0]), .b_wdata(reg_wdata), .b_done(b_done), .b_ok(b_ok), .b_value(b_value),
        .status(l_status), .lanes(l_lanes), .peer(l_peer), .events(l_events),
        .ev_bad(e_bad), .ev_lost(e_lost), .ev_hops(e_hops), .ev_late(e_late)
    );

    net_regs #(.PORTS(ROUTER), .BARRIER(BARRIER), .WIDTH(WIDTH), .LANES(LANES)) u_regs (
        .clk(clk), .rst(rst),
        .reg_en(reg_en), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata),
        .reg_done(reg_done), .reg_ok(reg_ok), .reg_value(reg_value),
        .m_en(n_en), .m_done(n_done), .m_ok(n_ok), .m_value(n_value),
        .status({l_status, status}), .lanes({l_lanes, 8'd0}), .peer({l_peer, peer}), .events({l_events, events}),
        .ev_bad(e_bad), .ev_lost(e_lost), .ev_hops(e_hops), .ev_late(e_late),
        .clearing(clearing), .table_group(wr_group), .table_addr(wr_addr), .table_read(rd_en), .table_done(rd_done), .table_value(rd_value),
        .table_write(wr_en), .table_wdata(wr_data),
        .b_en(b_en), .b_done(b_done), .b_ok(b_ok), .b_value(b_value)
    );

    localparam [7:0] EPOCH = 8'd1;      // it never starts again
    reg up;
    always @(posedge clk) up <= nonce != 32'd0 && !rst;
    assign status = {EPOCH, 1'b0, gap, queued, 1'b0, trapped, !room, 1'b0, up};
    assign peer   = 18'd0;              // there is no single one
    always @(posedge clk) begin
        events <= 16'd0;
        events[`LP_CNT_RX_PACKETS] <= m_valid && m_ready && m_last;
        events[`LP_CNT_TX_PACKETS] <= in_valid && in_ready && in_last;
        events[`LP_CNT_BAD_PACKET] <= ev_bad;
        events[`LP_CNT_DENIED]     <= ev_denied;
        events[`LP_CNT_NO_SPACE]   <= refused;
        if (rst) events <= 16'd0;
    end
endmodule
`resetall
