`default_nettype none
// State of a lane: whether its peer is heard well, and whether the peer says the same.
//
// Contract:
//   word, init, word_bad (pulses), word_stop: of link_split, with the key of the lane. frame_good, frame_bad (pulses): of lane_rx.
//   known: link_peer holds whom the lane hears; `other`, `fits`: its. same: that is the peer with which the link is up.
//   up, restart: of the link. young: INITs of its peer may be older than what it has heard of this life of the link.
//   `ack`, in the clock of `word`: it counts, and brings the link up if that is not.
//   heard: the peer is heard well; words say so. open: the peer says the same. Frames go over the lane while both. `closed` pulses
//   when that ends.
//   may_leave: the lane may be left out now, for silence or faults: another one is heard. It must be good for a while then, or until the
//   peer says that it hears this end while `none_open`: no lane of the link is open. alone: no other lane is heard; good frames and words
//   make up for faults then, however many there were.
//   foreign: the lane hears another end than the link's peer. `stop`: the peer says STOP on this lane.
//   `answer` pulses when a word is asked for, or heard has fallen.
//
// Proven: lane_state.formal.v. Source: doc/protocol.md, "Lanes"; bidirectional forwarding detection, RFC 5880.
`include "linkproto.vh"
module lane_state #(
    parameter WORD_TIMER = 4096
) (
    input  wire clk,
    input  wire rst,
    input  wire tick,

    input  wire word,
    input  wire init,
    input  wire word_bad,
    input  wire word_stop,
    input  wire other,
    input  wire fits,
    input  wire same,
    input  wire frame_good,
    input  wire frame_bad,
    input  wire up,
    input  wire young,
    input  wire restart,
    input  wire renew,
    input  wire anonymous,
    input  wire may_leave,
    input  wire alone,
    input  wire none_open,

    output reg  known,
    output reg  heard,
    output wire open,
    output reg  closed,
    output wire foreign,
    output reg  stop,
    output wire ack,
    output reg  answer
);
    localparam integer SILENT = `LP_LANE_SILENT_TIMERS * WORD_TIMER, TRIAL = `LP_LANE_TRIAL_TIMERS * WORD_TIMER;
    localparam QUIETW = $clog2(SILENT + 1);
    localparam TRIALW = $clog2((TRIAL << `LP_LANE_TRIAL_DOUBLINGS) + 1);
    localparam [31:0] TERM = TRIAL;
    localparam SCOREW = $clog2(`LP_LANE_FAULTS + `LP_LANE_FAULT);
    localparam [SCOREW-1:0] FULL = `LP_LANE_FAULTS;

    reg  sealed, up_q;
    wire another   = init && known && other;
    wire init_same = init && up && same && !another;
    wire init_else = init && up && !init_same;
    assign open    = heard && sealed;
    assign foreign = up_q && known && !same;
    assign ack     = word && !restart && (up || (known && fits && !anonymous));

    // Silence, faults, and how long it has to be good.
    reg  [QUIETW-1:0] quiet;
    reg  [TRIALW-1:0] trial;
    reg  [2:0]        doublings;
    reg               again;            // it was left out before, in this life of the link
    reg  [SCOREW-1:0] score;
    wire              silent, worn;
    at_least #(.WIDTH(QUIETW), .LIMIT(SILENT))         u_silent (.x(quiet), .y(silent));
    at_least #(.WIDTH(SCOREW), .LIMIT(`LP_LANE_FAULTS)) u_worn (.x(score), .y(worn));
    wire       sound  = ack || init_same;
    wire       faulty = up && (word_bad || frame_bad);
    wire       leave  = heard && may_leave && (silent || worn) && !restart;
    wire       on_trial = trial != 0;
    wire [2:0] later  = !again ? 3'd0 : doublings == `LP_LANE_TRIAL_DOUBLINGS ? doublings : doublings + 3'd1;
    wire       served = trial == 1 && tick && !faulty && !silent;
    wire       needed = ack && none_open;

    always @(posedge clk) begin
        up_q   <= up && !restart;
        closed <= open && (leave || init_else || foreign || (init_same && !young)) && !restart;
        answer <= (init && (!up || heard)) || (ack && !up) || leave || init_else;
        if (ack || init) stop <= word_stop;
        if (init)        known <= !another && !restart;     // link_peer does not hold what began to come before
        if (foreign && ack) known <= 1'b0;                  // a word of the link's peer: it is no other end's lane any more
        if (restart || renew) known <= 1'b0;

        if (ack)       sealed <= 1'b1;
        if (init_else || foreign || (init_same && !young)) sealed <= 1'b0;
        if ((sound && !on_trial) || served || needed) heard <= 1'b1;
        if (leave || init_else || foreign)  heard <= 1'b0;

        if (sound)                                            quiet <= 0;
        else if (tick && !silent)                             quiet <= quiet + 1'b1;
        if (leave) begin
            trial     <= TERM[TRIALW-1:0] << later;
            doublings <= later;
            again     <= 1'b1;
        end else if (needed)                         trial <= 0;
        else if (on_trial && (faulty || silent))     trial <= TERM[TRIALW-1:0] << doublings;
        else if (on_trial && tick)                   trial <= trial - 1'b1;

        if (faulty) score <= score > FULL - `LP_LANE_FAULT ? FULL : score + `LP_LANE_FAULT;
        else if ((sound || frame_good) && score != 0 && (!worn || alone)) score <= score - 1'b1;
        if (!heard) score <= 0;

        if ((!up && !ack) || restart) begin
            {heard, sealed, again} <= 3'd0;
            {quiet, trial}         <= 0;
        end
        if (rst) {known, stop, answer, closed, up_q} <= 5'd0;
    end
`ifdef FORMAL
`include "lane_state.formal.v"
`endif
endmodule
`resetall
