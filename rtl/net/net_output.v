`default_nettype none
// Output of a router: gives packets of the crossbar to a link.
//
// Contract:
//   s_*: packets, of which one begins, s_start (pulse), only while `room` is high. s_cancel (pulse, s_valid low): the one that has been
//   begun is taken back. A beat stands until s_next, by which all outputs have it that take copies of it; s_ready, which then is high, says
//   that this one has. One whose beats are taken so is not taken back.
//   m_*, m_cancel, has_room, admit, gap: of a link_endpoint, s_*, cancel, has_room, admit and LOST of its status. has_room may be three
//   clocks stale behind a packet with WIDTH 1, and is never with more.
//   When the link has dropped what it holds, as when it goes down, this goes on behind that by itself: no router promises anything.
//   overdue: packets for which there is no room are dropped, ev_lost (pulse); so is one that comes for a link that has just gone down.
//
// Proven: net_output.formal.v.
// Source: doc/network.md.
module net_output #(
    parameter WIDTH = 1
) (
    input  wire               clk,
    input  wire               rst,
    output wire               room,

    input  wire               s_start,
    input  wire               s_valid,
    output wire               s_ready,
    input  wire               s_next,
    input  wire [8*WIDTH-1:0] s_data,
    input  wire [WIDTH-1:0]   s_keep,
    input  wire               s_last,
    input  wire               s_cancel,

    output wire               m_valid,
    input  wire               m_ready,
    output wire [8*WIDTH-1:0] m_data,
    output wire [WIDTH-1:0]   m_keep,
    output wire               m_last,
    output wire               m_cancel,
    input  wire               has_room,
    input  wire               overdue,
    input  wire               gap,
    output reg                admit,

    output reg                ev_lost
);
    reg       busy, dropping, begun, starting, had_room;
    reg       got;              // the link has the beat, and other outputs do not
    localparam [2:0] STALE = WIDTH == 1 ? 3'b111 : 3'b000;
    reg [2:0] stale;            // has_room does not tell of the last packet yet
    wire      drops = dropping || (starting && gap);        // it began in the clock in which the link went down
    wire      over = s_cancel || (s_valid && s_next && s_last);
    assign room     = (has_room || overdue) && !busy && stale == 3'd0;
    assign s_ready  = got || drops || m_ready;
    assign m_valid  = s_valid && !got && !drops;
    assign m_cancel = s_cancel && begun;
    assign {m_data, m_keep, m_last} = {s_data, s_keep, s_last};
    always @(posedge clk) begin
        busy     <= s_start || (busy && !over);
        got      <= s_valid && s_ready && !s_next;
        starting <= s_start;
        had_room <= has_room;
        dropping <= s_start ? !(has_room || had_room) : drops && !over;
        begun    <= (begun || (m_valid && m_ready)) && !over;
        stale    <= over ? STALE : stale >> 1;
        admit    <= gap && !busy && !s_start && !admit;
        ev_lost  <= drops && over && !s_cancel;
        if (rst) {busy, got, dropping, begun, starting, had_room, stale, admit, ev_lost} <= 11'd0;
    end
`ifdef FORMAL
`include "net_output.formal.v"
`endif
endmodule
`resetall
