`default_nettype none
// Trace buffer: records what happens at the ports, with its clock, in a ring of DEPTH records, around a trigger. For test builds.
//
// Contract:
//   counted, status, injected: 16, 16 and 1 bits a port, as ni_trace_port takes them.
//   wr_*: writes to its registers, CONTROL with effect a clock later; rd_value: the register with number rd_reg, combinationally.
//   ring_data, one clock after ring_en: the record at place ring_index, the clock below the events. Not while anything is recorded.
//   A record is written a clock, so several ports take turns, and what has happened stands in the ring five clocks later, up to 7 more
//   when all happens at once. Nothing of one port is written out of order.
//
// HX8K: 540 LUT4 and four block memories, 116 to 118 MHz, with two ports and 256 records.
// Proven: ni_trace.formal.v, by induction. Source: doc/protocol.md, "Trace buffer".
module ni_trace #(
    parameter PORTS = 2,
    parameter DEPTH = 256,              // power of two
    parameter [31:0] FIRST_CLOCK = 32'd0 // after reset
) (
    input  wire                     clk,
    input  wire                     rst,

    input  wire [16*PORTS-1:0]      counted,
    input  wire [16*PORTS-1:0]      status,
    input  wire [PORTS-1:0]         injected,

    input  wire                     wr_en,
    input  wire [3:0]               wr_reg,
    input  wire [31:0]              wr_data,
    input  wire [3:0]               rd_reg,
    output reg  [31:0]              rd_value,
    input  wire                     ring_en,
    input  wire [$clog2(DEPTH)-1:0] ring_index,
    output wire [63:0]              ring_data
);
`include "linkproto.vh"

    localparam AW = $clog2(DEPTH);
    localparam PW = $clog2(PORTS);
    localparam integer PORTS_LESS_1 = PORTS - 1;
    wire unused_data = |wr_data[31:28];
    generate
        if (DEPTH != (1 << AW) || DEPTH < 2 || DEPTH > `LP_TRACE_MAX_DEPTH)
            error_trace_depth_must_be_a_power_of_two_from_2_to_8192 u_check_depth ();
        if (PORTS < 2 || PORTS > 8) error_ports_must_be_2_to_8 u_check_ports ();
    endgenerate

    // Registers.
    reg         running, triggered;
    reg  [27:0] mask, trigger;
    reg  [7:0]  ports, trigger_ports;
    reg  [15:0] post, left;
    reg  [31:0] count, mark, lost, now;
    wire        control = wr_en && wr_reg == `LP_TRACE_CONTROL;
    reg         ask, start, stop;

    always @(posedge clk) begin
        ask   <= control && wr_data[`LP_TRACE_CONTROL_TRIGGER_BIT];
        start <= control && !wr_data[`LP_TRACE_CONTROL_TRIGGER_BIT] && wr_data[`LP_TRACE_CONTROL_RUN_BIT];
        stop  <= control && !wr_data[`LP_TRACE_CONTROL_TRIGGER_BIT] && !wr_data[`LP_TRACE_CONTROL_RUN_BIT];
        if (wr_en)
            case (wr_reg)
                `LP_TRACE_MASK:    mask    <= wr_data[27:0];
                `LP_TRACE_TRIGGER: trigger <= wr_data[27:0];
                `LP_TRACE_PORTS:   {trigger_ports, ports} <= wr_data[15:0];
                `LP_TRACE_POST:    post    <= wr_data[15:0];
                default: ;
            endcase
        if (rst) begin
            {ask, start, stop} <= 3'd0;
            {mask, trigger} <= 56'd0;
            {trigger_ports, ports, post} <= 32'd0;
        end
    end

    always @*
        case (rd_reg)
            `LP_TRACE_CONTROL: rd_value = {30'd0, triggered, running};
            `LP_TRACE_MASK:    rd_value = {4'd0, mask};
            `LP_TRACE_TRIGGER: rd_value = {4'd0, trigger};
            `LP_TRACE_PORTS:   rd_value = {16'd0, trigger_ports, ports};
            `LP_TRACE_POST:    rd_value = {16'd0, post};
            `LP_TRACE_DEPTH:   rd_value = DEPTH;
            `LP_TRACE_COUNT:   rd_value = count;
            `LP_TRACE_MARK:    rd_value = mark;
            `LP_TRACE_LOST:    rd_value = lost;
            default:           rd_value = now;
        endcase

    // Ports. Zero is told at the first of them.
    wire [PORTS-1:0]    valid, gap, ev_lost;
    wire [28*PORTS-1:0] events;
    wire [4*PORTS-1:0]  stamp;
    reg  [PORTS-1:0]    take;
    reg                 zero;
`ifdef FORMAL
    wire [35*PORTS-1:0] f_state;
    wire [AW-1:0]       f_at;
    wire [63:0]         f_word;
`endif
    genvar p;
    generate
        for (p = 0; p < PORTS; p = p + 1) begin : g_port
            ni_trace_port u_port (
                .clk(clk), .rst(rst),
                .counted(counted[16*p +: 16]), .status(status[16*p +: 16]), .injected(injected[p]), .zero(p == 0 && zero), .now(now[3:0]),
                .clear(start), .running(running), .record(running && ports[p]), .mask(mask),
                .valid(valid[p]), .events(events[28*p +: 28]), .stamp(stamp[4*p +: 4]), .gap(gap[p]), .take(take[p]), .ev_lost(ev_lost[p])
`ifdef FORMAL
                , .f_state(f_state[35*p +: 35])
`endif
            );
        end
    endgenerate

    // Whose record is next: that of the port whose turn it is, or else the first. So each waits for PORTS-1 others at most.
    reg  [PW-1:0] turn, from;
    integer k;
    always @* begin
        from = {PW{1'b0}};
        for (k = PORTS - 1; k >= 0; k = k - 1)
            if (valid[k]) from = k[PW-1:0];
        if (valid[turn]) from = turn;
        take = {PORTS{1'b0}};
        take[from] = valid[from];
    end

    // On its way to the ring: chosen, then with its clock in full.
    reg         chosen, ready, fits;
    reg  [2:0]  port;
    reg         chosen_gap;
    reg  [27:0] chosen_events;
    reg  [3:0]  chosen_stamp;
    reg  [63:0] record;
    wire [3:0]  age = now[3:0] - chosen_stamp;
    always @(posedge clk) begin
        chosen        <= valid != {PORTS{1'b0}} && !start && !rst;
        port          <= {{3-PW{1'b0}}, from};
        chosen_gap    <= gap[from];
        chosen_events <= events[28*from +: 28];
        chosen_stamp  <= stamp[4*from +: 4];
        ready         <= chosen && !start && !rst;
        record        <= {port, chosen_gap, chosen_events, now - {28'd0, age}};
        fits       <= (chosen_events & trigger) != 28'd0 && trigger_ports[port];
        turn          <= turn == PORTS_LESS_1[PW-1:0] || rst ? {PW{1'b0}} : turn + 1'b1;
    end

    // The ring, and when to stop.
    wire write = ready && running;
    wire hit   = !triggered && ((write && fits) || ask);
    reg  [3:0] lost_now;
    always @* begin
        lost_now = 4'd0;
        for (k = 0; k < PORTS; k = k + 1) lost_now = lost_now + {3'd0, ev_lost[k]};
    end
    reg at_once;                        // no record after the trigger's
    always @(posedge clk) begin
        at_once <= post == 16'd0;
        now  <= now + 32'd1;
        zero <= &now;
        lost <= lost + {28'd0, lost_now};
        if (write) count <= count + 32'd1;
        if (running && hit) begin
            triggered <= 1'b1;
            mark      <= count + {31'd0, write && !fits};
            left      <= post;
            if (at_once) running <= 1'b0;
        end else if (write && triggered) begin
            left <= left - 16'd1;
            if (left == 16'd1) running <= 1'b0;
        end
        if (stop) running <= 1'b0;
        if (start) begin
            triggered <= 1'b0;
            running <= 1'b1;
            count   <= 32'd0;
            mark    <= 32'd0;
            lost    <= 32'd0;
        end
        if (rst) begin
            {running, triggered, zero} <= 3'd0;
            {count, mark, lost} <= 96'd0;
            now <= FIRST_CLOCK;
        end
    end

    ram_sdp #(.WIDTH(64), .DEPTH(DEPTH)) u_ring (
        .clk(clk),
        .wr_en(write), .wr_addr(count[AW-1:0]), .wr_data(record),
        .rd_en(ring_en), .rd_addr(ring_index), .rd_data(ring_data)
`ifdef FORMAL
        , .f_addr(f_at), .f_word(f_word)
`endif
    );
`ifdef FORMAL
`include "ni_trace.formal.v"
`endif
endmodule
`resetall
