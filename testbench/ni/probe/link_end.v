`default_nettype none
// One end of a link over any PHY, packets on one side and the line on the other, with what happens to them on record. Simulation only.
//
// PHY: 0 phy_direct, whose line has 9 bits; 1 phy_serial, 2 phy_uart, on bit 0 of the line, BIT_CLOCKS clocks a bit.
// PORT 0: as at the host's cable, with nonce 0 and without silence.
// In reset s_* is taken and thrown away, and m_* is silent, as if the host had restarted with the link.
// counts: 32 bits for each of link_endpoint's events. freed: packets that left the replay buffer, by an acknowledgement or as lost, wrapping
// at 2^32; it stands still in reset. Counts start anywhere.
// r_*: an item for each restart of the link, once it has dropped all that it held or is itself ended by a reset: {freed before, freed now}. What
// lies between was reported lost.
module link_end #(
    parameter PHY          = 0,
    parameter BIT_CLOCKS   = 5,
    parameter REPLAY_BYTES = 4096,
    parameter RX_BYTES     = 4096,
    parameter MAX_PACKET   = 264,
    parameter ACK_DELAY    = 512,
    parameter WORD_TIMER   = 4096,
    parameter RETRY        = 16384,
    parameter RETRY_LIMIT  = 8,
    parameter FIRST_EPOCH  = 1,
    parameter PORT         = 1
) (
    input  wire         clk,
    input  wire         rst,
    input  wire [31:0]  nonce,
    input  wire         s_valid,
    output wire         s_ready,
    input  wire [7:0]   s_data,
    input  wire         s_last,
    output wire         m_valid,
    input  wire         m_ready,
    output wire [7:0]   m_data,
    output wire         m_last,
    output wire         r_valid,
    output wire [63:0]  r_data,
    output wire [8:0]   line_tx,
    input  wire [8:0]   line_rx,
    output wire         locked,
    output wire [15:0]  status,
    output wire [511:0] counts,
    output reg  [31:0]  freed
);
`include "linkproto.vh"

    wire        e_ready, e_valid, tick, tx_ready, rx_valid, unused_room, unused_takes;
    wire [8:0]  tx_sym, rx_sym;
    wire [15:0] events, unused_bytes;
    wire [17:0] unused_peer;
    wire [7:0]  freed_packets;
    wire        unused_sure, unused_void, unused_coming;
    assign s_ready = rst || e_ready;
    assign m_valid = e_valid && !rst;
    link_endpoint #(
        .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER),
        .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT), .FIRST_EPOCH(FIRST_EPOCH), .PORT(PORT),
        .SILENCE(PORT == 0 ? 0 : `LP_SILENT_TIMERS * WORD_TIMER)
    ) u_link (
        .clk(clk), .rst(rst), .node(16'd0), .nonce(nonce), .anonymous(1'b0), .renew(1'b0), .soon(1'b0), .peer(unused_peer),
        .s_valid(s_valid && !rst), .s_ready(e_ready), .s_data(s_data), .s_last(s_last), .cancel(1'b0),
        .has_room(unused_room), .size(16'd0), .takes(unused_takes), .refused(1'b0), .admit(1'b0),
        .freed_bytes(unused_bytes), .freed_packets(freed_packets),
        .m_valid(e_valid), .m_ready(m_ready && !rst), .m_data(m_data), .m_last(m_last), .m_sure(unused_sure), .m_void(unused_void),
        .coming(unused_coming),
        .tick(tick), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid), .status(status), .events(events)
    );

    generate
        if (PHY == 0) begin : g_direct
            phy_direct u_phy (
                .clk(clk), .rst(rst), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid),
                .line_tx(line_tx), .line_rx(line_rx)
            );
            assign {tick, locked} = 2'b11;
        end else begin : g_line
            wire [7:0] unused_line = line_rx[8:1];
            assign line_tx[8:1] = 8'd0;
            if (PHY == 1) begin : g_serial
                phy_serial #(.OVERSAMPLE(BIT_CLOCKS)) u_phy (
                    .clk(clk), .rst(rst), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid), .tick(tick),
                    .locked(locked), .line_tx(line_tx[0]), .line_rx(line_rx[0])
                );
            end else begin : g_uart
                localparam [31:0] DIVISOR = BIT_CLOCKS;
                phy_uart u_phy (
                    .clk(clk), .rst(rst), .divisor(DIVISOR[15:0]), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid),
                    .tick(tick), .uart_txd(line_tx[0]), .uart_rxd(line_rx[0])
                );
                assign locked = 1'b1;
            end
        end
    endgenerate

    genvar i;
    generate
        for (i = 0; i < 16; i = i + 1) begin : g_count
            reg [31:0] count;
            always @(posedge clk) if (events[i]) count <= count + 32'd1;
            assign counts[32*i +: 32] = count;
        end
    endgenerate

    reg [7:0]  freed_q;
    reg        walking;                 // a restart: packets are dropped until none is queued
    reg [31:0] lost;                    // of them
    wire [7:0] more = freed_packets - freed_q;
    always @(posedge clk) begin
        freed_q <= rst ? 8'd0 : freed_packets;
        if (!rst) freed <= freed + {24'd0, more};
        if (r_valid || rst) walking <= 1'b0;
        lost <= walking ? lost + {31'd0, events[`LP_CNT_LOST_PACKETS]} : 32'd0;
        if (events[`LP_CNT_RESTARTS] && !rst) walking <= 1'b1;
    end
    assign r_valid = walking && (rst || !status[`LP_LINK_STATUS_QUEUED_BIT]);
    assign r_data  = {freed + {24'd0, more} - lost, freed + {24'd0, more}};
endmodule
`resetall
