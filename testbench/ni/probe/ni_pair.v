`default_nettype none
// Two network interfaces joined by their links, with probes inside: for latencies counted in clocks. Simulation only.
//
// eop_at: the clock edge at which the last EOP entered a's host port; written_at: the edge at which the last word from the link
// was written to b's receive buffer, which shows from that edge on. resumed_at: the edge at which b carried out a RESUME; released_at: the
// edge at which the first word from the link after that was written.
// a_link, b_link: the symbols on the link, from a and from b. b_sure: what stands behind the endpoint of b's link is committed.
// b_writes: a word from the link is written to b's receive buffer, at byte address b_addr, with its mask b_mask (0 at other clocks).
// b_holds: b's link is trapped.
module ni_pair #(
    parameter FRAMES       = 4,
    parameter PAGE_BYTES   = 1024,
    parameter REPLAY_BYTES = 4096,
    parameter RX_BYTES     = 4096
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [8:0]  a_rx,
    output wire [8:0]  a_tx,
    input  wire [8:0]  b_rx,
    output wire [8:0]  b_tx,
    output reg  [31:0] eop_at,
    output reg  [31:0] written_at,
    output reg  [31:0] resumed_at,
    output reg  [31:0] released_at,
    output wire [8:0]  a_link,
    output wire [8:0]  b_link,
    output wire        b_sure,
    output wire        b_writes,
    output wire [31:0] b_addr,
    output wire [3:0]  b_mask,
    output wire        b_holds
);
`include "linkproto.vh"

    ni_direct #(.FRAMES(FRAMES), .PAGE_BYTES(PAGE_BYTES), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES)) a (
        .clk(clk), .rst(rst), .line_tx({a_link, a_tx}), .line_rx({b_link, a_rx})
    );
    ni_direct #(.FRAMES(FRAMES), .PAGE_BYTES(PAGE_BYTES), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES)) b (
        .clk(clk), .rst(rst), .line_tx({b_link, b_tx}), .line_rx({a_link, b_rx})
    );

    localparam WW = $clog2(FRAMES * PAGE_BYTES) - 2;
    assign b_sure   = b.u_ni.g_link[0].u_port.m_sure;
    assign b_writes = b.u_ni.w_take[0];
    assign b_addr   = b_writes ? {{30 - WW{1'b0}}, b.u_ni.w_addr[WW-1:0], 2'd0} : 32'd0;
    assign b_mask   = b_writes ? b.u_ni.w_mask[3:0] : 4'd0;
    assign b_holds  = b.u_ni.trapped[0];

    reg [31:0] now;
    reg        waiting;
    always @(posedge clk) begin
        now <= rst ? 32'd0 : now + 32'd1;
        if (a_rx == `LP_SYM_EOP) eop_at <= now;
        if (b.u_ni.w_take[0]) written_at <= now;
        if (b.u_ni.u_reply.resume[0]) begin
            resumed_at <= now;
            waiting    <= 1'b1;
        end else if (waiting && b.u_ni.w_take[0]) begin
            released_at <= now;
            waiting     <= 1'b0;
        end
        if (rst) {eop_at, written_at, resumed_at, released_at, waiting} <= 129'd0;
    end
endmodule
`resetall
