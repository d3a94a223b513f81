// CRC-16/IBM-3740 (polynomial 1021, first register FFFF, most significant bit first), one byte a
// clock, for link state words.
//
// Contract
//   init starts a word. en takes data into the CRC; init wins over en.
//   crc is the CRC of the bytes taken since init: after "123456789" it is 29B1. It is sent high
//   byte first.
//   Sender: while shift is high with en, data is ignored and crc moves up by a byte: two such clocks
//   put the two CRC bytes on crc[15:8] one after the other.
//   Receiver: ok is high when the bytes since init end in their own CRC; a compare of the register
//   with zero (two LUTs deep), valid in the clock after the last byte was taken.
//
// HX8K: 27 LUT4, 257 to 289 MHz.
// Source: the "IBM-3740" entry of the reveng catalogue of CRC algorithms; ISO/IEC 13239 polynomial.
`default_nettype none

module crc16_3740_byte (
    input  wire        clk,
    input  wire        init,
    input  wire        en,
    input  wire        shift,
    input  wire [7:0]  data,
    output reg  [15:0] crc,
    output wire        ok
);
    localparam [15:0] POLY = 16'h1021;

    // The register after 8 zero bits, started from x in its highest 8 bits.
    function [15:0] divide(input [7:0] x);
        integer k;
        begin
            divide = {x, 8'd0};
            for (k = 0; k < 8; k = k + 1)
                divide = {divide[14:0], 1'b0} ^ (POLY & {16{divide[15]}});
        end
    endfunction

    wire [7:0] x = (crc[15:8] ^ data) & {8{!shift}};

    always @(posedge clk)
        if (init)    crc <= 16'hFFFF;
        else if (en) crc <= {crc[7:0], 8'd0} ^ divide(x);

    assign ok = crc == 16'd0;
endmodule

`resetall
