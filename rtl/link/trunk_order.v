`default_nettype none
// Puts the frames of several lanes in order, delivers each packet once, and says what is missing.
//
// Contract:
//   h_*, waits, active, doubt: of each lane, as of lane_rx; doubt (pulse): something was damaged, or the lane was closed. heard: as
//   of lane_state.
//   m_*: packets in order, in beats of WIDTH bytes, from the clock on in which the lane gives them if EARLY, as of fifo_commit: one that is
//   malformed is void then. A frame that was delivered before, and one that is doomed, is taken and dropped.
//   expected, lost, stop: the absolute state that link state words carry. `lost` rises when a later frame waits, or after a doubt, and the
//   expected one can come by no lane any more: each that is heard shows a later one, or has brought no frame symbol for SKEW symbol times,
//   while this end said GO.
//   `stop` rises when RX_BYTES - HEADROOM bytes are used, and falls at half of that and a packet. Frames that find no room wait in
//   their lane.
//   ev_dup, ev_gap: a lane's frame was dropped, as delivered before or doomed.
//
// Proven: trunk_order.formal.v. Source: doc/protocol.md, "Lanes".
`include "linkproto.vh"
module trunk_order #(
    parameter LANES      = 4,
    parameter RX_BYTES   = 4096,
    parameter MAX_PACKET = 1032,
    parameter HEADROOM   = 256,
    parameter EARLY      = 0,
    parameter WIDTH      = 4
) (
    input  wire                     clk,
    input  wire                     rst,
    input  wire                     tick,
    input  wire                     up,
    input  wire                     restart,

    input  wire [LANES-1:0]         h_valid,
    output wire [LANES-1:0]         h_ready,
    input  wire [8*WIDTH*LANES-1:0] h_data,
    input  wire [WIDTH*LANES-1:0]   h_keep,
    input  wire [LANES-1:0]         h_last,
    input  wire [8*LANES-1:0]       h_seq,
    input  wire [LANES-1:0]         h_malformed,
    input  wire [LANES-1:0]         h_doomed,
    input  wire [LANES-1:0]         waits,
    input  wire [LANES-1:0]         active,
    input  wire [LANES-1:0]         doubt,
    input  wire [LANES-1:0]         heard,

    output reg  [7:0]               expected,
    output reg                      lost,
    output reg                      stop,

    output wire                     m_valid,
    input  wire                     m_ready,
    output wire [8*WIDTH-1:0]       m_data,
    output wire [WIDTH-1:0]         m_keep,
    output wire                     m_last,
    output wire                     m_sure,
    output wire                     m_void,

    output reg                      ev_packet,
    output reg                      ev_malformed,
    output wire [LANES-1:0]         ev_dup,
    output wire [LANES-1:0]         ev_gap
);
    localparam LW    = $clog2(LANES);
    localparam BEATS = RX_BYTES / WIDTH;
    localparam USEDW = $clog2(BEATS) + 1;
    localparam SKEWW = $clog2(`LP_LANE_SKEW + 1);
    localparam integer HIGH = RX_BYTES - HEADROOM;
    localparam integer LOW  = (HIGH + MAX_PACKET) / 2;
    generate
        if (RX_BYTES - HEADROOM <= MAX_PACKET + 1)
            error_rx_bytes_must_exceed_one_packet_plus_headroom u_error ();
    endgenerate

    // The lane whose frame is being delivered.
    reg               copies;
    reg  [LW-1:0]     from;
    wire              full;
    wire              move   = copies && h_valid[from] && !full;
    wire              finish = move && h_last[from];
    wire              fits   = !h_malformed[from];

    // Of each lane: its oldest frame is the expected one, or later. Those that were delivered before, and doomed ones, are drained.
    wire [LANES-1:0] mine, later;
    reg  [LANES-1:0] drains, quiet;
    reg              suspect, missing, passed;
    wire             says       = passed && !copies && mine == 0;
    wire             counts_not = !missing || stop || copies || lost;
    genvar k;
    generate
        for (k = 0; k < LANES; k = k + 1) begin : g_lane
            wire       here  = copies && from == k;
            wire       shows = h_valid[k] && !here && !drains[k];
            wire [7:0] ahead = h_seq[8*k +: 8] - expected;
            wire       old   = ahead[7];
            assign mine[k]   = shows && !h_doomed[k] && ahead == 8'd0;
            assign later[k]  = shows && !h_doomed[k] && ahead != 8'd0 && !old;
            assign ev_gap[k] = shows && h_doomed[k];
            assign ev_dup[k] = shows && !h_doomed[k] && old;
            assign h_ready[k] = here ? !full : drains[k];
            always @(posedge clk) begin
                if (ev_gap[k] || ev_dup[k])        drains[k] <= 1'b1;
                else if (h_valid[k] && h_last[k])  drains[k] <= 1'b0;
                if (rst || restart) drains[k] <= 1'b0;
            end

            reg  [SKEWW-1:0] idle;
            wire             over;
            at_least #(.WIDTH(SKEWW), .LIMIT(`LP_LANE_SKEW)) u_idle (.x(idle), .y(over));
            always @(posedge clk) begin
                quiet[k] <= over;
                if (active[k] || waits[k] || counts_not) idle <= {SKEWW{1'b0}};
                else if (tick && !over)                  idle <= idle + 1'b1;
            end
        end
    endgenerate

    reg  [LW-1:0] pick;
    integer i;
    always @* begin
        pick = {LW{1'b0}};
        for (i = LANES - 1; i >= 0; i = i - 1) if (mine[i]) pick = i[LW-1:0];
    end

    always @(posedge clk) begin
        if (!copies) {copies, from} <= {mine != 0, pick};
        else if (finish) copies <= 1'b0;

        suspect <= (suspect || doubt != 0) && !says;
        missing <= up && (suspect || later != 0) && mine == 0;
        passed  <= missing && !lost && mine == 0 && (later | (quiet & ~waits) | ~heard) == {LANES{1'b1}} && !copies && !passed;
        if (says) lost <= 1'b1;
        if (finish) begin
            expected <= expected + 8'd1;
            lost     <= 1'b0;
        end
        ev_packet    <= finish && fits;
        ev_malformed <= finish && !fits;
        if (rst || restart) begin
            expected <= 8'd0;
            {copies, lost, suspect, missing, passed} <= 5'd0;
        end
    end

    wire [USEDW-1:0] used;
    wire             high, above_low;
    always @(posedge clk)
        if (rst)               stop <= 1'b0;
        else                   stop <= high || (stop && above_low);
    at_least #(.WIDTH(USEDW), .LIMIT(HIGH / WIDTH))    u_high (.x(used), .y(high));
    at_least #(.WIDTH(USEDW), .LIMIT(LOW / WIDTH + 1)) u_low (.x(used), .y(above_low));

    wire unused_overflow;
    fifo_commit #(.WIDTH(9 * WIDTH + 1), .DEPTH(BEATS), .EARLY(EARLY)) u_fifo (
        .clk(clk), .rst(rst),
        .wr_en(move), .wr_data({h_last[from], h_keep[WIDTH*from +: WIDTH], h_data[8*WIDTH*from +: 8*WIDTH]}),
        .commit(finish && fits), .rollback((finish && !fits) || restart),
        .used(used), .full(full), .overflow(unused_overflow),
        .m_valid(m_valid), .m_ready(m_ready), .m_data({m_last, m_keep, m_data}), .m_sure(m_sure), .m_void(m_void)
    );
`ifdef FORMAL
`include "trunk_order.formal.v"
`endif
endmodule
`resetall
