`default_nettype none
// SB_PLL40_CORE in a simulation that runs at the PLL's output clock: what comes in goes out, locked from the start.
//
// The parameters are those of the cell and mean nothing here; build and place and route check the real one's clock.
module lmmc_pll_core #(
    parameter FEEDBACK_PATH = "SIMPLE",
    parameter DELAY_ADJUSTMENT_MODE_FEEDBACK = "FIXED",
    parameter DELAY_ADJUSTMENT_MODE_RELATIVE = "FIXED",
    parameter SHIFTREG_DIV_MODE = 0,
    parameter FDA_FEEDBACK = 0,
    parameter FDA_RELATIVE = 0,
    parameter PLLOUT_SELECT = "GENCLK",
    parameter DIVR = 0,
    parameter DIVF = 0,
    parameter DIVQ = 0,
    parameter FILTER_RANGE = 0,
    parameter ENABLE_ICEGATE = 0,
    parameter TEST_MODE = 0
) (
    input  wire       REFERENCECLK,
    output wire       PLLOUTCORE,
    output wire       PLLOUTGLOBAL,
    input  wire       EXTFEEDBACK,
    input  wire [7:0] DYNAMICDELAY,
    output wire       LOCK,
    input  wire       BYPASS,
    input  wire       RESETB,
    input  wire       LATCHINPUTVALUE,
    output wire       SDO,
    input  wire       SDI,
    input  wire       SCLK
);
    assign PLLOUTCORE   = REFERENCECLK;
    assign PLLOUTGLOBAL = REFERENCECLK;
    assign LOCK         = RESETB;
    assign SDO          = 1'b0;
    wire unused = |{EXTFEEDBACK, DYNAMICDELAY, BYPASS, LATCHINPUTVALUE, SDI, SCLK};
endmodule
`resetall
