`default_nettype none
// Trace of one port: makes events of its pulses and levels, and holds those of one clock until they are written.
//
// Contract:
//   counted: pulses in the order of the counters. status: levels as in LINK_STATUS. injected, zero: pulses. While `record` is high the
//   events that are in mask are taken; zero is taken while `running`, and kept until it has been.
//   valid, events, stamp, gap: what happened in the clock whose number ended in stamp; `take` lets go of it, and what happened in the
//   last clock but one may follow without a pause. What happens while an older one waits is lost: ev_lost, and gap with the next.
//   `clear` (pulse): nothing is held, nothing was lost.
module ni_trace_port (
    input  wire        clk,
    input  wire        rst,

    input  wire [15:0] counted,
    input  wire [15:0] status,
    input  wire        injected,
    input  wire        zero,
    input  wire [3:0]  now,

    input  wire        clear,
    input  wire        running,
    input  wire        record,
    input  wire [27:0] mask,

    output reg         valid,
    output reg  [27:0] events,
    output reg  [3:0]  stamp,
    output reg         gap,
    input  wire        take,
    output reg         ev_lost
`ifdef FORMAL
    ,                                   // the proof of ni_trace knows all state
    output wire [34:0] f_state
`endif
);
`include "linkproto.vh"

    wire up       = status[`LP_LINK_STATUS_UP_BIT];
    wire stopped  = status[`LP_LINK_STATUS_PEER_STOP_BIT];
    wire stops    = status[`LP_LINK_STATUS_OWN_STOP_BIT];
    wire trapped  = status[`LP_LINK_STATUS_TRAPPED_BIT];
    wire missing  = status[`LP_LINK_STATUS_MISSING_BIT];
    wire unused_status = |status;
    reg  up_q, stopped_q, stops_q, trapped_q, missing_q;

    wire [27:0] raw = {12'd0, counted}
        | {27'd0, up && !up_q}           << `LP_EV_UP
        | {27'd0, stopped && !stopped_q} << `LP_EV_PEER_STOP
        | {27'd0, !stopped && stopped_q} << `LP_EV_PEER_GO
        | {27'd0, !stops && stops_q}     << `LP_EV_GO
        | {27'd0, missing && !missing_q} << `LP_EV_MISSING
        | {27'd0, !missing && missing_q} << `LP_EV_FOUND
        | {27'd0, trapped && !trapped_q} << `LP_EV_TRAPPED
        | {27'd0, !trapped && trapped_q} << `LP_EV_RESUMED
        | {27'd0, injected}              << `LP_EV_INJECTED;

    reg  [27:0] seen;
    reg         lost, zero_due;
    wire        any  = seen != 28'd0;
    wire        room = !valid || take;

    always @(posedge clk) begin
        {up_q, stopped_q, stops_q, trapped_q, missing_q} <= {up, stopped, stops, trapped, missing};
        seen    <= record ? raw & mask : 28'd0;
        ev_lost <= any && !room;
        if (room) begin
            valid <= any || zero_due;
            lost  <= lost && !any && !zero_due;
        end else if (any)
            lost <= 1'b1;
        if (running && zero) zero_due <= 1'b1;
        else if (room)       zero_due <= 1'b0;
        if (clear) begin
            seen <= 28'd0;
            {valid, lost, zero_due, ev_lost} <= 4'd0;
        end
        if (rst) begin
            seen <= 28'd0;
            {valid, lost, zero_due, ev_lost} <= 4'd0;
            {up_q, stopped_q, stops_q, trapped_q, missing_q} <= 5'd0;
        end
    end

    always @(posedge clk)
        if (room) begin
            events <= seen | {27'd0, zero_due} << `LP_EV_ZERO;
            stamp  <= now - 4'd1;
            gap    <= lost;
        end
`ifdef FORMAL
    assign f_state = {up_q, stopped_q, stops_q, trapped_q, missing_q, lost, zero_due, seen};
`endif
endmodule
`resetall
