// AXI4 from a master to a slave, with two registers in each channel: what stands between the models of both in tests.
`default_nettype none

module axi_pipe #(
    parameter DATA_WIDTH = 64,
    parameter ADDR_WIDTH = 32,
    parameter ID_WIDTH = 4
) (
    input  wire                      clk,
    input  wire                      rst,
    input  wire [ID_WIDTH-1:0]       s_axi_awid,
    input  wire [ADDR_WIDTH-1:0]     s_axi_awaddr,
    input  wire [7:0]                s_axi_awlen,
    input  wire [2:0]                s_axi_awsize,
    input  wire [1:0]                s_axi_awburst,
    input  wire                      s_axi_awlock,
    input  wire [3:0]                s_axi_awcache,
    input  wire [2:0]                s_axi_awprot,
    input  wire [3:0]                s_axi_awqos,
    input  wire                      s_axi_awvalid,
    output wire                      s_axi_awready,
    input  wire [DATA_WIDTH-1:0]     s_axi_wdata,
    input  wire [DATA_WIDTH/8-1:0]   s_axi_wstrb,
    input  wire                      s_axi_wlast,
    input  wire                      s_axi_wvalid,
    output wire                      s_axi_wready,
    output wire [ID_WIDTH-1:0]       s_axi_bid,
    output wire [1:0]                s_axi_bresp,
    output wire                      s_axi_bvalid,
    input  wire                      s_axi_bready,
    input  wire [ID_WIDTH-1:0]       s_axi_arid,
    input  wire [ADDR_WIDTH-1:0]     s_axi_araddr,
    input  wire [7:0]                s_axi_arlen,
    input  wire [2:0]                s_axi_arsize,
    input  wire [1:0]                s_axi_arburst,
    input  wire                      s_axi_arlock,
    input  wire [3:0]                s_axi_arcache,
    input  wire [2:0]                s_axi_arprot,
    input  wire [3:0]                s_axi_arqos,
    input  wire                      s_axi_arvalid,
    output wire                      s_axi_arready,
    output wire [ID_WIDTH-1:0]       s_axi_rid,
    output wire [DATA_WIDTH-1:0]     s_axi_rdata,
    output wire [1:0]                s_axi_rresp,
    output wire                      s_axi_rlast,
    output wire                      s_axi_rvalid,
    input  wire                      s_axi_rready,
    output wire [ID_WIDTH-1:0]       m_axi_awid,
    output wire [ADDR_WIDTH-1:0]     m_axi_awaddr,
    output wire [7:0]                m_axi_awlen,
    output wire [2:0]                m_axi_awsize,
    output wire [1:0]                m_axi_awburst,
    output wire                      m_axi_awlock,
    output wire [3:0]                m_axi_awcache,
    output wire [2:0]                m_axi_awprot,
    output wire [3:0]                m_axi_awqos,
    output wire                      m_axi_awvalid,
    input  wire                      m_axi_awready,
    output wire [DATA_WIDTH-1:0]     m_axi_wdata,
    output wire [DATA_WIDTH/8-1:0]   m_axi_wstrb,
    output wire                      m_axi_wlast,
    output wire                      m_axi_wvalid,
    input  wire                      m_axi_wready,
    input  wire [ID_WIDTH-1:0]       m_axi_bid,
    input  wire [1:0]                m_axi_bresp,
    input  wire                      m_axi_bvalid,
    output wire                      m_axi_bready,
    output wire [ID_WIDTH-1:0]       m_axi_arid,
    output wire [ADDR_WIDTH-1:0]     m_axi_araddr,
    output wire [7:0]                m_axi_arlen,
    output wire [2:0]                m_axi_arsize,
    output wire [1:0]                m_axi_arburst,
    output wire                      m_axi_arlock,
    output wire [3:0]                m_axi_arcache,
    output wire [2:0]                m_axi_arprot,
    output wire [3:0]                m_axi_arqos,
    output wire                      m_axi_arvalid,
    input  wire                      m_axi_arready,
    input  wire [ID_WIDTH-1:0]       m_axi_rid,
    input  wire [DATA_WIDTH-1:0]     m_axi_rdata,
    input  wire [1:0]                m_axi_rresp,
    input  wire                      m_axi_rlast,
    input  wire                      m_axi_rvalid,
    output wire                      m_axi_rready
);
    axi_pipe_slice #(.WIDTH(ID_WIDTH + ADDR_WIDTH + 25)) u_aw (
        .clk(clk), .rst(rst),
        .s_valid(s_axi_awvalid), .s_ready(s_axi_awready), .s_data({s_axi_awid, s_axi_awaddr, s_axi_awlen, s_axi_awsize, s_axi_awburst, s_axi_awlock, s_axi_awcache, s_axi_awprot, s_axi_awqos}),
        .m_valid(m_axi_awvalid), .m_ready(m_axi_awready), .m_data({m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awsize, m_axi_awburst, m_axi_awlock, m_axi_awcache, m_axi_awprot, m_axi_awqos})
    );

    axi_pipe_slice #(.WIDTH(DATA_WIDTH / 8 * 9 + 1)) u_w (
        .clk(clk), .rst(rst),
        .s_valid(s_axi_wvalid), .s_ready(s_axi_wready), .s_data({s_axi_wdata, s_axi_wstrb, s_axi_wlast}),
        .m_valid(m_axi_wvalid), .m_ready(m_axi_wready), .m_data({m_axi_wdata, m_axi_wstrb, m_axi_wlast})
    );

    axi_pipe_slice #(.WIDTH(ID_WIDTH + 2)) u_b (
        .clk(clk), .rst(rst),
        .s_valid(m_axi_bvalid), .s_ready(m_axi_bready), .s_data({m_axi_bid, m_axi_bresp}),
        .m_valid(s_axi_bvalid), .m_ready(s_axi_bready), .m_data({s_axi_bid, s_axi_bresp})
    );

    axi_pipe_slice #(.WIDTH(ID_WIDTH + ADDR_WIDTH + 25)) u_ar (
        .clk(clk), .rst(rst),
        .s_valid(s_axi_arvalid), .s_ready(s_axi_arready), .s_data({s_axi_arid, s_axi_araddr, s_axi_arlen, s_axi_arsize, s_axi_arburst, s_axi_arlock, s_axi_arcache, s_axi_arprot, s_axi_arqos}),
        .m_valid(m_axi_arvalid), .m_ready(m_axi_arready), .m_data({m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_arsize, m_axi_arburst, m_axi_arlock, m_axi_arcache, m_axi_arprot, m_axi_arqos})
    );

    axi_pipe_slice #(.WIDTH(ID_WIDTH + DATA_WIDTH + 3)) u_r (
        .clk(clk), .rst(rst),
        .s_valid(m_axi_rvalid), .s_ready(m_axi_rready), .s_data({m_axi_rid, m_axi_rdata, m_axi_rresp, m_axi_rlast}),
        .m_valid(s_axi_rvalid), .m_ready(s_axi_rready), .m_data({s_axi_rid, s_axi_rdata, s_axi_rresp, s_axi_rlast})
    );
endmodule

`resetall
