// An Avalon-MM agent and host without pipelined reads or bursts: the host (m_) repeats what the agent (s_) is asked.
module avmm_simple (
    input  wire        clk,
    input  wire        rst,
    input  wire [7:0]  s_address,
    input  wire        s_read,
    input  wire        s_write,
    input  wire [15:0] s_writedata,
    output wire        s_waitrequest,
    output reg  [15:0] s_readdata,
    output reg  [7:0]  m_address,
    output reg         m_read,
    output reg         m_write,
    output reg  [15:0] m_writedata,
    input  wire        m_waitrequest,
    input  wire [15:0] m_readdata
);
    reg done;
    assign s_waitrequest = !done;
    always @(posedge clk) begin
        done <= 1'b0;
        if (m_read || m_write) begin
            if (!m_waitrequest) begin
                s_readdata              <= m_readdata;
                {m_read, m_write, done} <= 3'b001;
            end
        end else if (!done) begin
            {m_read, m_write, m_address, m_writedata} <= {s_read, s_write, s_address, s_writedata};
        end
        if (rst) {m_read, m_write, done} <= 3'd0;
    end
endmodule
