`default_nettype none
// The network interface on the ULX3S: its oscillator's 25 MHz through a PLL, the UART of the FT231X, serial links at header J1, three of the
// eight LEDs.
//
// Contract: that of board_ni. Pins and parameters are set from board.toml.
module top #(
    parameter PLL_DIVI     = 1,
    parameter PLL_DIVF     = 3,
    parameter PLL_DIVO     = 8,
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
    EHXPLLL #(
        .FEEDBK_PATH("CLKOP"), .CLKI_DIV(PLL_DIVI), .CLKFB_DIV(PLL_DIVF), .CLKOP_DIV(PLL_DIVO), .CLKOP_CPHASE(PLL_DIVO / 2)
    ) u_pll (
        .CLKI(clk), .CLKFB(core), .CLKOP(core), .LOCK(locked), .RST(1'b0), .STDBY(1'b0), .ENCLKOP(1'b1),
        .PHASESEL1(1'b0), .PHASESEL0(1'b0), .PHASEDIR(1'b0), .PHASESTEP(1'b0), .PHASELOADREG(1'b0), .PLLWAKESYNC(1'b0)
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
