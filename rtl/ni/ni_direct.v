`default_nettype none
// The network interface with the direct PHY on every port, for simulations and links inside a chip.
//
// Contract: ni_core's; line_tx and line_rx carry a symbol a clock for each port, 9 bits a lane, those of the host port lowest.
module ni_direct #(
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
    parameter BARRIER      = 0,
    parameter VIRTUAL      = 0,
    parameter VL_SLOTS     = 64,
    parameter VL_WINDOW    = 16,
    parameter VL_RETRY     = 32768,
    parameter CONTEXTS     = 0,
    parameter WIDTH        = 1,
    parameter LANES        = 1,
    parameter HOST_LANES   = 1,
    parameter LINES        = HOST_LANES + LANES * (ROUTER != 0 ? ROUTER : LINKS),       // not to be set
    parameter [63:0] SOURCE_HASH = 64'd0
) (
    input  wire       clk,
    input  wire       rst,

    output wire [9*LINES-1:0] line_tx,
    input  wire [9*LINES-1:0] line_rx
);
    wire [LINES-1:0]   tx_ready, rx_valid;
    wire [9*LINES-1:0] tx_sym, rx_sym;

    genvar p;
    generate
        for (p = 0; p < LINES; p = p + 1) begin : g_phy
            phy_direct u_phy (
                .clk(clk), .rst(rst),
                .tx_sym(tx_sym[9*p +: 9]), .tx_ready(tx_ready[p]), .rx_sym(rx_sym[9*p +: 9]), .rx_valid(rx_valid[p]),
                .line_tx(line_tx[9*p +: 9]), .line_rx(line_rx[9*p +: 9])
            );
        end
    endgenerate

    ni_core #(
        .LINKS(LINKS), .FRAMES(FRAMES), .PAGE_BYTES(PAGE_BYTES), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES),
        .HEADROOM(HEADROOM), .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT),
        .TRACE(TRACE), .INJECT(INJECT), .ROUTES(ROUTES), .ROUTER(ROUTER), .PATIENCE(PATIENCE), .BARRIER(BARRIER),
        .VIRTUAL(VIRTUAL), .VL_SLOTS(VL_SLOTS), .VL_WINDOW(VL_WINDOW), .VL_RETRY(VL_RETRY), .CONTEXTS(CONTEXTS),
        .WIDTH(WIDTH),
        .LANES(LANES), .HOST_LANES(HOST_LANES), .SOURCE_HASH(SOURCE_HASH)
    ) u_ni (
        .clk(clk), .rst(rst), .tick({LINES{1'b1}}),
        .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid)
    );
endmodule
`resetall
