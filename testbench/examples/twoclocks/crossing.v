`default_nettype none
// Carries words from one clock to another. A word waits in the register `word` until the far end has answered, so its bits are stable
// when they are taken. req and ack change level for each word, and pass two registers of the other clock.
module crossing (
    input  wire        wr_clk,
    input  wire        wr_rst,
    input  wire        s_valid,
    output wire        s_ready,
    input  wire [15:0] s_data,

    input  wire        rd_clk,
    input  wire        rd_rst,
    output reg         m_valid,
    input  wire        m_ready,
    output reg  [15:0] m_data
);
    reg        req, ack;
    reg [1:0]  ack_seen, req_seen;
    reg [15:0] word;

    assign s_ready = req == ack_seen[1];

    always @(posedge wr_clk) begin
        ack_seen <= {ack_seen[0], ack};
        if (s_valid && s_ready) begin
            word <= s_data;
            req  <= !req;
        end
        if (wr_rst) begin
            req      <= 1'b0;
            ack_seen <= 2'd0;
        end
    end

    always @(posedge rd_clk) begin
        req_seen <= {req_seen[0], req};
        if (m_ready) m_valid <= 1'b0;
        if (req_seen[1] != ack && (!m_valid || m_ready)) begin
            m_valid <= 1'b1;
            m_data  <= word;
            ack     <= req_seen[1];
        end
        if (rd_rst) begin
            m_valid  <= 1'b0;
            ack      <= 1'b0;
            req_seen <= 2'd0;
        end
    end
endmodule
`resetall
