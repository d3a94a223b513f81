`default_nettype none
// Stands in for crc32c_byte where a proof is about what is checked and not about how well: the same ports and contract, with a
// remainder of two bits, which the first two check bytes carry. It still tells the order of bytes, and whether one is missing.
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
    reg  [1:0] state;
    wire       x = !shift && (state[1] ^ ^data);
    always @(posedge clk)
        if (en) state <= init ? ~key[1:0] : {state[0], 1'b0} ^ {x, x};
    assign crc = {state[0], 30'd0, state[1]};      // only the lowest byte is sent
    assign ok  = state == 2'b00;
endmodule
`resetall
