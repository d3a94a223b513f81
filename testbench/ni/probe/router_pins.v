`default_nettype none
// A router of four links without them, with few pins: what is set up once stands fixed, and what it counts is one pin. For its size and
// clock on an FPGA.
module router_pins #(
    parameter SLOT_BYTES = 256,
    parameter NODES      = 512
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [15:0] self,
    input  wire [4:0]  alive,
    input  wire [4:0]  s_valid,
    output wire [4:0]  s_ready,
    input  wire [39:0] s_data,
    input  wire [4:0]  s_last,
    input  wire [4:0]  s_void,
    output wire [4:0]  m_valid,
    input  wire [4:0]  m_ready,
    output wire [39:0] m_data,
    output wire [4:0]  m_last,
    output wire [4:0]  m_cancel,
    input  wire [4:0]  has_room,
    input  wire [4:0]  gap,
    output wire [4:0]  admit,
    input  wire        wr_en,
    input  wire        wr_group,
    input  wire [11:0] wr_addr,
    input  wire [7:0]  wr_data,
    output wire        counts
);
    wire [4:0] bad, lost, hops, late;
    assign counts = ^{bad, lost, hops, late};
    net_router #(.PORTS(4), .SLOT_BYTES(SLOT_BYTES), .NODES(NODES)) u_router (
        .clk(clk), .rst(rst), .self(self), .back(3'd0), .from(), .alive(alive), .strict(5'd1), .peer({64'd0, self}),
        .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_keep(5'h1F), .s_last(s_last), .s_void(s_void),
        .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_keep(), .m_last(m_last), .m_cancel(m_cancel),
        .has_room(has_room), .overdue(5'd0), .gap(gap), .admit(admit),
        .clearing(), .wr_en(wr_en), .wr_group(wr_group), .wr_addr({4'd0, wr_addr}), .wr_data({13'd0, wr_data[7:5], 11'd0, wr_data[4:0]}),
        .rd_en(1'b0), .rd_done(), .rd_value(), .ev_bad(bad), .ev_lost(lost), .ev_hops(hops), .ev_late(late)
    );
endmodule
`resetall
