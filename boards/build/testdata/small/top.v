`default_nettype none
// Stands for a network interface: a sum of 24 bits in a clock, and one block memory.
module top #(
    parameter [31:0] PLL_DIVR   = 0,
    parameter [31:0] PLL_DIVF   = 0,
    parameter [31:0] PLL_DIVQ   = 0,
    parameter [31:0] PLL_FILTER = 0,
    parameter LINKS = 1, FRAMES = 4, PAGE_BYTES = 1024, REPLAY_BYTES = 2048, RX_BYTES = 2048, HOST_DIVISOR = 8, OVERSAMPLE = 5, LOOP = 0, ROUTES = 0,
    parameter [63:0] SOURCE_HASH = 64'd0
) (
    input  wire       clk,
    output reg        host_tx,
    input  wire       host_rx,
    output wire       link_tx,
    input  wire       link_rx,
    output wire [2:0] led
);
    wire core, locked;
    SB_PLL40_CORE #(
        .FEEDBACK_PATH("SIMPLE"), .DIVR(PLL_DIVR[3:0]), .DIVF(PLL_DIVF[6:0]), .DIVQ(PLL_DIVQ[2:0]), .FILTER_RANGE(PLL_FILTER[2:0])
    ) u_pll (.REFERENCECLK(clk), .PLLOUTGLOBAL(core), .LOCK(locked), .RESETB(1'b1), .BYPASS(1'b0));

    reg [23:0] a, b, sum;
    reg [7:0]  mem [0:511], word;
    always @(posedge core) begin
        a       <= {a[22:0], host_rx};
        b       <= {b[22:0], link_rx};
        sum     <= sum + (a ^ SOURCE_HASH[23:0]) + b;
        if (locked) mem[a[8:0]] <= b[7:0];
        word    <= mem[b[8:0]];
        host_tx <= ^word;
    end
    late #(.CLOCKS(OVERSAMPLE)) u_late (.clk(core), .d(^sum[23:12]), .q(link_tx));
    assign led     = sum[2:0];
endmodule
`resetall
