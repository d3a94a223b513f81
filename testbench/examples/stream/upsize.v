`default_nettype none
// Packs the bytes of AXI4-Stream frames into words of four, the first byte lowest. tkeep says which bytes of a frame's last word are there.
module upsize (
    input  wire        clk,
    input  wire        rst,

    input  wire [7:0]  s_axis_tdata,
    input  wire        s_axis_tvalid,
    output wire        s_axis_tready,
    input  wire        s_axis_tlast,

    output reg  [31:0] m_axis_tdata,
    output reg  [3:0]  m_axis_tkeep,
    output reg         m_axis_tvalid,
    input  wire        m_axis_tready,
    output reg         m_axis_tlast
);
    reg [1:0]  count;           // bytes in part
    reg [23:0] part;
    wire       take = s_axis_tvalid && s_axis_tready;
    wire       full = s_axis_tlast || count == 2'd3;    // this byte completes a word

    assign s_axis_tready = !m_axis_tvalid || m_axis_tready;

    always @(posedge clk) begin
        if (m_axis_tready) m_axis_tvalid <= 1'b0;
        if (take) begin
            count <= full ? 2'd0 : count + 2'd1;
            part  <= full ? 24'd0 : part | {16'd0, s_axis_tdata} << {count, 3'd0};
            if (full) begin
                m_axis_tvalid <= 1'b1;
                m_axis_tdata  <= {8'd0, part} | {24'd0, s_axis_tdata} << {count, 3'd0};
                m_axis_tkeep  <= 4'b1111 >> (2'd3 - count);
                m_axis_tlast  <= s_axis_tlast;
            end
        end
        if (rst) begin
            m_axis_tvalid <= 1'b0;
            count         <= 2'd0;
            part          <= 24'd0;
        end
    end
endmodule
`resetall
