`default_nettype none
// Two link endpoints with a chain of routers between them, joined by direct PHYs, with probes inside: for the time that a router takes.
// Simulation only.
//
// as_*: packets into the first endpoint; am_*: out of the last. wr_addr, wr_data: entries of all routers' tables. up: all links are.
// in_at: the clock edge at which the last byte of a packet was taken; out_at: the edge at which it came out.
module hops #(
    parameter ROUTERS      = 1,
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

    // Line k goes from place k to place k + 1, and back: place 0 is the first endpoint, ROUTERS + 1 the last.
    wire [9*(ROUTERS+1)-1:0] right, left;
    wire [ROUTERS+1:0]       ends_up;
    assign up = &ends_up;

    genvar g;
    generate
        for (g = 0; g <= ROUTERS + 1; g = g + 1) begin : g_place
            if (g == 0 || g == ROUTERS + 1) begin : g_end
                wire [8:0]  tx, rx;
                wire        ready, valid;
                wire [15:0] status;
                if (g == 0) begin : g_first
                    phy_direct u_phy (.clk(clk), .rst(rst), .tx_sym(tx), .tx_ready(ready), .rx_sym(rx), .rx_valid(valid),
                        .line_tx(right[8:0]), .line_rx(left[8:0]));
                end else begin : g_last
                    phy_direct u_phy (.clk(clk), .rst(rst), .tx_sym(tx), .tx_ready(ready), .rx_sym(rx), .rx_valid(valid),
                        .line_tx(left[9*ROUTERS +: 9]), .line_rx(right[9*ROUTERS +: 9]));
                end
                wire        s_ready, m_valid, m_last;
                wire [7:0]  m_data;
                link_endpoint #(
                    .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .EARLY(1), .ROUTES(1)
                ) u_end (
                    .clk(clk), .rst(rst), .node(16'd1 + g), .nonce(32'h100001 + g), .anonymous(1'b0), .renew(1'b0), .soon(1'b0),
                    .s_valid(as_valid && g == 0), .s_ready(s_ready), .s_data(as_data), .s_keep(1'b1), .s_last(as_last), .cancel(1'b0),
                    .has_room(), .size(16'd0), .takes(), .refused(1'b0), .admit(1'b0), .freed_bytes(), .freed_packets(),
                    .m_valid(m_valid), .m_ready(am_ready || g == 0), .m_data(m_data), .m_keep(), .m_last(m_last), .m_sure(), .m_void(),
                    .coming(), .tick(1'b1), .tx_sym(tx), .tx_ready(ready), .rx_sym(rx), .rx_valid(valid),
                    .status(status), .peer(), .events()
                );
                if (g == 0) begin : g_in
                    assign as_ready = s_ready;
                end else begin : g_out
                    assign {am_valid, am_last, am_data} = {m_valid, m_last, m_data};
                end
                assign ends_up[g] = status[`LP_LINK_STATUS_UP_BIT];
            end else begin : g_router
                wire [17:0] tx, rx;
                wire [1:0]  ready, valid;
                wire [31:0] status;
                phy_direct u_left (.clk(clk), .rst(rst), .tx_sym(tx[8:0]), .tx_ready(ready[0]), .rx_sym(rx[8:0]), .rx_valid(valid[0]),
                    .line_tx(left[9*(g-1) +: 9]), .line_rx(right[9*(g-1) +: 9]));
                phy_direct u_right (.clk(clk), .rst(rst), .tx_sym(tx[17:9]), .tx_ready(ready[1]), .rx_sym(rx[17:9]), .rx_valid(valid[1]),
                    .line_tx(right[9*g +: 9]), .line_rx(left[9*g +: 9]));
                net_links #(
                    .PORTS(2), .MAX_PACKET(MAX_PACKET), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .NODES(64)
                ) u_links (
                    .clk(clk), .rst(rst), .node(16'd1 + g), .nonce(32'h100001 + g), .renew(1'b0), .soon(1'b0), .back(2'd0), .from(),
                    .strict(1'b0), .s_valid(1'b0), .s_ready(), .s_data(8'd0), .s_keep(1'b0), .s_last(1'b0), .s_void(1'b0),
                    .m_valid(), .m_ready(1'b1), .m_data(), .m_keep(), .m_last(), .cancel(), .has_room(1'b1), .overdue(1'b0),
                    .tick(2'b11), .tx_sym(tx), .tx_ready(ready), .rx_sym(rx), .rx_valid(valid),
                    .clearing(), .wr_en(wr_en), .wr_group(1'b0), .wr_addr(wr_addr), .wr_data(wr_data),
                    .rd_en(1'b0), .rd_done(), .rd_value(),
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
