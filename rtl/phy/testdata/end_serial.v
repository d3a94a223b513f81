`default_nettype none
// For tests: an end of a link over phy_serial, packets on one side and the line on the other.
module end_serial #(
    parameter OVERSAMPLE  = 5,
    parameter FIRST_EPOCH = 1
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [31:0] nonce,
    input  wire        s_valid,
    output wire        s_ready,
    input  wire [7:0]  s_data,
    input  wire        s_last,
    output wire        m_valid,
    input  wire        m_ready,
    output wire [7:0]  m_data,
    output wire        m_last,
    output wire        line_tx,
    input  wire        line_rx,
    output wire        locked,
    output wire [15:0] status,
    output wire [15:0] events
);
    wire        tick, tx_ready, rx_valid, unused_room, unused_takes;
    wire [8:0]  tx_sym, rx_sym;
    wire [15:0] unused_bytes;
    wire [17:0] unused_peer;
    wire [7:0]  unused_packets;
    wire        unused_sure, unused_void, unused_coming;
    link_endpoint #(
        .REPLAY_BYTES(1024), .RX_BYTES(1024), .MAX_PACKET(264), .WORD_TIMER(512), .ACK_DELAY(128), .RETRY(2048), .FIRST_EPOCH(FIRST_EPOCH)
    ) u_link (
        .clk(clk), .rst(rst), .node(16'd0), .nonce(nonce), .anonymous(1'b0), .renew(1'b0), .soon(1'b0), .peer(unused_peer),
        .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_last(s_last), .cancel(1'b0),
        .has_room(unused_room), .size(16'd0), .takes(unused_takes), .refused(1'b0), .admit(1'b0),
        .freed_bytes(unused_bytes), .freed_packets(unused_packets),
        .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_last(m_last), .m_sure(unused_sure), .m_void(unused_void),
        .coming(unused_coming),
        .tick(tick), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid), .status(status), .events(events)
    );
    phy_serial #(.OVERSAMPLE(OVERSAMPLE)) u_phy (
        .clk(clk), .rst(rst), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid), .tick(tick), .locked(locked),
        .line_tx(line_tx), .line_rx(line_rx)
    );
endmodule
`resetall
