`default_nettype none
// Two link endpoints joined by direct PHYs, packets in and out on both sides, with probes inside. Simulation only.
//
// a_line, b_line: the symbols on the two wires, CABLE clocks of delay each way; what is in flip_a or flip_b is inverted on the way.
// stop_at: the clock edge at which b last raised STOP; silent_at: the last edge at which a frame symbol of a left its PHY while
// STOP was raised. Their difference is the STOP latency. disturbances: clocks in which either end dropped a frame, went back or
// started again.
module link_pair #(
    parameter REPLAY_BYTES = 8192,
    parameter RX_BYTES     = 4096,
    parameter MAX_PACKET   = 2056,
    parameter HEADROOM     = 256,
    parameter CABLE        = 1,
    parameter RETRY        = 16384,
    parameter RETRY_LIMIT  = 8
) (
    input  wire        clk,
    input  wire        rst_a,
    input  wire        rst_b,

    input  wire        as_valid,
    output wire        as_ready,
    input  wire [7:0]  as_data,
    input  wire        as_last,
    output wire        am_valid,
    input  wire        am_ready,
    output wire [7:0]  am_data,
    output wire        am_last,

    input  wire        bs_valid,
    output wire        bs_ready,
    input  wire [7:0]  bs_data,
    input  wire        bs_last,
    output wire        bm_valid,
    input  wire        bm_ready,
    output wire [7:0]  bm_data,
    output wire        bm_last,

    input  wire [8:0]  flip_a,
    input  wire [8:0]  flip_b,
    output wire [8:0]  a_line,
    output wire [8:0]  b_line,
    output wire [15:0] a_events,
    output wire [15:0] b_events,
    output wire [15:0] a_status,
    output wire [15:0] b_status,
    output reg  [31:0] stop_at,
    output reg  [31:0] silent_at,
    output reg  [31:0] disturbances
);
`include "linkproto.vh"

    reg  [9*CABLE-1:0] ab, ba;
    wire [9*CABLE+8:0] ab_next = {ab, a_line};
    wire [9*CABLE+8:0] ba_next = {ba, b_line};
    always @(posedge clk) begin
        ab <= ab_next[9*CABLE-1:0];
        ba <= ba_next[9*CABLE-1:0];
    end

    wire [8:0] a_tx, a_rx, b_tx, b_rx;
    wire       a_ready, a_valid, b_ready, b_valid;
    phy_direct u_phy_a (.clk(clk), .rst(rst_a), .tx_sym(a_tx), .tx_ready(a_ready), .rx_sym(a_rx), .rx_valid(a_valid),
        .line_tx(a_line), .line_rx(ba[9*CABLE-1 -: 9] ^ flip_b));
    phy_direct u_phy_b (.clk(clk), .rst(rst_b), .tx_sym(b_tx), .tx_ready(b_ready), .rx_sym(b_rx), .rx_valid(b_valid),
        .line_tx(b_line), .line_rx(ab[9*CABLE-1 -: 9] ^ flip_a));

    wire        unused_a_room, unused_b_room, unused_a_takes, unused_b_takes, unused_a_sure, unused_b_sure, unused_a_void, unused_b_void;
    wire        unused_a_coming, unused_b_coming;
    wire [15:0] unused_a_bytes, unused_b_bytes;
    wire [7:0]  unused_a_packets, unused_b_packets;
    wire [17:0] unused_a_peer, unused_b_peer;
    link_endpoint #(.REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .HEADROOM(HEADROOM),
                    .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT), .FIRST_EPOCH(1)) a (
        .clk(clk), .rst(rst_a), .node(16'd1), .nonce(32'h100001), .anonymous(1'b0), .renew(1'b0), .soon(1'b0), .peer(unused_a_peer),
        .s_valid(as_valid), .s_ready(as_ready), .s_data(as_data), .s_last(as_last), .cancel(1'b0),
        .has_room(unused_a_room), .size(16'd0), .takes(unused_a_takes), .refused(1'b0), .admit(1'b0),
        .freed_bytes(unused_a_bytes), .freed_packets(unused_a_packets),
        .m_valid(am_valid), .m_ready(am_ready), .m_data(am_data), .m_last(am_last), .m_sure(unused_a_sure), .m_void(unused_a_void),
        .coming(unused_a_coming),
        .tick(1'b1), .tx_sym(a_tx), .tx_ready(a_ready), .rx_sym(a_rx), .rx_valid(a_valid), .status(a_status), .events(a_events)
    );
    link_endpoint #(.REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .HEADROOM(HEADROOM),
                    .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT), .FIRST_EPOCH(101)) b (
        .clk(clk), .rst(rst_b), .node(16'd2), .nonce(32'h200001), .anonymous(1'b0), .renew(1'b0), .soon(1'b0), .peer(unused_b_peer),
        .s_valid(bs_valid), .s_ready(bs_ready), .s_data(bs_data), .s_last(bs_last), .cancel(1'b0),
        .has_room(unused_b_room), .size(16'd0), .takes(unused_b_takes), .refused(1'b0), .admit(1'b0),
        .freed_bytes(unused_b_bytes), .freed_packets(unused_b_packets),
        .m_valid(bm_valid), .m_ready(bm_ready), .m_data(bm_data), .m_last(bm_last), .m_sure(unused_b_sure), .m_void(unused_b_void),
        .coming(unused_b_coming),
        .tick(1'b1), .tx_sym(b_tx), .tx_ready(b_ready), .rx_sym(b_rx), .rx_valid(b_valid), .status(b_status), .events(b_events)
    );

    // Events that a clean link must not see, of both ends.
    localparam [15:0] DISTURBANCE = 16'd1 << `LP_CNT_RX_CRC | 16'd1 << `LP_CNT_RX_DUP | 16'd1 << `LP_CNT_RX_GAP
        | 16'd1 << `LP_CNT_RX_OVERRUN | 16'd1 << `LP_CNT_REPLAYS | 16'd1 << `LP_CNT_RESTARTS;
    always @(posedge clk)
        if (rst_a) disturbances <= 32'd0;
        else disturbances <= disturbances + {31'd0, (a_events & DISTURBANCE) != 16'd0} + {31'd0, (b_events & DISTURBANCE) != 16'd0};

    // Link state words are not frame symbols: follow them.
    reg [31:0] now;
    reg [3:0]  word;                // symbols of it that are still to come
    reg        stop_q, begins;
    wire       stop    = b_status[`LP_LINK_STATUS_OWN_STOP_BIT];
    wire       in_word = word != 4'd0;
    always @(posedge clk) begin
        now    <= rst_a ? 32'd0 : now + 32'd1;
        stop_q <= stop;
        begins <= a_line == `LP_SYM_LSW;
        if (a_line == `LP_SYM_LSW) word <= `LP_WORD_SYMBOLS - 1;
        else if (in_word)          word <= word - 4'd1;
        if (begins && a_line[`LP_WORD_KIND_LSB +: `LP_KIND_WIDTH] == `LP_KIND_INIT) word <= `LP_INIT_SYMBOLS - 2;
        if (rst_a)                 word <= 4'd0;
        if (rst_a) begin
            stop_at   <= 32'd0;
            silent_at <= 32'd0;
        end
        if (stop && !stop_q) stop_at <= now;
        if (stop && !in_word && a_line != `LP_SYM_LSW && a_line != `LP_SYM_IDLE) silent_at <= now;
    end
endmodule
`resetall
