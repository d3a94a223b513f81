`default_nettype none
// For tests: an end of a link over phy_uart, packets on one side and the line on the other.
module end_uart #(
    parameter ACK_DELAY   = 512,
    parameter FIRST_EPOCH = 1
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [31:0] nonce,
    input  wire [15:0] divisor,
    input  wire        s_valid,
    output wire        s_ready,
    input  wire [7:0]  s_data,
    input  wire        s_last,
    output wire        m_valid,
    input  wire        m_ready,
    output wire [7:0]  m_data,
    output wire        m_last,
    output wire        txd,
    input  wire        rxd,
    output wire        tick,
    output wire [15:0] status,
    output wire [15:0] events
);
    wire        tx_ready, rx_valid, unused_room, unused_takes;
    wire [8:0]  tx_sym, rx_sym;
    wire [15:0] unused_bytes;
    wire [17:0] unused_peer;
    wire [7:0]  unused_packets;
    wire        unused_sure, unused_void, unused_coming;
    link_endpoint #(.FIRST_EPOCH(FIRST_EPOCH), .ACK_DELAY(ACK_DELAY)) u_link (
        .clk(clk), .rst(rst), .node(16'd0), .nonce(nonce), .anonymous(1'b0), .renew(1'b0), .soon(1'b0), .peer(unused_peer),
        .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_last(s_last), .cancel(1'b0),
        .has_room(unused_room), .size(16'd0), .takes(unused_takes), .refused(1'b0), .admit(1'b0),
        .freed_bytes(unused_bytes), .freed_packets(unused_packets),
        .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_last(m_last), .m_sure(unused_sure), .m_void(unused_void),
        .coming(unused_coming),
        .tick(tick), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid), .status(status), .events(events)
    );
    phy_uart u_phy (
        .clk(clk), .rst(rst), .divisor(divisor), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid), .tick(tick),
        .uart_txd(txd), .uart_rxd(rxd)
    );
endmodule
`resetall
