`default_nettype none
// Copies words of four bytes from one place of a memory to another, as an AXI4 master: a burst of up to 16 is read, and then written.
// start is taken while busy is 0. failed says of the last copy that the memory has answered with an error; it ends there.
module copier (
    input  wire        clk,
    input  wire        rst,
    input  wire        start,
    input  wire [31:0] from,            // addresses of words
    input  wire [31:0] to,
    input  wire [15:0] words,           // at least 1
    output reg         busy,
    output reg         failed,

    output reg  [31:0] m_axi_araddr,
    output wire [7:0]  m_axi_arlen,
    output wire [2:0]  m_axi_arsize,
    output wire [1:0]  m_axi_arburst,
    output reg         m_axi_arvalid,
    input  wire        m_axi_arready,
    input  wire [31:0] m_axi_rdata,
    input  wire [1:0]  m_axi_rresp,
    input  wire        m_axi_rlast,
    input  wire        m_axi_rvalid,
    output wire        m_axi_rready,

    output reg  [31:0] m_axi_awaddr,
    output wire [7:0]  m_axi_awlen,
    output wire [2:0]  m_axi_awsize,
    output wire [1:0]  m_axi_awburst,
    output reg         m_axi_awvalid,
    input  wire        m_axi_awready,
    output wire [31:0] m_axi_wdata,
    output wire [3:0]  m_axi_wstrb,
    output wire        m_axi_wlast,
    output reg         m_axi_wvalid,
    input  wire        m_axi_wready,
    input  wire [1:0]  m_axi_bresp,
    input  wire        m_axi_bvalid,
    output wire        m_axi_bready
);
    reg [31:0] store [0:15];
    reg [15:0] left;                    // words to be copied, with those of this burst
    reg [3:0]  at, top;                 // word of the burst, and its last one
    reg        reading, answered;       // until rlast; bvalid has come

    // A burst ends with the copy, with 16 words, and before 4 KB of either address: bursts are aligned to nothing, so each is cut.
    function [3:0] last_of(input [15:0] words_left, input [9:0] read_word, input [9:0] write_word);
        reg [15:0] n;
        begin
            n = words_left > 16'd16 ? 16'd16 : words_left;
            if (n > 16'd1024 - {6'd0, read_word})  n = 16'd1024 - {6'd0, read_word};
            if (n > 16'd1024 - {6'd0, write_word}) n = 16'd1024 - {6'd0, write_word};
            last_of = n[3:0] - 4'd1;
        end
    endfunction

    assign {m_axi_arlen, m_axi_awlen}     = {4'd0, top, 4'd0, top};
    assign {m_axi_arsize, m_axi_awsize}   = {3'd2, 3'd2};
    assign {m_axi_arburst, m_axi_awburst} = {2'd1, 2'd1};
    assign m_axi_rready = reading;
    assign m_axi_wdata  = store[at];
    assign m_axi_wstrb  = 4'b1111;
    assign m_axi_wlast  = at == top;
    assign m_axi_bready = !answered;

    wire [15:0] rest = left - {12'd0, top} - 16'd1;
    wire [31:0] next_read  = m_axi_araddr + {26'd0, top, 2'd0} + 32'd4;
    wire [31:0] next_write = m_axi_awaddr + {26'd0, top, 2'd0} + 32'd4;

    always @(posedge clk) begin
        if (m_axi_arready) m_axi_arvalid <= 1'b0;
        if (m_axi_awready) m_axi_awvalid <= 1'b0;
        if (!busy && start) begin
            {busy, failed, m_axi_arvalid, reading} <= 4'b1011;
            {m_axi_araddr, m_axi_awaddr, left}     <= {from, to, words};
            top <= last_of(words, from[11:2], to[11:2]);
            at  <= 4'd0;
        end
        if (m_axi_rvalid && m_axi_rready) begin
            store[at] <= m_axi_rdata;
            at        <= at + 4'd1;
            if (m_axi_rresp != 2'd0) failed <= 1'b1;
            if (m_axi_rlast) begin
                reading <= 1'b0;
                at      <= 4'd0;
                if (failed || m_axi_rresp != 2'd0) busy <= 1'b0;
                else {m_axi_awvalid, m_axi_wvalid, answered} <= 3'b110;
            end
        end
        if (m_axi_wvalid && m_axi_wready) begin
            at <= at + 4'd1;
            if (m_axi_wlast) m_axi_wvalid <= 1'b0;
        end
        if (m_axi_bvalid && m_axi_bready) begin
            answered <= 1'b1;
            if (m_axi_bresp != 2'd0) failed <= 1'b1;
            if (m_axi_bresp != 2'd0 || rest == 16'd0) busy <= 1'b0;
            else begin
                {m_axi_arvalid, reading}           <= 2'b11;
                {m_axi_araddr, m_axi_awaddr, left} <= {next_read, next_write, rest};
                top <= last_of(rest, next_read[11:2], next_write[11:2]);
                at  <= 4'd0;
            end
        end
        if (rst) {busy, failed, m_axi_arvalid, m_axi_awvalid, m_axi_wvalid, reading, answered} <= 7'b0000001;
    end
endmodule
`resetall
