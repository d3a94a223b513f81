`default_nettype none
// The switch with the direct PHY on every port, for simulations and networks inside a chip.
//
// Contract: net_switch's; line_tx and line_rx carry a symbol a clock for each lane of each port, 9 bits a lane, port 1
// lowest. Ports of SERIAL, a bit each, have phy_serial with OVERSAMPLE clocks a bit, whose line is the lowest of the 9; LANES is 1 then.
module net_direct #(
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
    parameter [PORTS-1:0] SERIAL = 0,
    parameter OVERSAMPLE   = 5,
    parameter [63:0] SOURCE_HASH = 64'd0
) (
    input  wire                clk,
    input  wire                rst,
    input  wire [31:0]         nonce,
    output wire [15:0]         node,

    output wire [9*LANES*PORTS-1:0] line_tx,
    input  wire [9*LANES*PORTS-1:0] line_rx,

    output wire [16*PORTS-1:0] status
);
    localparam LINES = LANES * PORTS;
    generate
        if (SERIAL != 0 && LANES != 1) error_a_serial_link_has_one_lane u_check_lanes ();
    endgenerate
    wire [LINES-1:0]   tick, tx_ready, rx_valid;
    wire [9*LINES-1:0] tx_sym, rx_sym;

    genvar p;
    generate
        for (p = 0; p < LINES; p = p + 1) begin : g_phy
            wire [8:0] rx;
            assign rx_sym[9*p +: 9] = rx;
            if (SERIAL[p / LANES]) begin : g_serial
                wire out, locked;
                wire unused = ^{locked, line_rx[9*p+1 +: 8]};
                assign line_tx[9*p +: 9] = {8'd0, out};
                phy_serial #(.OVERSAMPLE(OVERSAMPLE)) u_phy (
                    .clk(clk), .rst(rst), .tx_sym(tx_sym[9*p +: 9]), .tx_ready(tx_ready[p]), .rx_sym(rx), .rx_valid(rx_valid[p]),
                    .tick(tick[p]), .locked(locked), .line_tx(out), .line_rx(line_rx[9*p])
                );
            end else begin : g_direct
                assign tick[p] = 1'b1;
                phy_direct u_phy (
                    .clk(clk), .rst(rst), .tx_sym(tx_sym[9*p +: 9]), .tx_ready(tx_ready[p]), .rx_sym(rx), .rx_valid(rx_valid[p]),
                    .line_tx(line_tx[9*p +: 9]), .line_rx(line_rx[9*p +: 9])
                );
            end
        end
    endgenerate

    net_switch #(
        .PORTS(PORTS), .PAGE_BYTES(PAGE_BYTES), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .HEADROOM(HEADROOM),
        .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT),
        .SLOTS(SLOTS), .NODES(NODES), .GROUPS(GROUPS), .WIDTH(WIDTH), .LANES(LANES), .PATIENCE(PATIENCE), .BARRIER(BARRIER),
        .SPACED(SERIAL), .SOURCE_HASH(SOURCE_HASH)
    ) u_switch (
        .clk(clk), .rst(rst), .nonce(nonce), .node(node), .tick(tick),
        .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid), .status(status)
    );
endmodule
`resetall
