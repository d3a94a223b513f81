// Registers of one channel of axi_pipe: valid, ready and data are all registers, and items pass every clock.
`default_nettype none

module axi_pipe_slice #(
    parameter WIDTH = 8
) (
    input  wire             clk,
    input  wire             rst,
    input  wire             s_valid,
    output wire             s_ready,
    input  wire [WIDTH-1:0] s_data,
    output reg              m_valid,
    input  wire             m_ready,
    output reg  [WIDTH-1:0] m_data
);
    reg             spare;              // spare_data holds an item
    reg [WIDTH-1:0] spare_data;

    assign s_ready = !spare;

    always @(posedge clk)
        if (rst) begin
            m_valid <= 1'b0;
            spare   <= 1'b0;
        end else if (m_ready || !m_valid) begin
            m_valid <= spare || s_valid;
            spare   <= 1'b0;
        end else if (s_valid) spare <= 1'b1;

    always @(posedge clk) begin
        if (m_ready || !m_valid) m_data <= spare ? spare_data : s_data;
        if (!spare) spare_data <= s_data;
    end
endmodule

`resetall
