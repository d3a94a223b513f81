`default_nettype none
// The network interface with a PHY of choice at its ports: what a board wires to its pins, and simulations to each other.
//
// Contract: ni_core's. HOST_PHY and LINK_PHY say what the host port and all links speak; a port has LINE wires each way:
//   0  phy_direct, 9 wires, a symbol a clock
//   1  phy_serial, 1 wire, OVERSAMPLE clocks a bit (links only)
//   2  phy_uart, 1 wire, host_divisor or link_divisor clocks a bit; an unconnected input must be high
// A link has a line for each of its LANES, link 1's lowest. A divisor is looked at only where a UART is; DIVISOR_BITS, as in phy_uart.
module ni_lines #(
    parameter HOST_PHY     = 0,
    parameter LINK_PHY     = 0,
    parameter OVERSAMPLE   = 5,
    parameter DIVISOR_BITS = 16,
    parameter LINKS        = 1,
    parameter FRAMES       = 4,
    parameter PAGE_BYTES   = 1024,
    parameter REPLAY_BYTES = 4096,
    parameter RX_BYTES     = 4096,
    parameter HEADROOM     = 256,
    parameter ACK_DELAY    = 512,
    parameter WORD_TIMER   = 4096,
    parameter RETRY        = 16384,
    parameter RETRY_LIMIT  = 8,
    parameter TRACE        = 0,
    parameter INJECT       = 0,
    parameter ROUTES       = 0,
    parameter ROUTER       = 0,
    parameter PATIENCE     = 1 << 20,
    parameter WIDTH        = 1,
    parameter LANES        = 1,
    parameter LINES        = LANES * (ROUTER != 0 ? ROUTER : LINKS),    // not to be set
    parameter [63:0] SOURCE_HASH = 64'd0
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [DIVISOR_BITS-1:0] host_divisor,
    input  wire [DIVISOR_BITS-1:0] link_divisor,

    output wire [(HOST_PHY == 0 ? 9 : 1)-1:0]       host_tx,
    input  wire [(HOST_PHY == 0 ? 9 : 1)-1:0]       host_rx,
    output wire [LINES*(LINK_PHY == 0 ? 9 : 1)-1:0] link_tx,
    input  wire [LINES*(LINK_PHY == 0 ? 9 : 1)-1:0] link_rx
);
    localparam DIRECT = 0, SERIAL = 1, UART = 2;
    localparam LINE = LINK_PHY == DIRECT ? 9 : 1;
    generate
        if (HOST_PHY != DIRECT && HOST_PHY != UART)     error_host_phy_must_be_0_or_2 u_check_host ();
        if (LINK_PHY < DIRECT || LINK_PHY > UART)       error_link_phy_must_be_0_to_2 u_check_link ();
    endgenerate

    wire [LINES:0]         tick, tx_ready, rx_valid;
    wire [9*(LINES+1)-1:0] tx_sym, rx_sym;

    genvar p;
    generate
        if (HOST_PHY == DIRECT) begin : g_host_direct
            wire unused_divisor = |host_divisor;
            assign tick[0] = 1'b1;
            phy_direct u_phy (
                .clk(clk), .rst(rst), .tx_sym(tx_sym[8:0]), .tx_ready(tx_ready[0]), .rx_sym(rx_sym[8:0]), .rx_valid(rx_valid[0]),
                .line_tx(host_tx), .line_rx(host_rx)
            );
        end else begin : g_host_uart
            phy_uart #(.DIVISOR_BITS(DIVISOR_BITS)) u_phy (
                .clk(clk), .rst(rst), .divisor(host_divisor),
                .tx_sym(tx_sym[8:0]), .tx_ready(tx_ready[0]), .rx_sym(rx_sym[8:0]), .rx_valid(rx_valid[0]), .tick(tick[0]),
                .uart_txd(host_tx), .uart_rxd(host_rx)
            );
        end

        if (LINK_PHY != UART) begin : g_no_divisor
            wire unused_divisor = |link_divisor;
        end
        for (p = 1; p <= LINES; p = p + 1) begin : g_link
            wire [8:0]      tx  = tx_sym[9*p +: 9];
            wire [8:0]      rx;
            wire [LINE-1:0] out;
            wire [LINE-1:0] in  = link_rx[LINE*(p-1) +: LINE];
            assign rx_sym[9*p +: 9] = rx;
            assign link_tx[LINE*(p-1) +: LINE] = out;
            if (LINK_PHY == DIRECT) begin : g_direct
                assign tick[p] = 1'b1;
                phy_direct u_phy (
                    .clk(clk), .rst(rst), .tx_sym(tx), .tx_ready(tx_ready[p]), .rx_sym(rx), .rx_valid(rx_valid[p]),
                    .line_tx(out), .line_rx(in)
                );
            end else if (LINK_PHY == SERIAL) begin : g_serial
                wire unused_locked;
                phy_serial #(.OVERSAMPLE(OVERSAMPLE)) u_phy (
                    .clk(clk), .rst(rst), .tx_sym(tx), .tx_ready(tx_ready[p]), .rx_sym(rx), .rx_valid(rx_valid[p]), .tick(tick[p]),
                    .locked(unused_locked), .line_tx(out), .line_rx(in)
                );
            end else begin : g_uart
                phy_uart #(.DIVISOR_BITS(DIVISOR_BITS)) u_phy (
                    .clk(clk), .rst(rst), .divisor(link_divisor),
                    .tx_sym(tx), .tx_ready(tx_ready[p]), .rx_sym(rx), .rx_valid(rx_valid[p]), .tick(tick[p]), .uart_txd(out), .uart_rxd(in)
                );
            end
        end
    endgenerate

    ni_core #(
        .LINKS(LINKS), .FRAMES(FRAMES), .PAGE_BYTES(PAGE_BYTES), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES),
        .HEADROOM(HEADROOM), .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT),
        .TRACE(TRACE), .INJECT(INJECT), .ROUTES(ROUTES), .ROUTER(ROUTER), .PATIENCE(PATIENCE), .WIDTH(WIDTH),
        .LANES(LANES), .SPACED({{LINES/LANES{LINK_PHY != DIRECT}}, HOST_PHY != DIRECT}), .SOURCE_HASH(SOURCE_HASH)
    ) u_ni (
        .clk(clk), .rst(rst), .tick(tick), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid)
    );
endmodule
`resetall
