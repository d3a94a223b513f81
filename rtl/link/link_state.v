`default_nettype none
// Link state machine: whom this end hears, whether the link is up, and what the peer's words mean.
//
// Contract:
//   word, init (pulses): a good word with the peer's key, and a good INIT; `other`: of another life than that which link_peer holds, and
//   `fits` of that. `known`: it holds one, and takes no other in. A word without a peer is ignored, and while `anonymous` any.
//   `up` rises with a word: the peer knows this end's life. `restart` pulses when, while up, the peer was seen to have restarted, `give_up`
//   or `renew` came, or no word in SILENCE symbol times (`tick`): both sequence spaces begin again and a new epoch of our own is taken.
//   `renew`: this end's life is another one from the next clock on. A restart is never missed and never invented on a link that keeps
//   order, whatever words are lost.
//   `ack`, in the clock of `word`: it counts. `up` from the next clock on. `peer_stop` is the stop bit of the last word taken. `answer`
//   pulses when a word of ours is asked for, or `up` rises.
//   A reset takes the next epoch, so that it always differs from the one before; after configuration that is the one after FIRST_EPOCH.
//
// Source: doc/protocol.md, "Link state machine".
module link_state #(
    parameter FIRST_EPOCH = 1,
    parameter SILENCE     = 16384       // 0: silence says nothing
) (
    input  wire       clk,
    input  wire       rst,
    input  wire       tick,

    input  wire       word,
    input  wire       init,
    input  wire       word_stop,
    input  wire       other,
    input  wire       fits,
    input  wire       give_up,
    input  wire       renew,
    input  wire       anonymous,

    output reg        known,
    output reg        up,
    output reg        restart,
    output reg  [7:0] epoch,
    output reg        peer_stop,
    output wire       ack,
    output reg        answer
);
`include "linkproto.vh"

    localparam SILENTW = $clog2(SILENCE + 2);

    function [7:0] next_epoch(input [7:0] e);
        next_epoch = &e ? 8'd1 : e + 8'd1;
    endfunction

    reg rst_q = 1'b0;
    initial epoch = FIRST_EPOCH[7:0];

    wire silent;
    wire another = init && known && other;
    wire begins  = up && (another || give_up || silent || renew);

    assign ack = word && known && fits && !anonymous && !restart;
    always @(posedge clk) begin
        answer   <= init || (ack && !up);
        restart  <= begins;

        if (ack || init) peer_stop <= word_stop;
        if (begins || renew) known <= 1'b0;
        else if (init)       known <= !another && !restart; // link_peer does not hold what began to come before
        if (begins)      up <= 1'b0;
        else if (ack && !renew) up <= 1'b1;
        if (rst ? !rst_q : begins) epoch <= next_epoch(epoch);
        rst_q <= rst;
        if (rst) {known, up, answer, restart, peer_stop} <= 5'd0;
    end

    generate
        if (SILENCE == 0) begin : g_patient
            wire unused_tick = tick;
            assign silent = 1'b0;
        end else begin : g_silence
            reg  [SILENTW-1:0] since;
            reg                gone;
            wire               over;
            at_least #(.WIDTH(SILENTW), .LIMIT(SILENCE)) u_over (.x(since), .y(over));
            assign silent = gone;
            always @(posedge clk) begin
                gone  <= over && up && !ack && !begins && !rst;
                since <= ack || !up ? {SILENTW{1'b0}} : since + {{SILENTW-1{1'b0}}, tick && !over};
            end
        end
    endgenerate
endmodule
`resetall
