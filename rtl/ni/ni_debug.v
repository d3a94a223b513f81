`default_nettype none
// The debug registers: the trace buffer, and the error injectors of the ports. For test builds.
//
// Contract:
//   reg_*: as ni_regs takes them. What is not for the trace buffer or an injector goes on to m_*, ni_regs.
//   counted, status, injected: what ni_trace takes. i_*: the registers of the injectors; running, cut, symbols, hits: what they say.
//   TRACE is the trace buffer's records, 0 for none. Registers of what is not there are left to ni_regs, which knows none of them.
//
// Source: doc/protocol.md, "Trace buffer" and "Error injector".
module ni_debug #(
    parameter LINKS  = 1,
    parameter TRACE  = 0,
    parameter INJECT = 0
) (
    input  wire                    clk,
    input  wire                    rst,

    input  wire                    reg_en,
    input  wire                    reg_write,
    input  wire [15:0]             reg_addr,
    input  wire [31:0]             reg_wdata,
    output wire                    reg_done,
    output wire                    reg_ok,
    output wire [31:0]             reg_value,
    output wire                    m_en,
    input  wire                    m_done,
    input  wire                    m_ok,
    input  wire [31:0]             m_value,

    input  wire [16*(LINKS+1)-1:0] counted,
    input  wire [16*(LINKS+1)-1:0] status,
    input  wire [LINKS:0]          injected,

    output wire [LINKS:0]          i_wr_en,
    output wire [3:0]              i_wr_reg,
    output wire [31:0]             i_wr_data,
    input  wire [LINKS:0]          running,
    input  wire [LINKS:0]          cut,
    input  wire [32*LINKS+31:0]    symbols,
    input  wire [32*LINKS+31:0]    hits
);
`include "linkproto.vh"

    generate
        if (LINKS < 1 || LINKS > 7) error_links_must_be_1_to_7 u_check_links ();
    endgenerate

    localparam integer INJECT_REGS = `LP_INJECT_STRIDE * (LINKS + 1);
    wire [15:0] in_trace  = reg_addr - `LP_REG_TRACE;
    wire [15:0] in_inject = reg_addr - `LP_REG_INJECT;
    wire [15:0] in_ring   = reg_addr - `LP_REG_TRACE_RING;
    wire [2:0]  link      = in_inject[6:4];
    wire        is_trace  = TRACE != 0 && in_trace <= {12'd0, `LP_TRACE_NOW};
    wire        is_inject = INJECT != 0 && in_inject < INJECT_REGS[15:0] && in_inject[3:0] <= `LP_INJECT_HITS;
    wire        is_ring   = TRACE != 0 && {16'd0, in_ring} < 2 * TRACE;
    wire        may_write = is_trace ? in_trace[3:0] <= `LP_TRACE_POST : is_inject && in_inject[3:0] <= `LP_INJECT_OPEN;
    wire        may_read  = !is_inject || in_inject[3:0] == `LP_INJECT_CONTROL || in_inject[3:0] >= `LP_INJECT_SYMBOLS;

    // First what is asked for, then the access, then its value, then the answer.
    reg         mine, known, trace, inject, ring, access, valued, done;
    reg  [2:0]  port;
    reg  [31:0] value;
    reg  [31:0] i_value;
    wire [31:0] trace_value;
    wire [63:0] ring_data;
    wire        begins = reg_en && (is_trace || is_inject || is_ring) && !mine;

    always @(posedge clk) begin
        mine   <= begins || (mine && !done);
        access <= begins;
        valued <= access;
        done   <= valued;
        known  <= reg_write ? may_write : may_read;
        {trace, inject, ring, port} <= {is_trace, is_inject, is_ring, link};
        value  <= trace ? trace_value : inject ? i_value : reg_addr[0] ? ring_data[63:32] : ring_data[31:0];
        if (rst) {mine, access, valued, done} <= 4'd0;
    end
    assign m_en      = reg_en && !(is_trace || is_inject || is_ring);
    assign reg_done  = done || m_done;
    assign reg_ok    = mine ? known : m_ok;
    assign reg_value = mine ? value : m_value;

    localparam PW = $clog2(LINKS + 1);
    wire [PW-1:0] at = port[PW-1:0];
    wire write = access && reg_write && known;
    always @*
        case (in_inject[3:0])
            `LP_INJECT_SYMBOLS: i_value = symbols[32*port +: 32];
            `LP_INJECT_HITS:    i_value = hits[32*port +: 32];
            default:            i_value = {30'd0, cut[at], running[at]};
        endcase
    assign i_wr_en   = write && inject ? {{LINKS{1'b0}}, 1'b1} << port : {LINKS + 1{1'b0}};
    assign i_wr_reg  = in_inject[3:0];
    assign i_wr_data = reg_wdata;

    generate
        if (TRACE != 0) begin : g_trace
            localparam AW = $clog2(TRACE);
            ni_trace #(.PORTS(LINKS + 1), .DEPTH(TRACE)) u_trace (
                .clk(clk), .rst(rst), .counted(counted), .status(status), .injected(injected),
                .wr_en(write && trace), .wr_reg(in_trace[3:0]), .wr_data(reg_wdata), .rd_reg(in_trace[3:0]), .rd_value(trace_value),
                .ring_en(access && ring), .ring_index(in_ring[AW:1]), .ring_data(ring_data)
            );
        end else begin : g_no_trace
            assign {trace_value, ring_data} = 96'd0;
            wire unused = |{counted, status, injected, ring};
        end
    endgenerate
endmodule
`resetall
