`default_nettype none
// A network interface that takes routed packets and tells when remote writes have come. Simulation only.
//
// line_*: as of ni_direct. arrived[33*l +: 33]: a write by link l + 1 is in the receive buffer, all of it, a one and the first four bytes that
// it has written, if its address is a multiple of eight; 0 in all other clocks.
// barrier, BARRIER 1: {its node has entered, all have, group, phase}; 0 in all other clocks.
module ni_watched #(
    parameter LINKS        = 1,
    parameter FRAMES       = 4,
    parameter PAGE_BYTES   = 1024,
    parameter REPLAY_BYTES = 4096,
    parameter RX_BYTES     = 4096,
    parameter HEADROOM     = 256,
    parameter ROUTER       = 0,
    parameter ACK_DELAY    = 512,
    parameter WIDTH        = 1,
    parameter LANES        = 1,
    parameter HOST_LANES   = 1,
    parameter BARRIER      = 0,
    parameter LINES        = HOST_LANES + LANES * (ROUTER != 0 ? ROUTER : LINKS)   // not to be set
) (
    input  wire                   clk,
    input  wire                   rst,
    output wire [9*LINES-1:0]     line_tx,
    input  wire [9*LINES-1:0]     line_rx,
    output wire [33*LINKS-1:0]    arrived,
    output wire [10:0]            barrier
);
    localparam WORD = WIDTH == 1 ? 4 : WIDTH;
    ni_direct #(
        .LINKS(LINKS), .FRAMES(FRAMES), .PAGE_BYTES(PAGE_BYTES), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .HEADROOM(HEADROOM),
        .ACK_DELAY(ACK_DELAY), .ROUTES(1), .ROUTER(ROUTER), .BARRIER(BARRIER), .WIDTH(WIDTH), .LANES(LANES), .HOST_LANES(HOST_LANES)
    ) dut (
        .clk(clk), .rst(rst), .line_tx(line_tx), .line_rx(line_rx)
    );

    genvar l;
    generate
        for (l = 0; l < LINKS; l = l + 1) begin : g_link
            reg  begun, told;           // a word of a write is written; it is told of a write
            wire whole = dut.u_ni.n_valid[l];
            reg  [31:0] tag;
            assign arrived[33*l +: 33] = whole && !told && !rst ? {1'b1, tag} : 33'd0;
            always @(posedge clk) begin
                if (dut.u_ni.w_take[l] && !begun) tag <= dut.u_ni.w_data[8*WORD*l +: 32];
                begun <= (begun || dut.u_ni.w_take[l]) && !whole && !rst;
                told  <= whole && !dut.u_ni.n_ready[l] && !rst;
            end
        end

        if (BARRIER != 0) begin : g_barrier
            `define UNIT dut.u_ni.g_link[0].u_port.g_network.u_network.u_links.g_barrier.u_barrier
            wire left = `UNIT.all, entered = `UNIT.news && `UNIT.reg_done;
            assign barrier = entered || left ? {entered, left, `UNIT.group, `UNIT.next} : 11'd0;
        end else begin : g_no_barrier
            assign barrier = 11'd0;
        end
    endgenerate
endmodule
`resetall
