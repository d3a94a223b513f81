// AXI4-Stream FIFO with all sidebands, for tests of models of the bus.
//
// Contract
//   s_axis_tready is a register's value: the FIFO is not full. Transfers come out as they went in, the first at the edge after. DEPTH fit.
//   aresetn is synchronous.
`default_nettype none

module axis_fifo #(
    parameter DATA_WIDTH = 64,
    parameter USER_WIDTH = 4,
    parameter DEPTH = 64                // power of two
) (
    input  wire                    clk,
    input  wire                    aresetn,

    input  wire [DATA_WIDTH-1:0]   s_axis_tdata,
    input  wire [DATA_WIDTH/8-1:0] s_axis_tkeep,
    input  wire [DATA_WIDTH/8-1:0] s_axis_tstrb,
    input  wire [7:0]              s_axis_tid,
    input  wire [3:0]              s_axis_tdest,
    input  wire [USER_WIDTH-1:0]   s_axis_tuser,
    input  wire                    s_axis_tlast,
    input  wire                    s_axis_tvalid,
    output wire                    s_axis_tready,

    output wire [DATA_WIDTH-1:0]   m_axis_tdata,
    output wire [DATA_WIDTH/8-1:0] m_axis_tkeep,
    output wire [DATA_WIDTH/8-1:0] m_axis_tstrb,
    output wire [7:0]              m_axis_tid,
    output wire [3:0]              m_axis_tdest,
    output wire [USER_WIDTH-1:0]   m_axis_tuser,
    output wire                    m_axis_tlast,
    output wire                    m_axis_tvalid,
    input  wire                    m_axis_tready
);
    localparam AW = $clog2(DEPTH);
    localparam WIDTH = DATA_WIDTH + 2 * (DATA_WIDTH / 8) + 8 + 4 + USER_WIDTH + 1;

    generate
        if (DEPTH != 1 << AW || DEPTH < 2) error_depth_must_be_a_power_of_two_from_two u_check_depth ();
        if (DATA_WIDTH % 8 != 0) error_data_width_must_be_whole_bytes u_check_width ();
    endgenerate

    reg [WIDTH-1:0] memory [0:DEPTH-1];
    reg [AW:0]      wp, rp;

    assign s_axis_tready = wp != {~rp[AW], rp[AW-1:0]};
    assign m_axis_tvalid = wp != rp;
    assign {m_axis_tdata, m_axis_tkeep, m_axis_tstrb, m_axis_tid, m_axis_tdest, m_axis_tuser, m_axis_tlast} = memory[rp[AW-1:0]];

    always @(posedge clk)
        if (!aresetn) begin
            wp <= 0;
            rp <= 0;
        end else begin
            wp <= wp + {{AW{1'b0}}, s_axis_tvalid && s_axis_tready};
            rp <= rp + {{AW{1'b0}}, m_axis_tvalid && m_axis_tready};
        end

    always @(posedge clk)
        if (s_axis_tvalid && s_axis_tready)
            memory[wp[AW-1:0]] <= {s_axis_tdata, s_axis_tkeep, s_axis_tstrb, s_axis_tid, s_axis_tdest, s_axis_tuser, s_axis_tlast};
endmodule

`resetall
