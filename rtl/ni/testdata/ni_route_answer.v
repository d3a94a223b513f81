`default_nettype none
// ni_route, node 7, and ni_answer behind it, as in ni_port.
module ni_route_answer #(
    parameter WIDTH = 1
) (
    input  wire               clk,
    input  wire               rst,
    input  wire               s_valid,
    output wire               s_ready,
    input  wire [8*WIDTH-1:0] s_data,
    input  wire [WIDTH-1:0]   s_keep,
    input  wire               s_last,
    input  wire               s_void,
    output wire               ev_lost,
    output wire               m_valid,
    input  wire               m_ready,
    output wire [7:0]         m_kind,
    output wire [15:0]        m_length,
    output wire [7:0]         m_data,
    output wire               m_last
);
    wire pause, put, told, untold;
    ni_route #(.MAX_PACKET(256), .EARLY(1), .WIDTH(WIDTH)) u_route (
        .clk(clk), .rst(rst), .node(16'd7), .gateway(1'b0),
        .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_keep(s_keep), .s_last(s_last), .s_void(s_void),
        .m_valid(), .m_ready(1'b1), .m_data(), .m_keep(), .m_last(), .m_sure(), .m_void(), .room(), .overdue(1'b0),
        .pause(pause), .put(put), .told(told), .untold(untold), .ev_bad(), .ev_late()
    );
    ni_answer #(.LINK(1), .HOLD_BYTES(128), .WIDTH(WIDTH)) u_answer (
        .clk(clk), .rst(rst), .s_put(put), .s_data(s_data), .s_keep(s_keep), .s_last(s_last), .commit(told), .rollback(untold),
        .pause(pause), .ev_lost(ev_lost), .t_valid(1'b0), .t_ready(), .t_kind(8'd0), .t_length(16'd0), .t_data(8'd0), .t_last(1'b0),
        .m_valid(m_valid), .m_ready(m_ready), .m_kind(m_kind), .m_length(m_length), .m_data(m_data), .m_last(m_last)
    );
endmodule
`resetall
