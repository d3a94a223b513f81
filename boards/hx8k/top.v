`default_nettype none
// The network interface on the iCE40-HX8K Breakout Board: its oscillator's 12 MHz through a PLL, the UART of the FT2232H's channel B,
// serial links at header J2, three of the eight LEDs.
//
// Contract: that of board_ni. Pins and parameters are set from board.toml.
module top #(
    parameter [31:0] PLL_DIVR   = 0,
    parameter [31:0] PLL_DIVF   = 0,
    parameter [31:0] PLL_DIVQ   = 0,
    parameter [31:0] PLL_FILTER = 0,
    parameter LINKS        = 1,
    parameter FRAMES       = 4,
    parameter PAGE_BYTES   = 1024,
    parameter REPLAY_BYTES = 2048,
    parameter RX_BYTES     = 2048,
    parameter HOST_DIVISOR = 8,
    parameter OVERSAMPLE   = 5,
    parameter LOOP         = 0,
    parameter ROUTES       = 0,
    parameter [63:0] SOURCE_HASH = 64'd0
) (
    input  wire             clk,
    output wire             host_tx,
    input  wire             host_rx,
    output wire [LINKS-1:0] link_tx,
    input  wire [LINKS-1:0] link_rx,
    output wire [7:0]       led
);
    wire core, locked;
    SB_PLL40_CORE #(
        .FEEDBACK_PATH("SIMPLE"), .DIVR(PLL_DIVR[3:0]), .DIVF(PLL_DIVF[6:0]), .DIVQ(PLL_DIVQ[2:0]), .FILTER_RANGE(PLL_FILTER[2:0])
    ) u_pll (
        .REFERENCECLK(clk), .PLLOUTGLOBAL(core), .LOCK(locked), .RESETB(1'b1), .BYPASS(1'b0)
    );

    board_ni #(
        .LINKS(LINKS), .FRAMES(FRAMES), .PAGE_BYTES(PAGE_BYTES), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES),
        .HOST_DIVISOR(HOST_DIVISOR), .OVERSAMPLE(OVERSAMPLE), .LOOP(LOOP), .ROUTES(ROUTES), .SOURCE_HASH(SOURCE_HASH)
    ) u_board (
        .clk(core), .locked(locked), .host_tx(host_tx), .host_rx(host_rx), .link_tx(link_tx), .link_rx(link_rx),
        .alive(led[0]), .host_busy(led[1]), .link_busy(led[2])
    );
    assign led[7:3] = 5'd0;
endmodule
`resetall
