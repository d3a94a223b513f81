// An Avalon-MM agent (s_) that passes a request at a time on to a host (m_), for the tests of both. Broken chooses a violation of the rules.
module avmm_through (
    input  wire        clk,
    input  wire        rst,
    input  wire [2:0]  broken,
    input  wire [9:0]  s_address,
    input  wire        s_read,
    input  wire        s_write,
    input  wire [31:0] s_writedata,
    input  wire [3:0]  s_byteenable,
    input  wire [3:0]  s_burstcount,
    output wire        s_waitrequest,
    output reg  [31:0] s_readdata,
    output reg         s_readdatavalid,
    output reg  [1:0]  s_response,
    output wire [9:0]  m_address,
    output wire        m_read,
    output wire        m_write,
    output reg  [31:0] m_writedata,
    output reg  [3:0]  m_byteenable,
    output wire [3:0]  m_burstcount,
    input  wire        m_waitrequest,
    input  wire [31:0] m_readdata,
    input  wire        m_readdatavalid,
    input  wire [1:0]  m_response
);
    reg       full, writes, waited, stray;
    reg [9:0] address;
    reg [3:0] count, beat;
    assign s_waitrequest = full;
    assign m_read        = full && (!writes || broken == 3'd1 || (broken == 3'd4 && beat == 4'd1));
    assign m_write       = full && writes && !(broken == 3'd4 && beat == 4'd1);
    assign m_address     = broken == 3'd2 && waited ? ~address : address;
    assign m_burstcount  = broken == 3'd3 ? 4'd0 : count;
    always @(posedge clk) begin
        waited <= full && m_waitrequest;
        stray  <= s_read && !s_waitrequest;
        {s_readdatavalid, s_readdata, s_response} <= {m_readdatavalid || (broken == 3'd5 && !s_read && !stray), m_readdata, m_response};
        if (!full && (s_read || s_write)) begin
            {full, writes} <= {1'b1, s_write};
            {address, m_writedata, m_byteenable, count} <= {s_address, s_writedata, s_byteenable, s_burstcount};
        end else if (full && !m_waitrequest) begin
            full <= 1'b0;
            beat <= !writes || beat + 4'd1 == count ? 4'd0 : beat + 4'd1;
        end
        if (rst) {full, beat, s_readdatavalid} <= 6'd0;
    end
endmodule
