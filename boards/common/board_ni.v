`default_nettype none
// The network interface as boards have it: all that is between the PLL and the pins.
//
// Contract:
//   locked: clk is what it is to be. While it is low, and for more than 64 clocks after it has come or the chip was configured, all is
//   in reset: block RAM is not ready before.
//   host_tx and host_rx are a UART with HOST_DIVISOR clocks a bit, an unconnected host_rx must be high. link_tx and link_rx are serial
//   links of OVERSAMPLE clocks a bit. With LOOP they are not used: a symbol a clock goes round inside, from each link to itself.
//   alive blinks while clk runs; host_busy and link_busy are high for a while after a change at host_rx and any link's input.
//
// Parameters: those of ni_core, and BLINK: alive changes every 2**BLINK clocks.
module board_ni #(
    parameter LINKS        = 1,
    parameter FRAMES       = 4,
    parameter PAGE_BYTES   = 1024,
    parameter REPLAY_BYTES = 2048,
    parameter RX_BYTES     = 2048,
    parameter HOST_DIVISOR = 8,
    parameter OVERSAMPLE   = 5,
    parameter LOOP         = 0,
    parameter ROUTES       = 0,
    parameter BLINK        = 25,
    parameter [63:0] SOURCE_HASH = 64'd0
) (
    input  wire             clk,
    input  wire             locked,
    output wire             host_tx,
    input  wire             host_rx,
    output wire [LINKS-1:0] link_tx,
    input  wire [LINKS-1:0] link_rx,
    output wire             alive,
    output reg              host_busy,
    output reg              link_busy
);
    localparam LINE = LOOP != 0 ? 9 : 1;
    localparam DIVISOR_BITS = $clog2(HOST_DIVISOR + 1);
    localparam [31:0] DIVISOR = HOST_DIVISOR;

    wire rst;
    reset_sync u_reset (.clk(clk), .arst(!locked), .rst(rst));

    wire [LINE*LINKS-1:0] tx, rx;
    wire [LINKS-1:0]      heard;
    generate
        if (LOOP != 0) begin : g_loop
            assign rx      = tx;
            assign link_tx = {LINKS{1'b0}};
            assign heard   = {LINKS{1'b0}};
            wire unused_pins = |link_rx;
        end else begin : g_pins
            assign rx      = link_rx;
            assign link_tx = tx;
            genvar i;
            for (i = 0; i < LINKS; i = i + 1) begin : g_heard
                sync_bit u_heard (.clk(clk), .d(link_rx[i]), .q(heard[i]));
            end
        end
    endgenerate

    ni_lines #(
        .HOST_PHY(2), .DIVISOR_BITS(DIVISOR_BITS), .LINK_PHY(LOOP != 0 ? 0 : 1), .OVERSAMPLE(OVERSAMPLE), .LINKS(LINKS), .FRAMES(FRAMES), .PAGE_BYTES(PAGE_BYTES),
        .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .ROUTES(ROUTES), .SOURCE_HASH(SOURCE_HASH)
    ) u_ni (
        .clk(clk), .rst(rst), .host_divisor(DIVISOR[DIVISOR_BITS-1:0]), .link_divisor({DIVISOR_BITS{1'b0}}),
        .host_tx(host_tx), .host_rx(host_rx), .link_tx(tx), .link_rx(rx)
    );

    // Lamps. A change is seen until the next time that the low bits of the clock count come round.
    wire            host_heard;
    reg  [BLINK:0]  count;
    reg  [LINKS:0]  was;
    reg             round;
    sync_bit #(.INIT(1'b1)) u_host_heard (.clk(clk), .d(host_rx), .q(host_heard));
    assign alive = count[BLINK];
    always @(posedge clk) begin
        count     <= rst ? {BLINK + 1{1'b0}} : count + 1'b1;
        round     <= &count[BLINK-4:0];
        was       <= {heard, host_heard};
        host_busy <= (host_busy && !round) || was[0] != host_heard;
        link_busy <= (link_busy && !round) || was[LINKS:1] != heard;
        if (rst) {host_busy, link_busy} <= 2'b00;
    end
endmodule
`resetall
