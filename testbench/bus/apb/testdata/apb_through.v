// An APB completer with 16 registers (s_), which answers PSLVERR beyond them, and a requester (m_) that repeats what the completer was asked,
// a word at a time. Broken chooses a violation of the rules by the requester.
module apb_through (
    input  wire        clk,
    input  wire        rst_n,
    input  wire [2:0]  broken,
    input  wire        s_psel,
    input  wire        s_penable,
    input  wire        s_pwrite,
    input  wire [7:0]  s_paddr,
    input  wire [31:0] s_pwdata,
    input  wire [3:0]  s_pstrb,
    output wire        s_pready,
    output wire [31:0] s_prdata,
    output wire        s_pslverr,
    output reg         m_psel,
    output reg         m_penable,
    output reg         m_pwrite,
    output reg  [7:0]  m_paddr,
    output reg  [31:0] m_pwdata,
    output reg  [3:0]  m_pstrb,
    input  wire        m_pready,
    input  wire [31:0] m_prdata,
    input  wire        m_pslverr
);
    reg        done, failed;
    reg [31:0] data;
    reg [1:0]  age;
    assign s_pready  = done;
    assign s_prdata  = data;
    assign s_pslverr = failed;
    always @(posedge clk) begin
        done <= 1'b0;
        age  <= m_penable ? age + {1'b0, age != 2'd3} : 2'd0;
        if (!m_psel) begin
            m_psel    <= s_psel && s_penable && !done;
            m_penable <= broken == 3'd1;
            m_pwrite  <= s_pwrite;
            m_paddr   <= s_paddr;
            m_pwdata  <= s_pwdata;
            m_pstrb   <= s_pwrite ? s_pstrb : broken == 3'd5 ? 4'hF : 4'h0;
        end else if (!m_penable) begin
            m_penable <= broken != 3'd2;
        end else if (m_pready) begin
            {m_psel, m_penable, done} <= 3'b001;
            {failed, data} <= {m_pslverr, m_prdata};
        end
        if (broken == 3'd3 && age == 2'd1) m_psel <= 1'b0;
        if (broken == 3'd4 && age == 2'd1) m_paddr <= ~m_paddr;
        if (!rst_n) {m_psel, m_penable, done} <= 3'b000;
    end
endmodule
