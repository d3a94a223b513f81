`default_nettype none
// What every port has, the host's and the links': a link endpoint, in test builds an error injector between it and the PHY, and the port's
// status and events.
//
// Contract:
//   node, nonce, anonymous, renew, soon, EARLY, SPACED, ROUTES, s_* / m_*, cancel, coming, has_room, size, takes, refused, admit, freed_*,
//   tick, tx_*, rx_*, peer: as link_endpoint's.
//   status: LINK_STATUS without freed_packets, with `trapped`; of the host's port, PORT 0, whose packets are never refused, without QUEUED
//   and LOST. events: those of the link layer and with them, each one clock late at most, `refused`, ev_denied and ev_bad, of a packet that
//   the unit behind m_* has dropped.
//   lanes: over which of several frames go, a bit each. LANES: how many the link has; tick, tx_*, rx_* of each, as of link_lanes.
//   i_*: the registers of the injector, INJECT 1, and what it says.
//
// Source: doc/protocol.md, "Registers".
module ni_endpoint #(
    parameter PORT         = 1,
    parameter REPLAY_BYTES = 4096,
    parameter RX_BYTES     = 4096,
    parameter MAX_PACKET   = 1032,
    parameter HEADROOM     = 256,
    parameter ACK_DELAY    = 512,
    parameter WORD_TIMER   = 4096,
    parameter RETRY        = 16384,
    parameter RETRY_LIMIT  = 8,
    parameter INJECT       = 0,
    parameter LANES        = 1,
    parameter EARLY        = 0,
    parameter SPACED       = 0,
    parameter ROUTES       = 0,
    parameter WIDTH        = 1
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [15:0] node,
    input  wire [31:0] nonce,
    input  wire        anonymous,
    input  wire        renew,
    input  wire        soon,

    input  wire        s_valid,
    output wire        s_ready,
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

    output wire        m_valid,
    input  wire        m_ready,
    output wire [8*WIDTH-1:0] m_data,
    output wire [WIDTH-1:0]   m_keep,
    output wire        m_last,
    output wire        m_sure,
    output wire        m_void,
    output wire        coming,
    input  wire        trapped,
    input  wire        ev_denied,
    input  wire        ev_bad,

    input  wire [LANES-1:0]   tick,
    output wire [9*LANES-1:0] tx_sym,
    input  wire [LANES-1:0]   tx_ready,
    input  wire [9*LANES-1:0] rx_sym,
    input  wire [LANES-1:0]   rx_valid,

    output wire [15:0] status,
    output wire [7:0]  lanes,
    output wire [17:0] peer,
    output wire [15:0] events,

    input  wire        i_wr_en,
    input  wire [3:0]  i_wr_reg,
    input  wire [31:0] i_wr_data,
    output wire        i_running,
    output wire        i_cut,
    output wire [31:0] i_symbols,
    output wire [31:0] i_hits,
    output wire        i_hit
);
`include "linkproto.vh"

    localparam [15:0] OF_LINKS = 16'd1 << `LP_LINK_STATUS_QUEUED_BIT | 16'd1 << `LP_LINK_STATUS_LOST_BIT;
    wire [9*LANES-1:0] link_sym;
    wire [LANES-1:0]   link_ready, open, unused_foreign;
    wire [LANES+7:0]   all = {8'd0, open};
    wire               unused_all = ^all[LANES+7:8];
    wire               unused_take;
    wire [14:0]        unused_heard;
    assign lanes = LANES == 1 ? 8'd0 : all[7:0];
    wire [15:0] link_status;
    wire [15:0] link_events;
    link_lanes #(
        .LANES(LANES), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .HEADROOM(HEADROOM),
        .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT), .PORT(PORT),
        .EARLY(EARLY), .ROUTES(ROUTES), .SPACED(SPACED), .WIDTH(WIDTH),
        .SILENCE(PORT == 0 ? 0 : `LP_SILENT_TIMERS * WORD_TIMER)    // a host may be silent for as long as it likes
    ) u_link (
        .clk(clk), .rst(rst), .node(node), .nonce(nonce), .anonymous(anonymous), .renew(renew), .soon(soon),
        .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_keep(s_keep), .s_last(s_last), .cancel(cancel),
        .has_room(has_room), .size(size), .takes(takes), .refused(refused), .admit(admit),
        .freed_bytes(freed_bytes), .freed_packets(freed_packets),
        .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_keep(m_keep), .m_last(m_last), .m_sure(m_sure), .m_void(m_void),
        .coming(coming), .say(14'd0), .say_take(unused_take), .heard(unused_heard),
        .tick(tick), .tx_sym(link_sym), .tx_ready(link_ready), .rx_sym(rx_sym), .rx_valid(rx_valid),
        .status(link_status), .peer(peer), .events(link_events), .open(open), .foreign(unused_foreign)
    );
    assign status = (PORT == 0 ? link_status & ~OF_LINKS : link_status) | {15'd0, trapped} << `LP_LINK_STATUS_TRAPPED_BIT;

    // A packet that the link drops and one that is dropped behind it may do so in the same clock: the second is counted one clock later.
    reg  bad_waits;
    wire bad_before = link_events[`LP_CNT_BAD_PACKET];
    always @(posedge clk) bad_waits <= !rst && ((bad_before && ev_bad) || (bad_waits && (bad_before || ev_bad)));
    assign events = link_events | {15'd0, ev_bad || bad_waits} << `LP_CNT_BAD_PACKET
        | {15'd0, ev_denied} << `LP_CNT_DENIED | {15'd0, refused} << `LP_CNT_NO_SPACE;

    generate
        if (INJECT != 0) begin : g_inject
            if (LANES != 1) error_a_link_with_an_injector_has_one_lane u_check_inject ();
            link_inject u_inject (
                .clk(clk), .rst(rst), .tick(tick), .s_sym(link_sym), .s_ready(link_ready), .m_sym(tx_sym), .m_ready(tx_ready),
                .wr_en(i_wr_en), .wr_reg(i_wr_reg), .wr_data(i_wr_data), .running(i_running), .cut(i_cut),
                .symbols(i_symbols), .hits(i_hits), .ev_hit(i_hit)
            );
        end else begin : g_no_inject
            assign tx_sym     = link_sym;
            assign link_ready = tx_ready;
            assign {i_running, i_cut, i_hit, i_symbols, i_hits} = 67'd0;
            wire unused_inject = |{i_wr_en, i_wr_reg, i_wr_data};
        end
    endgenerate
endmodule
`resetall
