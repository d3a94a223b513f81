`default_nettype none
// One end of a link of one lane or several: link_endpoint or link_trunk.
//
// Contract: theirs; tick, tx_*, rx_*, open, foreign have a bit, or nine, a lane, the lowest first. A link with one lane has nothing more
// for having been able to have several.
module link_lanes #(
    parameter LANES        = 1,
    parameter REPLAY_BYTES = 4096,
    parameter RX_BYTES     = 4096,
    parameter MAX_PACKET   = 2056,
    parameter HEADROOM     = 256,
    parameter ACK_DELAY    = 512,
    parameter WORD_TIMER   = 4096,
    parameter RETRY        = 16384,
    parameter RETRY_LIMIT  = 8,
    parameter PORT         = 1,
    parameter SILENCE      = 4 * WORD_TIMER,
    parameter EARLY        = 0,
    parameter SPACED       = 0,
    parameter ROUTES       = 0,
    parameter BARRIER      = 0,
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
    input  wire [13:0] say,
    output wire        say_take,
    output wire [14:0] heard,

    input  wire [LANES-1:0]   tick,
    output wire [9*LANES-1:0] tx_sym,
    input  wire [LANES-1:0]   tx_ready,
    input  wire [9*LANES-1:0] rx_sym,
    input  wire [LANES-1:0]   rx_valid,

    output wire [15:0] status,
    output wire [17:0] peer,
    output wire [15:0] events,
    output wire [LANES-1:0] open,
    output wire [LANES-1:0] foreign
);
`include "linkproto.vh"
    generate
        if (LANES == 1) begin : g_one
            link_endpoint #(
                .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .HEADROOM(HEADROOM), .ACK_DELAY(ACK_DELAY),
                .WORD_TIMER(WORD_TIMER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT), .PORT(PORT), .SILENCE(SILENCE), .EARLY(EARLY),
                .SPACED(SPACED), .ROUTES(ROUTES), .BARRIER(BARRIER), .WIDTH(WIDTH)
            ) u_end (
                .clk(clk), .rst(rst), .node(node), .nonce(nonce), .anonymous(anonymous), .renew(renew), .soon(soon),
                .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_keep(s_keep), .s_last(s_last), .cancel(cancel),
                .has_room(has_room), .size(size), .takes(takes), .refused(refused), .admit(admit),
                .freed_bytes(freed_bytes), .freed_packets(freed_packets),
                .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_keep(m_keep), .m_last(m_last), .m_sure(m_sure),
                .m_void(m_void), .coming(coming), .say(say), .say_take(say_take), .heard(heard),
                .tick(tick), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid),
                .status(status), .peer(peer), .events(events)
            );
            assign {open, foreign} = {status[`LP_LINK_STATUS_UP_BIT], 1'b0};
        end else begin : g_several
            link_trunk #(
                .LANES(LANES), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .SKEW_BYTES(1 << $clog2(2 * MAX_PACKET + HEADROOM)),
                .MAX_PACKET(MAX_PACKET), .HEADROOM(HEADROOM), .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .RETRY(RETRY),
                .RETRY_LIMIT(RETRY_LIMIT), .PORT(PORT), .SILENCE(SILENCE), .EARLY(EARLY), .ROUTES(ROUTES), .BARRIER(BARRIER), .WIDTH(WIDTH)
            ) u_end (
                .clk(clk), .rst(rst), .node(node), .nonce(nonce), .anonymous(anonymous), .renew(renew), .soon(soon),
                .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_keep(s_keep), .s_last(s_last), .cancel(cancel),
                .has_room(has_room), .size(size), .takes(takes), .refused(refused), .admit(admit),
                .freed_bytes(freed_bytes), .freed_packets(freed_packets),
                .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_keep(m_keep), .m_last(m_last), .m_sure(m_sure),
                .m_void(m_void), .coming(coming), .say(say), .say_take(say_take), .heard(heard),
                .tick(tick), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid),
                .status(status), .peer(peer), .events(events), .open(open), .foreign(foreign)
            );
        end
    endgenerate
endmodule
`resetall
