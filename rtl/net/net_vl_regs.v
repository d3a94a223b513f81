`default_nettype none
// What net_vl_engine knows of a virtual link beside its state: what the host has said of it, and what is counted.
//
// Contract:
//   load (pulse): `regs` becomes `was`, as it stood in the table; it is what is to be written back.
//   wr_en (pulse): wdata is written to register number_of, if it is PEER, NUMBER or KEY. opens (pulse): another life begins, in which
//   nothing has been counted. gets (pulse): the host gets a MESSAGE; returns (pulse): it has freed as many as wdata says since `opens`.
//   with_host: those that it has. replay, drop (pulses): one more of each, 2^16 - 1 at most.
//   value: what register number_of holds, while base, expect_next, status, count, of_context and life are the link's. freed: packets freed
//   since reset. key: of a ROUTE that says r_next, and r_seq of a packet if r_packet.
//
// Source: doc/protocol.md, "Virtual links of an interface".
module net_vl_regs #(
    parameter CW   = 1,
    parameter REGS = 122
) (
    input  wire            clk,
    input  wire            load,
    input  wire [REGS-1:0] was,
    output wire [REGS-1:0] regs,

    input  wire            wr_en,
    input  wire [2:0]      number_of,
    input  wire [31:0]     wdata,
    input  wire            opens,
    input  wire            gets,
    input  wire            returns,
    input  wire            replay,
    input  wire            drop,

    input  wire [23:0]     base,
    input  wire [23:0]     expect_next,
    input  wire [15:0]     status,
    input  wire [6:0]      count,
    input  wire [CW-1:0]   of_context,
    input  wire [3:0]      life,
    input  wire            r_packet,
    input  wire [7:0]      r_seq,
    input  wire [7:0]      r_next,
    output wire [31:0]     key,
    output reg  [15:0]     peer,
    output reg  [1:0]      class_of,
    output reg  [15:0]     number,
    output reg  [31:0]     own_key,
    output wire [7:0]      freed,
    output wire [7:0]      with_host,
    output reg  [31:0]     value
);
`include "linkproto.vh"
    localparam [3:0] PEER = `LP_VL_PEER, NUMBER = `LP_VL_NUMBER, KEY = `LP_VL_KEY, STATUS = `LP_VL_STATUS, EXPECT = `LP_VL_EXPECT,
        COUNTS = `LP_VL_COUNTS, CONTEXT = `LP_VL_CONTEXT;

    reg [7:0]  earlier, given, returned;    // packets freed by lives before; MESSAGEs that the host got, and has freed
    reg [15:0] replays, dropped;
    assign regs      = {earlier, given, returned, peer, class_of, number, own_key, replays, dropped};
    assign freed     = earlier + base[7:0];
    assign with_host = given - returned;

    // The low bits of a number mean the nearest to the one that is known.
    function [15:0] high(input [23:0] known, input [7:0] low);
        reg behind;
        begin
            behind = low[7] ^ known[7] ^ (low[6:0] < known[6:0]);
            high   = known[23:8] + {15'd0, !behind && low < known[7:0]} - {15'd0, behind && low > known[7:0]};
        end
    endfunction
    wire [15:0] r_number = r_packet ? high(expect_next, r_seq) : 16'd0;
    assign key = {own_key[15:0] ^ r_number, own_key[31:16] ^ high(base, r_next)};

    localparam OPEN = `LP_VL_STATUS_OPEN_BIT, UP = `LP_VL_STATUS_UP_BIT, PEER_STOP = `LP_VL_STATUS_PEER_STOP_BIT;
    always @* case ({1'b0, number_of})
        PEER:    value = {14'd0, class_of, peer};
        NUMBER:  value = {16'd0, number};
        KEY:     value = own_key;
        STATUS:  value = {freed, 8'd0, status};
        EXPECT:  value = {8'd0, expect_next};
        COUNTS:  value = {dropped, replays};
        CONTEXT: value = {{32-CW{1'b0}}, of_context};
        default: value = {10'd0, life, {8-CW{1'b0}}, of_context, count, status[PEER_STOP], status[UP], status[OPEN]};
    endcase

    always @(posedge clk) begin
        if (load) {earlier, given, returned, peer, class_of, number, own_key, replays, dropped} <= was;
        if (wr_en) case ({1'b0, number_of})
            PEER:    {class_of, peer} <= wdata[17:0];
            NUMBER:  number  <= wdata[15:0];
            KEY:     own_key <= wdata;
            default: ;
        endcase
        if (gets)    given    <= given + 8'd1;
        if (returns) returned <= wdata[7:0];
        if (replay && !(&replays)) replays <= replays + 16'd1;
        if (drop && !(&dropped))   dropped <= dropped + 16'd1;
        if (opens) {earlier, given, returned, replays, dropped} <= {freed, 48'd0};
    end
endmodule
`resetall
