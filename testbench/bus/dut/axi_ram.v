// AXI4 RAM, for tests of models of the bus: one write and one read at a time, bursts of all kinds, narrow and unaligned ones.
//
// Contract
//   Transactions are answered in order, with OKAY, and exclusive ones as any other. Data come every clock.
`default_nettype none

module axi_ram #(
    parameter DATA_WIDTH = 32,          // 8, 16, 32 ... 1024
    parameter ADDR_WIDTH = 14,
    parameter ID_WIDTH = 4
) (
    input  wire                    clk,
    input  wire                    rst,

    input  wire [ID_WIDTH-1:0]     s_axi_awid,
    input  wire [ADDR_WIDTH-1:0]   s_axi_awaddr,
    input  wire [7:0]              s_axi_awlen,
    input  wire [2:0]              s_axi_awsize,
    input  wire [1:0]              s_axi_awburst,
    input  wire                    s_axi_awlock,
    input  wire                    s_axi_awvalid,
    output wire                    s_axi_awready,
    input  wire [DATA_WIDTH-1:0]   s_axi_wdata,
    input  wire [DATA_WIDTH/8-1:0] s_axi_wstrb,
    input  wire                    s_axi_wlast,
    input  wire                    s_axi_wvalid,
    output wire                    s_axi_wready,
    output reg  [ID_WIDTH-1:0]     s_axi_bid,
    output wire [1:0]              s_axi_bresp,
    output wire                    s_axi_bvalid,
    input  wire                    s_axi_bready,

    input  wire [ID_WIDTH-1:0]     s_axi_arid,
    input  wire [ADDR_WIDTH-1:0]   s_axi_araddr,
    input  wire [7:0]              s_axi_arlen,
    input  wire [2:0]              s_axi_arsize,
    input  wire [1:0]              s_axi_arburst,
    input  wire                    s_axi_arlock,
    input  wire                    s_axi_arvalid,
    output wire                    s_axi_arready,
    output reg  [ID_WIDTH-1:0]     s_axi_rid,
    output wire [DATA_WIDTH-1:0]   s_axi_rdata,
    output wire [1:0]              s_axi_rresp,
    output wire                    s_axi_rlast,
    output wire                    s_axi_rvalid,
    input  wire                    s_axi_rready
);
    localparam STRB = DATA_WIDTH / 8;
    localparam LOW = $clog2(STRB);
    localparam [1:0] IDLE = 2'd0, DATA = 2'd1, RESP = 2'd2;

    reg [DATA_WIDTH-1:0] memory [0:(1 << (ADDR_WIDTH - LOW))-1];

    // The address after one, for a burst that wraps within mask, or goes on, or stays.
    function [ADDR_WIDTH-1:0] next;
        input [ADDR_WIDTH-1:0] addr, mask;
        input [2:0] size;
        input [1:0] burst;
        reg [ADDR_WIDTH-1:0] bytes, after;
        begin
            bytes = {{ADDR_WIDTH-1{1'b0}}, 1'b1} << size;
            after = (addr & ~(bytes - {{ADDR_WIDTH-1{1'b0}}, 1'b1})) + bytes;
            next = burst == 2'd0 ? addr : burst == 2'd2 ? (addr & ~mask) | (after & mask) : after;
        end
    endfunction

    // The bytes of a burst, less one.
    function [ADDR_WIDTH-1:0] span;
        input [7:0] len;
        input [2:0] size;
        span = (({{ADDR_WIDTH-8{1'b0}}, len} + {{ADDR_WIDTH-1{1'b0}}, 1'b1}) << size) - {{ADDR_WIDTH-1{1'b0}}, 1'b1};
    endfunction

    reg [1:0]            w_state;
    reg [ADDR_WIDTH-1:0] w_addr, w_mask;
    reg [2:0]            w_size;
    reg [1:0]            w_burst;

    assign s_axi_awready = w_state == IDLE;
    assign s_axi_wready  = w_state == DATA;
    assign s_axi_bvalid  = w_state == RESP;
    assign s_axi_bresp   = 2'd0;

    integer i;
    always @(posedge clk) begin
        if (s_axi_wvalid && s_axi_wready) begin
            for (i = 0; i < STRB; i = i + 1)
                if (s_axi_wstrb[i]) memory[w_addr[ADDR_WIDTH-1:LOW]][8*i +: 8] <= s_axi_wdata[8*i +: 8];
            w_addr <= next(w_addr, w_mask, w_size, w_burst);
            if (s_axi_wlast) w_state <= RESP;
        end
        if (s_axi_awvalid && s_axi_awready) begin
            w_state   <= DATA;
            w_addr    <= s_axi_awaddr;
            w_mask    <= span(s_axi_awlen, s_axi_awsize);
            w_size    <= s_axi_awsize;
            w_burst   <= s_axi_awburst;
            s_axi_bid <= s_axi_awid;
        end
        if (s_axi_bvalid && s_axi_bready) w_state <= IDLE;
        if (rst) w_state <= IDLE;
    end

    reg                  r_busy;
    reg [ADDR_WIDTH-1:0] r_addr, r_mask;
    reg [2:0]            r_size;
    reg [1:0]            r_burst;
    reg [7:0]            r_left;

    assign s_axi_arready = !r_busy;
    assign s_axi_rvalid  = r_busy;
    assign s_axi_rdata   = r_data;
    assign s_axi_rresp   = 2'd0;
    assign s_axi_rlast   = r_left == 8'd0;

    // Data are read when the address is known, so that a write does not change them while they wait.
    reg  [DATA_WIDTH-1:0] r_data;
    wire [ADDR_WIDTH-1:0] r_next = s_axi_arready ? s_axi_araddr : next(r_addr, r_mask, r_size, r_burst);

    always @(posedge clk) begin
        if (s_axi_arready || s_axi_rready) begin
            r_addr <= r_next;
            r_data <= memory[r_next[ADDR_WIDTH-1:LOW]];
        end
        if (s_axi_arvalid && s_axi_arready) begin
            r_busy    <= 1'b1;
            r_mask    <= span(s_axi_arlen, s_axi_arsize);
            r_size    <= s_axi_arsize;
            r_burst   <= s_axi_arburst;
            r_left    <= s_axi_arlen;
            s_axi_rid <= s_axi_arid;
        end
        if (s_axi_rvalid && s_axi_rready) begin
            r_left <= r_left - 8'd1;
            if (s_axi_rlast) r_busy <= 1'b0;
        end
        if (rst) r_busy <= 1'b0;
    end

    wire unused = &{1'b0, s_axi_awlock, s_axi_arlock};
endmodule

`resetall
