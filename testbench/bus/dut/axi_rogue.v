// Slave of AXI4 that breaks one rule of the protocol, or none: for tests of what checks them. Reads give zeros, writes are forgotten.
`default_nettype none

module axi_rogue (
    // 0 none, 1 B before the last data, 2 B with another ID, 3 B is EXOKAY, 4 BVALID withdrawn, 5 BRESP changes, 6 BVALID in reset,
    // 7 RLAST early, 8 no RLAST, 9 R with another ID, 10 RDATA changes, 11 R that nobody asked for, 12 R is EXOKAY, 13 RVALID withdrawn
    input  wire [3:0]  rule,
    input  wire        clk,
    input  wire        rst,

    input  wire [1:0]  s_axi_awid,
    input  wire [15:0] s_axi_awaddr,
    input  wire [7:0]  s_axi_awlen,
    input  wire [2:0]  s_axi_awsize,
    input  wire [1:0]  s_axi_awburst,
    input  wire        s_axi_awlock,
    input  wire [3:0]  s_axi_awcache,
    input  wire        s_axi_awvalid,
    output wire        s_axi_awready,
    input  wire [31:0] s_axi_wdata,
    input  wire [3:0]  s_axi_wstrb,
    input  wire        s_axi_wlast,
    input  wire        s_axi_wvalid,
    output wire        s_axi_wready,
    output wire [1:0]  s_axi_bid,
    output wire [1:0]  s_axi_bresp,
    output wire        s_axi_bvalid,
    input  wire        s_axi_bready,
    input  wire [1:0]  s_axi_arid,
    input  wire [15:0] s_axi_araddr,
    input  wire [7:0]  s_axi_arlen,
    input  wire [2:0]  s_axi_arsize,
    input  wire [1:0]  s_axi_arburst,
    input  wire        s_axi_arlock,
    input  wire [3:0]  s_axi_arcache,
    input  wire        s_axi_arvalid,
    output wire        s_axi_arready,
    output wire [1:0]  s_axi_rid,
    output wire [31:0] s_axi_rdata,
    output wire [1:0]  s_axi_rresp,
    output wire        s_axi_rlast,
    output wire        s_axi_rvalid,
    input  wire        s_axi_rready
);
    localparam [1:0] OKAY = 2'd0, EXOKAY = 2'd1;

    reg       asked, ended;             // a write: its address has come, its data have ended
    reg [1:0] w_id, b_waited;
    reg       earlier;                  // rst at the edge before

    wire b_bad = b_waited == 2'd2;

    assign s_axi_awready = !asked;
    assign s_axi_wready  = asked && !ended;
    assign s_axi_bvalid  = (rule == 4'd6 && rst && earlier) || (asked && (ended || rule == 4'd1) && !(rule == 4'd4 && b_bad));
    assign s_axi_bid     = w_id ^ {1'b0, rule == 4'd2};
    assign s_axi_bresp   = rule == 4'd3 || (rule == 4'd5 && b_bad) ? EXOKAY : OKAY;

    always @(posedge clk) begin
        earlier  <= rst;
        b_waited <= s_axi_bvalid && !s_axi_bready ? b_waited + {1'b0, b_waited != 2'd3} : 2'd0;
        if (s_axi_awvalid && s_axi_awready) begin
            asked <= 1'b1;
            ended <= 1'b0;
            w_id  <= s_axi_awid;
        end
        if (s_axi_wvalid && s_axi_wready && s_axi_wlast) ended <= 1'b1;
        if (s_axi_bvalid && s_axi_bready) asked <= 1'b0;
        if (rst) asked <= 1'b0;
    end

    reg       busy;
    reg [7:0] left;
    reg [1:0] r_id, r_waited;
    reg [4:0] idle;

    wire r_bad = r_waited == 2'd2;

    assign s_axi_arready = !busy;
    assign s_axi_rvalid  = (busy && !(rule == 4'd13 && r_bad)) || (rule == 4'd11 && idle == 5'd31);
    assign s_axi_rid     = r_id ^ {1'b0, rule == 4'd9};
    assign s_axi_rdata   = {31'd0, rule == 4'd10 && r_bad};
    assign s_axi_rresp   = rule == 4'd12 ? EXOKAY : OKAY;
    assign s_axi_rlast   = rule == 4'd7 ? left != 8'd0 : left == 8'd0 && rule != 4'd8;

    always @(posedge clk) begin
        idle     <= rst || busy || (s_axi_rvalid && s_axi_rready) ? 5'd0 : idle + {4'd0, idle != 5'd31};
        r_waited <= s_axi_rvalid && !s_axi_rready ? r_waited + {1'b0, r_waited != 2'd3} : 2'd0;
        if (s_axi_arvalid && s_axi_arready) begin
            busy <= 1'b1;
            left <= s_axi_arlen;
            r_id <= s_axi_arid;
        end
        if (s_axi_rvalid && s_axi_rready) begin
            left <= left - 8'd1;
            if (left == 8'd0) busy <= 1'b0;
        end
        if (rst) busy <= 1'b0;
    end

    wire unused = &{1'b0, s_axi_awaddr, s_axi_awlen, s_axi_awsize, s_axi_awburst, s_axi_awlock, s_axi_awcache, s_axi_wdata, s_axi_wstrb,
                    s_axi_araddr, s_axi_arsize, s_axi_arburst, s_axi_arlock, s_axi_arcache};
endmodule

`resetall
