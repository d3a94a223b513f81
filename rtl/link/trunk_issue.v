`default_nettype none
// Hands the packets of the replay buffer to lanes, and goes back when the peer lost one.
//
// Contract:
//   base, base_seq, load_seq, look .. look_last, acked, progress, sent_seq: as of link_framer, but that sent_seq is one past the last frame
//   ever begun. restart: a pulse, or for as long as packets are dropped.
//   ready: lanes that take a packet; give: one of them does, packet seq from place first to place last. The lanes take turns.
//   sends / seqs: frames in lanes, and their numbers, two a lane. done (pulses): frame done_seqs of a lane has been sent whole.
//   may_send: frames go over some lane.
//   `lost` (with acked): go back to base_seq, unless that frame is still in a lane, has not begun since going back, or has been sent within
//   SKEW symbol times. Frames in lanes go on. The same, and `give_up`, for RETRY and RETRY_LIMIT as of link_framer.
//   No copy of a frame is behind another one by half the numbers: a frame begins only while it is less than that beyond `safe`, and no
//   frame before that is in a lane, or has been within SKEW symbol times.
//
// SEQ and SKEW, bits of a sequence number and the bound of what lanes differ by, are the protocol's, but in the proof.
//
// Proven: trunk_issue.formal.v. Source: doc/protocol.md, "Lanes".
`include "linkproto.vh"
module trunk_issue #(
    parameter LANES       = 4,
    parameter POINTER     = 13,
    parameter RETRY       = 16384,
    parameter RETRY_LIMIT = 8,
    parameter SEQ         = 8,
    parameter SKEW        = `LP_LANE_SKEW
) (
    input  wire               clk,
    input  wire               rst,
    input  wire               tick,
    input  wire               up,
    input  wire               restart,

    input  wire [POINTER-1:0] base,
    input  wire [SEQ-1:0]     base_seq,
    input  wire [SEQ-1:0]     load_seq,
    output wire               look,
    output wire [SEQ-1:0]     look_seq,
    input  wire               look_done,
    input  wire [POINTER-1:0] look_last,
    input  wire               acked,
    input  wire               lost,
    input  wire               progress,
    output reg  [SEQ-1:0]     sent_seq,

    input  wire [LANES-1:0]   ready,
    output wire [LANES-1:0]   give,
    output wire [SEQ-1:0]     seq,
    output wire [POINTER-1:0] first,
    output reg  [POINTER-1:0] last,

    input  wire [2*LANES-1:0]     sends,
    input  wire [2*SEQ*LANES-1:0] seqs,
    input  wire [LANES-1:0]       done,
    input  wire [SEQ*LANES-1:0]   done_seqs,
    input  wire                   may_send,

    output reg                give_up,
    output reg                ev_replay,
    output reg                ev_retry
);
    localparam TIMERW = $clog2(RETRY + 1);
    localparam LIMITW = $clog2(RETRY_LIMIT + 1);
    localparam SKEWW  = $clog2(SKEW + 1);
    localparam [SEQ-1:0] ONE = 1, MOST = (1 << (SEQ - 1)) - 1;     // frames on their way

    wire reset = rst || restart;

    // The next packet: looked up, then given to a lane.
    reg  [SEQ-1:0]     next_seq;
    reg  [POINTER-1:0] prior;              // last byte of the packet before it
    reg                looked, have, closed, behind, go_back, again;
    wire               pending = next_seq != load_seq;
    wire               rewind  = go_back || behind;
    assign look     = up && pending && !closed && !looked && !have && !rewind && !again;
    assign look_seq = next_seq;
    assign seq      = next_seq;
    assign first    = prior + 1'b1;

    reg  [LANES-1:0]   turn;                // the lane that was given the last one, as one bit
    wire [2*LANES-1:0] twice  = {ready, ready};
    wire [2*LANES-1:0] from   = {{LANES{1'b0}}, turn} << 1;
    wire [2*LANES-1:0] lowest = twice & ~(twice - from);    // the first that is ready, from the lane behind on
    wire [LANES-1:0]   picked = lowest[LANES-1:0] | lowest[2*LANES-1:LANES];
    assign give = picked & {LANES{have && !rewind && !closed}};
    wire   given = give != 0;

    wire [SEQ-1:0] ahead = next_seq - base_seq;
    wire           unused_ahead = ^ahead[SEQ-2:0];
    reg  [SEQ-1:0] safe;
    wire [SEQ-1:0] beyond = next_seq - safe;
    always @(posedge clk) begin
        behind <= ahead[SEQ-1] && !rewind;
        closed <= beyond >= MOST;
        again  <= rewind || given;          // behind and closed are those of another number
        looked <= look;
        if (look_done && looked) {have, last} <= {1'b1, look_last};
        if (given) begin
            turn     <= give;
            prior   <= last;
            next_seq <= next_seq + ONE;
            have     <= 1'b0;
            if (next_seq == sent_seq) sent_seq <= sent_seq + ONE;
        end
        if (rewind) begin
            next_seq <= base_seq;
            prior   <= base;
            {have, looked} <= 2'd0;
        end
        if (reset) begin
            {next_seq, sent_seq} <= 0;
            prior <= base;
            {have, looked, closed} <= 3'd0;
            {behind, again} <= 2'b11;       // so that it begins at base, when packets have been dropped
        end
        if (rst) turn <= 1;
    end

    // What is in the lanes.
    reg  stale, base_in, base_out;          // a frame before base_seq; that one; that one has left
    reg  [SEQ-1:0] base_q;
    reg  [2*LANES-1:0] old, oldest;
    reg  [LANES-1:0] left;
    integer k;
    reg  [SEQ-1:0] over;
    always @* begin
        {old, oldest, left} = 0;
        over = 0;
        for (k = 0; k < 2 * LANES; k = k + 1) begin
            over      = seqs[SEQ*k +: SEQ] - base_seq;
            old[k]    = sends[k] && over[SEQ-1];
            oldest[k] = sends[k] && over == 0;
        end
        for (k = 0; k < LANES; k = k + 1) left[k] = done[k] && done_seqs[SEQ*k +: SEQ] == base_seq;
    end

    // `safe`: what was the base SKEW symbol times ago, while no frame before it was in a lane.
    reg  [SEQ-1:0]   later;
    reg              settles;
    reg  [SKEWW-1:0] left_for, wait_for;
    wire             long_gone;
    at_least #(.WIDTH(SKEWW), .LIMIT(SKEW)) u_gone (.x(left_for), .y(long_gone));
    always @(posedge clk) begin
        stale    <= old != 0 || ahead[SEQ-1] || again;
        base_in  <= oldest != 0;
        base_out <= left != 0;
        base_q   <= base_seq;
        if (!settles && !stale && base_q != safe) begin
            {settles, later} <= {1'b1, base_q};
            wait_for <= SKEW[SKEWW-1:0];
        end else if (settles && tick) begin
            wait_for <= wait_for - 1'b1;
            if (wait_for == 1) {settles, safe} <= {1'b0, later};
        end
        if (progress)                   left_for <= SKEW[SKEWW-1:0];
        else if (base_out)              left_for <= 0;
        else if (tick && !long_gone)    left_for <= left_for + 1'b1;
        if (reset) begin
            {safe, settles} <= 0;
            left_for        <= SKEW[SKEWW-1:0];
            {stale, base_in, base_out} <= 3'b100;
        end
    end

    // Going back.
    reg  [TIMERW-1:0] timer;
    reg  [LIMITW-1:0] retries;
    reg  lost_again, sent_any, expired, last_retry;
    wire begun   = next_seq != base_seq;    // base_seq, since going back
    wire asked   = lost_again && begun && sent_any && !base_in && long_gone;
    wire drained = sends == 0 && (!pending || closed);
    wire timed_out;
    at_least #(.WIDTH(TIMERW), .LIMIT(RETRY)) u_timed_out (.x(timer), .y(timed_out));
    always @(posedge clk) begin
        lost_again <= acked && lost;
        sent_any   <= sent_seq != base_seq;
        last_retry <= retries == RETRY_LIMIT - 1;
        expired    <= timed_out && !expired;
        ev_retry   <= expired;
        give_up    <= expired && last_retry;
        go_back    <= asked || (expired && drained && !last_retry && sent_any);
        ev_replay  <= go_back;

        timer <= timer + {{TIMERW-1{1'b0}}, tick && !timed_out};
        if (progress || expired || !may_send || !sent_any) timer <= 0;
        retries <= progress ? {LIMITW{1'b0}} : retries + {{LIMITW-1{1'b0}}, expired};
        if (reset) begin
            {go_back, give_up, lost_again, expired, ev_replay} <= 5'd0;
            timer   <= 0;
            retries <= 0;
        end
    end
`ifdef FORMAL
`include "trunk_issue.formal.v"
`endif
endmodule
`resetall
