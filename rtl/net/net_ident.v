`default_nettype none
// Registers that say what a switch is, and its number.
//
// Contract:
//   reg_*: as ni_regs takes them. What is no register of a switch is answered with reg_ok low, and so is a write of one that is read only.
//   node: NODE_ID, 0 after reset. nonce: NONCE, which a switch has from outside.
//
// Proven: net_ident.formal.v. Source: doc/protocol.md, "Registers".
module net_ident #(
    parameter PORTS = 4,
    parameter BARRIER = 0,
    parameter [63:0] SOURCE_HASH = 64'd0
) (
    input  wire        clk,
    input  wire        rst,

    input  wire        reg_en,
    input  wire        reg_write,
    input  wire [15:0] reg_addr,
    input  wire [31:0] reg_wdata,
    output reg         reg_done,
    output reg         reg_ok,
    output reg  [31:0] reg_value,

    output reg  [15:0] node,
    input  wire [31:0] nonce
);
`include "linkproto.vh"
    localparam [31:0] FEATURES = 32'd1 << `LP_FEATURE_ROUTES_BIT | 32'd1 << `LP_FEATURE_ROUTER_BIT
        | (BARRIER != 0 ? 32'd1 << `LP_FEATURE_BARRIERS_BIT : 32'd0), LINKS = PORTS;
    reg  [31:0] scratch;
    wire        writes = reg_en && reg_write && !reg_done;
    always @(posedge clk) begin
        reg_done <= reg_en && !reg_done;
        reg_ok   <= !reg_write || reg_addr == `LP_REG_SCRATCH || reg_addr == `LP_REG_NODE_ID;
        case (reg_addr)
            `LP_REG_MAGIC:    reg_value <= `LP_MAGIC;
            `LP_REG_VERSION:  reg_value <= `LP_VERSION;
            `LP_REG_HASH_LO:  reg_value <= SOURCE_HASH[31:0];
            `LP_REG_HASH_HI:  reg_value <= SOURCE_HASH[63:32];
            `LP_REG_LINKS:    reg_value <= LINKS;
            `LP_REG_FEATURES: reg_value <= FEATURES;
            `LP_REG_SCRATCH:  reg_value <= scratch;
            `LP_REG_NODE_ID:  reg_value <= {16'd0, node};
            `LP_REG_NONCE:    reg_value <= nonce;
            default:          reg_ok    <= 1'b0;
        endcase
        if (writes && reg_addr == `LP_REG_SCRATCH) scratch <= reg_wdata;
        if (writes && reg_addr == `LP_REG_NODE_ID) node    <= reg_wdata[15:0];
        if (rst) begin
            reg_done <= 1'b0;
            scratch  <= 32'd0;
            node     <= 16'd0;
        end
    end
`ifdef FORMAL
`include "net_ident.formal.v"
`endif
endmodule
`resetall
