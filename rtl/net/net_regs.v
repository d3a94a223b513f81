`default_nettype none
// Registers of a router: its ports' status, peers and counters, and its table.
//
// Contract:
//   reg_*: as ni_regs takes them. What is not the router's goes on to m_*. reg_done comes 2 clocks after reg_en or later: a counter takes
//   25 at most, and the table answers when it has been cleared.
//   status, lanes, peer, events, ev_*: of each port, port 0, this node, lowest; as of net_links and net_router.
//   clearing, table_*: of net_table, clearing, rd_* and wr_*. A write of a port that does not exist writes 0.
//   b_*, BARRIER 1: registers of barriers, as of net_barrier.
//   WIDTH: bytes of packets a clock. LANES: of each link.
//
// HX8K: 1,556 LUT4, 1,113 flip-flops and 4 block memories with four ports, most of it for 100 counters.
// Proven: net_regs.formal.v. Source: doc/protocol.md, "Registers".
module net_regs #(
    parameter PORTS  = 4,
    parameter NODES  = 4096,
    parameter GROUPS = 16,
    parameter BARRIER = 0,
    parameter WIDTH  = 1,
    parameter LANES  = 1
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

    input  wire [16*(PORTS+1)-1:0] status,
    input  wire [8*(PORTS+1)-1:0]  lanes,
    input  wire [18*(PORTS+1)-1:0] peer,
    input  wire [16*(PORTS+1)-1:0] events,
    input  wire [PORTS:0]          ev_bad,
    input  wire [PORTS:0]          ev_lost,
    input  wire [PORTS:0]          ev_hops,
    input  wire [PORTS:0]          ev_late,

    input  wire                    clearing,
    output wire                    table_group,
    output wire [15:0]             table_addr,
    output wire                    table_read,
    input  wire                    table_done,
    input  wire [31:0]             table_value,
    output wire                    table_write,
    output wire [31:0]             table_wdata,

    output wire                    b_en,
    input  wire                    b_done,
    input  wire                    b_ok,
    input  wire [31:0]             b_value
);
`include "linkproto.vh"

    localparam N = PORTS + 1;
    generate
        if (PORTS < 1 || PORTS > `LP_MAX_PORTS) error_ports_must_be_1_to_16 u_check_ports ();
        if (NODES > `LP_MAX_NODE + 1)           error_nodes_must_be_4096_at_most u_check_nodes ();
    endgenerate

    // Each block stands at a multiple of its greatest size.
    localparam [15:0] STATUS_AT = `LP_REG_PORT_STATUS, PEER_AT = `LP_REG_PORT_PEER, ROUTER_AT = `LP_REG_ROUTER_COUNTERS,
                      COUNTERS_AT = `LP_REG_PORT_COUNTERS, ROUTES_AT = `LP_REG_ROUTE_TABLE, GROUPS_AT = `LP_REG_GROUP_TABLE,
                      BARRIER_AT = `LP_REG_BARRIER;
    localparam COUNTERS = `LP_COUNTER_STRIDE * N, DROPS = `LP_ROUTER_STRIDE * N;
    localparam BANK = 128, BANKS = (COUNTERS + BANK - 1) / BANK;
    wire is_status   = reg_addr[15:5] == STATUS_AT[15:5] && {27'd0, reg_addr[4:0]} < N;
    wire is_peer     = reg_addr[15:5] == PEER_AT[15:5] && {27'd0, reg_addr[4:0]} < N;
    wire is_drops    = reg_addr[15:7] == ROUTER_AT[15:7] && {25'd0, reg_addr[6:0]} < DROPS;
    wire is_counters = reg_addr[15:9] == COUNTERS_AT[15:9] && {23'd0, reg_addr[8:0]} < COUNTERS;
    wire is_route    = reg_addr[15:12] == ROUTES_AT[15:12] && {20'd0, reg_addr[11:0]} < NODES;
    wire is_group    = reg_addr[15:12] == GROUPS_AT[15:12] && {20'd0, reg_addr[11:0]} < GROUPS;
    wire is_barrier  = BARRIER != 0 && reg_addr[15:7] == BARRIER_AT[15:7];      // as many as there are groups of them
    wire is_table    = is_route || is_group;
    wire is_mine     = is_status || is_peer || is_drops || is_counters || is_table || is_barrier;

    // First what is asked for, then its value, then the answer. `mine` stands from the clock after reg_en until the answer.
    reg         mine, known, table_q, barrier_q, group, counts, plain, done;
    reg  [N-1:0] of_status, of_peer;        // of each port
    reg  [BANKS:0] bank;                    // that counts it: the router's own, then those of ports
    wire [BANKS:0] bank_done;
    wire [32*(BANKS+1)-1:0] bank_value;
    reg  [31:0] value, port_value, counted;
    integer p;
    always @* begin
        port_value = 32'd0;
        for (p = 0; p < N; p = p + 1)
            port_value = port_value | ({32{of_status[p]}} & {8'd0, lanes[8*p +: 8], status[16*p +: 16]})
                | ({32{of_peer[p]}} & {peer[18*p+16 +: 2], 14'd0, peer[18*p +: 16]});
        counted = 32'd0;
        for (p = 0; p <= BANKS; p = p + 1) counted = counted | ({32{bank_done[p]}} & bank_value[32*p +: 32]);
    end
    wire begins = reg_en && is_mine && !mine;
    wire write  = mine && !done && table_q && reg_write && !clearing;
    assign table_read = mine && !done && table_q && !reg_write && !clearing;
    assign b_en = mine && !done && barrier_q;
    wire ends   = (b_en && b_done) || (mine && plain) || bank_done != {BANKS + 1{1'b0}} || write || (table_read && table_done);
    always @(posedge clk) begin
        mine    <= begins || (mine && !done);
        known   <= is_barrier ? b_ok : is_table || !reg_write;
        barrier_q <= is_barrier;
        table_q <= is_table;
        group   <= is_group;
        counts  <= is_drops || is_counters;
        for (p = 0; p < N; p = p + 1) begin
            of_status[p] <= reg_addr == STATUS_AT + p[15:0];
            of_peer[p]   <= reg_addr == PEER_AT + p[15:0];
        end
        for (p = 0; p < BANKS; p = p + 1) bank[p+1] <= is_counters && {30'd0, reg_addr[8:7]} == p;
        bank[0] <= is_drops;
        plain   <= begins && (reg_write ? !is_table && !is_barrier : is_status || is_peer);
        done    <= ends && !done;
        value   <= barrier_q ? b_value : table_q ? table_value : counts ? counted : port_value;
        if (rst) {mine, plain, done} <= 3'd0;
    end
    assign m_en      = reg_en && !is_mine;
    assign reg_done  = done || m_done;
    assign reg_ok    = mine ? known : m_ok;
    assign reg_value = mine ? value : m_value;

    // The table takes only ports that there are.
    function [7:0] port(input [7:0] number);
        port = {24'd0, number} < N ? number : 8'd0;
    endfunction
    wire [31:0] mask = {{(32 - N){1'b0}}, reg_wdata[N-1:0]};
    wire        unused = ^reg_wdata;
    assign table_group = group;
    assign table_addr  = {4'd0, reg_addr[11:0]};
    assign table_write = write;
    assign table_wdata = group ? mask : {8'd0, port(reg_wdata[`LP_ROUTE_ALTERNATE_LSB +: `LP_ROUTE_ALTERNATE_WIDTH]),
                                         8'd0, port(reg_wdata[`LP_ROUTE_PORT_LSB +: `LP_ROUTE_PORT_WIDTH])};

    // Counters. Those that come no faster than frames or routed packets of a byte a clock are slow; frames come by several lanes faster.
    localparam [3:0]  DROPS_SLOW = WIDTH == 1 ? 4'd1 << `LP_ROUTER_LOST | 4'd1 << `LP_ROUTER_HOPS | 4'd1 << `LP_ROUTER_LATE : 4'd0;
    localparam [15:0] RARE = 16'd1 << `LP_CNT_RETRIES | 16'd1 << `LP_CNT_RESTARTS | 16'd1 << `LP_CNT_STOPS;
    localparam [15:0] FRAME = 16'd1 << `LP_CNT_RX_PACKETS | 16'd1 << `LP_CNT_RX_DUP | 16'd1 << `LP_CNT_RX_GAP | 16'd1 << `LP_CNT_RX_OVERRUN;
    localparam [15:0] SLOW = WIDTH == 1 && LANES == 1 ? RARE | FRAME : RARE;
    wire [DROPS-1:0] dropped;
    wire             reads = mine && !done && counts && !reg_write;
    localparam DW = $clog2(DROPS);
    counter_bank #(.N(DROPS), .SLOW({N{DROPS_SLOW}})) u_drops (
        .clk(clk), .rst(rst), .event_in(dropped), .rd_en(reads && bank[0]), .rd_addr(reg_addr[DW-1:0]),
        .other(1'b0), .wr_en(1'b0), .wr_data(32'd0), .rd_valid(bank_done[0]), .rd_data(bank_value[31:0])
    );
    genvar g;
    generate
        for (g = 0; g < N; g = g + 1) begin : g_dropped
            assign dropped[4*g +: 4] = {ev_late[g], ev_hops[g], ev_lost[g], ev_bad[g]};     // in the order of the registers
        end
        for (g = 0; g < BANKS; g = g + 1) begin : g_bank
            localparam COUNT = COUNTERS - BANK * g > BANK ? BANK : COUNTERS - BANK * g;
            localparam CW = $clog2(COUNT);
            counter_bank #(.N(COUNT), .SLOW({COUNT/16{SLOW}})) u_counters (
                .clk(clk), .rst(rst), .event_in(events[BANK*g +: COUNT]), .rd_en(reads && bank[g+1]), .rd_addr(reg_addr[CW-1:0]),
                .other(1'b0), .wr_en(1'b0), .wr_data(32'd0), .rd_valid(bank_done[g+1]), .rd_data(bank_value[32*g+32 +: 32])
            );
        end
    endgenerate
`ifdef FORMAL
`include "net_regs.formal.v"
`endif
endmodule
`resetall
