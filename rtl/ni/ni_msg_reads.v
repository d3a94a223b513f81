`default_nettype none
// Shares the receive buffer's read port: the host comes first, then the units of messages in their order.
//
// Contract:
//   h_*: the host, as of ni_buffer: h_data is the word of h_addr one clock after h_en, and stays until the next h_en.
//   e_valid[i] with its address stands until e_done[i] (pulse), in which e_data is the word. m_*: the buffer's port.
module ni_msg_reads #(
    parameter UNITS = 2,
    parameter AW    = 10
) (
    input  wire             clk,
    input  wire             rst,
    input  wire             h_en,
    input  wire [AW-1:0]    h_addr,
    output wire [31:0]      h_data,
    output wire             h_clash,
    input  wire [UNITS-1:0] e_valid,
    input  wire [UNITS*AW-1:0] e_addr,
    output reg  [UNITS-1:0] e_done,
    output wire [31:0]      e_data,
    output wire             m_en,
    output wire [AW-1:0]    m_addr,
    input  wire [31:0]      m_data,
    input  wire             m_clash
);
    // `asked`: of whom the word is that comes in this clock.
    reg  [UNITS-1:0] asked, choice;
    reg              of_host;
    reg  [31:0]      kept;
    reg  [AW-1:0]    addr;
    integer i;
    always @* begin
        choice = {UNITS{1'b0}};
        addr   = h_addr;
        for (i = UNITS - 1; i >= 0; i = i - 1)
            if (e_valid[i] && asked == {UNITS{1'b0}} && !h_en) begin
                choice    = {UNITS{1'b0}};
                choice[i] = 1'b1;
                addr      = e_addr[AW*i +: AW];
            end
        e_done = m_clash ? {UNITS{1'b0}} : asked;
    end
    assign m_en    = h_en || choice != {UNITS{1'b0}};
    assign m_addr  = addr;
    assign e_data  = m_data;
    assign h_data  = of_host ? m_data : kept;
    assign h_clash = of_host && m_clash;
    always @(posedge clk) begin
        asked   <= rst ? {UNITS{1'b0}} : choice;
        of_host <= h_en;
        if (of_host) kept <= m_data;
    end
endmodule
`resetall
