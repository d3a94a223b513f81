// A register between two streams. s_ready follows from m_ready in the same clock.
module stage (
    input  wire        clk,
    input  wire        rst,
    input  wire [15:0] s_data,
    input  wire        s_valid,
    output wire        s_ready,
    output reg  [15:0] m_data,
    output reg         m_valid,
    input  wire        m_ready
);
    assign s_ready = !m_valid || m_ready;

    always @(posedge clk) begin
        if (s_ready) begin
            m_valid <= s_valid;
            m_data  <= s_data;
        end
        if (rst) m_valid <= 0;
    end
endmodule
