// CRC-32C (Castagnoli), one byte a clock, for sender and receiver.
//
// Contract
//   Nothing changes without en. init with it starts a packet; without init data is taken into the CRC.
//   crc is the CRC of the bytes taken since init, in its published form (inverted, reflected):
//   after "123456789" it is E3069283. It is sent low byte first.
//   key is as if the first four bytes were combined with it by exclusive or, its low byte with the first.
//   Sender: while shift is high with en, data is ignored and crc moves down by a byte, so four such
//   clocks put the four CRC bytes on crc[7:0] one after the other (the byte shown is the one to send
//   in that clock).
//   Receiver: ok is high when the bytes since init end in their own CRC. It is a compare of the
//   register (three LUTs deep), valid in the clock after the last byte was taken: register it.
//
// HX8K: 60 LUT4, 49 without ok.
// Source: Castagnoli, Braeuer, Herrmann, "Optimization of cyclic redundancy-check codes with 24 and
// 32 parity bits", IEEE Trans. Comm. 41(6), 1993; parameters as in RFC 3720 section 12.1.
`default_nettype none

module crc32c_byte (
    input  wire        clk,
    input  wire        init,
    input  wire [31:0] key,
    input  wire        en,
    input  wire        shift,
    input  wire [7:0]  data,
    output wire [31:0] crc,
    output wire        ok
);
    localparam [31:0] POLY    = 32'h82F63B78;       // 1EDC6F41, bit 0 first
    localparam [31:0] RESIDUE = 32'hB798B438;       // the register after a packet and its CRC

    // The register after 8 zero bits, started from x in its lowest 8 bits.
    function [31:0] divide(input [7:0] x);
        integer k;
        begin
            divide = {24'd0, x};
            for (k = 0; k < 8; k = k + 1)
                divide = {1'b0, divide[31:1]} ^ (POLY & {32{divide[0]}});
        end
    endfunction

    reg  [31:0] state;
    wire [7:0]  x = (state[7:0] ^ data) & {8{!shift}};

    // In three parts: the bits of the register share their sums of two and three bits.
    wire [31:0] low  = divide({5'd0, x[2:0]});
    wire [31:0] mid  = divide({2'd0, x[5:3], 3'd0});
    wire [31:0] high = divide({x[7:6], 6'd0});

    always @(posedge clk)
        if (en) state <= init ? ~key : {8'd0, state[31:8]} ^ low ^ mid ^ high;

    assign crc = ~state;
    assign ok  = state == RESIDUE;
endmodule

`resetall
