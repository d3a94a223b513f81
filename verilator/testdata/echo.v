`default_nettype none
// A stream through a one-item register, and a symbol port that sends back what came in, one clock later.
module echo #(
    parameter XOR = 0
) (
    input  wire        clk,
    input  wire        rst,
    input  wire        s_valid,
    output wire        s_ready,
    input  wire [15:0] s_data,
    input  wire        s_last,
    output reg         m_valid,
    input  wire        m_ready,
    output reg  [15:0] m_data,
    output reg         m_last,
    input  wire [35:0] rx,
    input  wire        rx_valid,
    output reg  [35:0] tx,
    input  wire        tx_ready
);
    assign s_ready = !m_valid | m_ready;
    always @(posedge clk) begin
        if (s_ready) begin
            m_valid <= s_valid;
            m_data <= s_data ^ XOR;
            m_last <= s_last;
        end
        if (rst) m_valid <= 0;
    end
    always @(posedge clk) tx <= rx_valid ? rx : 36'h1BC_1BC1BC;
endmodule
`resetall
