`default_nettype none
// One of a ring: mixes what comes from the left into its state and sends part of it to the right.
module node #(
    parameter THROUGH = 0  // 1: `through` follows the inputs within a clock
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [31:0] id,
    input  wire [8:0]  left,
    output reg  [8:0]  right,
    output reg  [63:0] state,
    output reg  [31:0] seen,
    output wire [8:0]  through
);
    assign through = state[8:0] ^ (THROUGH ? left ^ id[12:4] : 9'd0);
    reg [63:0] mix [0:15];
    integer i;
    always @(posedge clk) begin
        right <= state[40:32] ^ state[8:0];
        state <= (state ^ {55'd0, left}) * 64'd6364136223846793005 + {32'd0, id};
        mix[0] <= state;
        for (i = 1; i < 16; i = i + 1) mix[i] <= (mix[i] << 7) ^ (mix[i-1] + {mix[i][31:0], mix[i][63:32]});
        if (left[8]) seen <= seen + mix[15][31:0];
        if (rst) begin
            state <= {32'd0, id};
            seen <= 0;
            right <= 0;
            for (i = 0; i < 16; i = i + 1) mix[i] <= {32'd0, id} + i;
        end
    end
endmodule
`resetall
