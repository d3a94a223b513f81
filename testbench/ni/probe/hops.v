`default_nettype none
// Two ends of links with a chain of routers between them, joined by direct PHYs, one a lane, with probes inside: for the time that a router
// takes. Simulation only.
//
// as_*: packets into the first endpoint; am_*: out of the last. wr_addr, wr_data: entries of all routers' tables. up: all links are.
// in_at: the clock edge at which the last byte of a packet was taken; out_at: the edge at which it came out.
module hops #(
    parameter ROUTERS      = 1,
    parameter LANES        = 1,
    parameter WIDTH        = 1,
    parameter PAGE_BYTES   = 2048,
    parameter REPLAY_BYTES = 4096,
    parameter RX_BYTES     = 4096
) (
    input  wire        clk,
    input  wire        rst,
    input  wire        wr_en,
    input  wire [15:0] wr_addr,
    input  wire [31:0] wr_data,

    input  wire        as_valid,
    output wire        as_ready,
    input  wire [7:0]  as_data,
    input  wire        as_last,
    output wire        am_valid,
    input  wire        am_ready,
    output wire [7:0]  am_data,
    output wire        am_last,

    output wire        up,
    output reg  [31:0] in_at,
    output reg  [31:0] out_at
);
`include "linkproto.vh"
    localparam MAX_PACKET = PAGE_BYTES + `LP_PACKET_EXTRA + `LP_ROUTE_EXTRA;

    localparam DW = 8 * WIDTH;

    // Cable k goes from place k to place k + 1, and back: place 0 is the first end, ROUTERS + 1 the last.
    wire [9*LANES*(ROUTERS+1)-1:0] right, left;
    wire [ROUTERS+1:0]             ends_up;
    assign up = &ends_up;

    genvar g, k;
    generate
        for (g = 0; g <= ROUTERS + 1; g = g + 1) begin : g_place
            // Of the cable to the left, then of that to the right; those of ends have but one.
            localparam SIDES = g == 0 || g == ROUTERS + 1 ? 1 : 2;
            wire [9*LANES*SIDES-1:0] tx, rx;
            wire [LANES*SIDES-1:0]   ready, valid;
            for (k = 0; k < LANES; k = k + 1) begin : g_lane
                if (g != 0) begin : g_left
                    phy_direct u_phy (.clk(clk), .rst(rst), .tx_sym(tx[9*k +: 9]), .tx_ready(ready[k]), .rx_sym(rx[9*k +: 9]),
                        .rx_valid(valid[k]), .line_tx(left[9*(LANES*(g-1)+k) +: 9]), .line_rx(right[9*(LANES*(g-1)+k) +: 9]));
                end
                if (g <= ROUTERS) begin : g_right
                    localparam AT = LANES * (SIDES - 1) + k;
                    phy_direct u_phy (.clk(clk), .rst(rst), .tx_sym(tx[9*AT +: 9]), .tx_ready(ready[AT]), .rx_sym(rx[9*AT +: 9]),
                        .rx_valid(valid[AT]), .line_tx(right[9*(LANES*g+k) +: 9]), .line_rx(left[9*(LANES*g+k) +: 9]));
                end
            end
            if (SIDES == 1) begin : g_end
                wire             p_valid, p_ready, p_last, u_ready, u_valid, u_last;
                wire [DW-1:0]    p_data, u_data;
                wire [WIDTH-1:0] p_keep, u_keep;
                wire             taken, gone, m_valid, m_last;
                wire [7:0]       m_data;
                wire [15:0]      status;
                beat_pack #(.WIDTH(WIDTH)) u_pack (
                    .clk(clk), .clear(rst), .s_valid(as_valid && g == 0), .s_ready(taken), .s_data(as_data), .s_last(as_last),
                    .m_valid(p_valid), .m_ready(p_ready), .m_data(p_data), .m_keep(p_keep), .m_last(p_last)
                );
                link_lanes #(
                    .LANES(LANES), .WIDTH(WIDTH), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET),
                    .EARLY(1), .ROUTES(1)
                ) u_end (
                    .clk(clk), .rst(rst), .node(16'd1 + g), .nonce(32'h100001 + g), .anonymous(1'b0), .renew(1'b0), .soon(1'b0),
                    .s_valid(p_valid), .s_ready(p_ready), .s_data(p_data), .s_keep(p_keep), .s_last(p_last), .cancel(1'b0),
                    .has_room(), .size(16'd0), .takes(), .refused(1'b0), .admit(1'b0), .freed_bytes(), .freed_packets(),
                    .m_valid(u_valid), .m_ready(u_ready), .m_data(u_data), .m_keep(u_keep), .m_last(u_last), .m_sure(), .m_void(),
                    .coming(), .say(14'd0), .say_take(), .heard(),
                    .tick({LANES{1'b1}}), .tx_sym(tx), .tx_ready(ready), .rx_sym(rx), .rx_valid(valid),
                    .status(status), .peer(), .events(), .open(), .foreign()
                );
                beat_bytes #(.WIDTH(WIDTH)) u_bytes (
                    .clk(clk), .leave(rst), .data(u_data), .keep(u_keep), .last(u_last), .step(m_valid && (am_ready || g == 0)),
                    .byte_q(m_data), .byte_last(m_last), .done(gone)
                );
                assign m_valid = u_valid;
                assign u_ready = gone && (am_ready || g == 0);
                if (g == 0) begin : g_in
                    assign as_ready = taken;
                end else begin : g_out
                    assign {am_valid, am_last, am_data} = {m_valid, m_last, m_data};
                end
                assign ends_up[g] = status[`LP_LINK_STATUS_UP_BIT];
            end else begin : g_router
                wire [31:0] status;
                net_links #(
                    .PORTS(2), .LANES(LANES), .WIDTH(WIDTH), .MAX_PACKET(MAX_PACKET), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES),
                    .NODES(64)
                ) u_links (
                    .clk(clk), .rst(rst), .node(16'd1 + g), .nonce(32'h100001 + g), .renew(1'b0), .soon(1'b0), .back(2'd0), .from(),
                    .strict(1'b0), .s_valid(1'b0), .s_ready(), .s_data({DW{1'b0}}), .s_keep({WIDTH{1'b0}}), .s_last(1'b0), .s_void(1'b0),
                    .m_valid(), .m_ready(1'b1), .m_data(), .m_keep(), .m_last(), .cancel(), .has_room(1'b1), .overdue(1'b0),
                    .tick({2*LANES{1'b1}}), .tx_sym(tx), .tx_ready(ready), .rx_sym(rx), .rx_valid(valid),
                    .clearing(), .wr_en(wr_en), .wr_group(1'b0), .wr_addr(wr_addr), .wr_data(wr_data),
                    .rd_en(1'b0), .rd_done(), .rd_value(), .b_en(1'b0), .b_write(1'b0), .b_addr(7'd0), .b_wdata(32'd0),
                    .b_done(), .b_ok(), .b_value(),
                    .status(status), .lanes(), .peer(), .events(), .ev_bad(), .ev_lost(), .ev_hops(), .ev_late()
                );
                assign ends_up[g] = status[`LP_LINK_STATUS_UP_BIT] && status[16 + `LP_LINK_STATUS_UP_BIT];
            end
        end
    endgenerate

    reg [31:0] now;
    always @(posedge clk) begin
        now <= rst ? 32'd0 : now + 32'd1;
        if (as_valid && as_ready && as_last) in_at <= now;
        if (am_valid && am_ready && am_last) out_at <= now;
    end
endmodule
`resetall
