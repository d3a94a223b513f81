// Sixteen registers of 32 bits behind AXI4-Lite, for tests of models of the bus. Addresses beyond them are answered with DECERR.
`default_nettype none

module axil_regs (
    input  wire        clk,
    input  wire        resetn,
    input  wire [7:0]  s_axil_awaddr,
    input  wire [2:0]  s_axil_awprot,
    input  wire        s_axil_awvalid,
    output wire        s_axil_awready,
    input  wire [31:0] s_axil_wdata,
    input  wire [3:0]  s_axil_wstrb,
    input  wire        s_axil_wvalid,
    output wire        s_axil_wready,
    output reg  [1:0]  s_axil_bresp,
    output reg         s_axil_bvalid,
    input  wire        s_axil_bready,
    input  wire [7:0]  s_axil_araddr,
    input  wire [2:0]  s_axil_arprot,
    input  wire        s_axil_arvalid,
    output wire        s_axil_arready,
    output reg  [31:0] s_axil_rdata,
    output reg  [1:0]  s_axil_rresp,
    output reg         s_axil_rvalid,
    input  wire        s_axil_rready
);
    localparam [1:0] OKAY = 2'd0, DECERR = 2'd3;

    reg [31:0] registers [0:15];

    // Address and data of a write are taken together.
    wire write = s_axil_awvalid && s_axil_wvalid && (!s_axil_bvalid || s_axil_bready);
    wire read  = s_axil_arvalid && (!s_axil_rvalid || s_axil_rready);

    assign s_axil_awready = write;
    assign s_axil_wready  = write;
    assign s_axil_arready = read;

    integer i;
    always @(posedge clk) begin
        if (s_axil_bready) s_axil_bvalid <= 1'b0;
        if (write) begin
            s_axil_bvalid <= 1'b1;
            s_axil_bresp  <= s_axil_awaddr[7:6] == 2'd0 ? OKAY : DECERR;
            for (i = 0; i < 4; i = i + 1)
                if (s_axil_wstrb[i] && s_axil_awaddr[7:6] == 2'd0)
                    registers[s_axil_awaddr[5:2]][8*i +: 8] <= s_axil_wdata[8*i +: 8];
        end
        if (s_axil_rready) s_axil_rvalid <= 1'b0;
        if (read) begin
            s_axil_rvalid <= 1'b1;
            s_axil_rresp  <= s_axil_araddr[7:6] == 2'd0 ? OKAY : DECERR;
            s_axil_rdata  <= registers[s_axil_araddr[5:2]];
        end
        if (!resetn) begin
            s_axil_bvalid <= 1'b0;
            s_axil_rvalid <= 1'b0;
        end
    end

    wire unused = &{1'b0, s_axil_awprot, s_axil_arprot, s_axil_awaddr[1:0], s_axil_araddr[1:0]};
endmodule

`resetall
