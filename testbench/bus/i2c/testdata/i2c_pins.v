// Open-drain pins through registers, for tests that say what a master does bit by bit.
module i2c_pins (
    input  wire clk,
    input  wire rst,
    input  wire want_scl,
    input  wire want_sda,
    input  wire scl_i,
    input  wire sda_i,
    output reg  scl_o,
    output reg  sda_o
);
    always @(posedge clk) {scl_o, sda_o} <= rst ? 2'b11 : {want_scl, want_sda};
endmodule
