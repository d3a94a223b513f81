`default_nettype none
// Link state machine: the INIT handshake with epochs, and what the peer's link state words mean.
//
// Contract:
//   `up` rises when the peer has named our epoch. `restart` pulses when the peer was seen to have restarted or `give_up` came:
//   both sequence spaces begin again and a new epoch of our own is taken. A restart is never missed and never invented on a link that keeps
//   order, whatever words are lost: an INIT that does not name both present epochs can only come from a new life of the peer.
//   word_echo stands in the clock before `word` too.
//   `ack`, `ack_lost`, in the clock of `word`: word_n is acknowledged, by a word that names our present epoch; `up` from the next clock on.
//   `peer_stop` is the stop bit of the last word taken. `answer` pulses when a word of ours is asked for.
//   A reset takes the next epoch, so that it always differs from the one before; after configuration that is the one after FIRST_EPOCH.
//
// Source: doc/protocol.md, "Link state machine".
module link_state #(
    parameter FIRST_EPOCH = 1
) (
    input  wire       clk,
    input  wire       rst,

    input  wire       word,
    input  wire [1:0] word_kind,
    input  wire       word_stop,
    input  wire [7:0] word_n,
    input  wire [7:0] word_echo,
    input  wire       give_up,

    output reg        up,
    output reg        restart,
    output reg  [7:0] epoch,
    output reg  [7:0] peer_epoch,
    output reg        peer_stop,
    output wire       ack,
    output wire       ack_lost,
    output reg        answer,

    output reg        ev_stale
);
`include "linkproto.vh"

    function [7:0] next_epoch(input [7:0] e);
        next_epoch = &e ? 8'd1 : e + 8'd1;
    endfunction

    reg rst_q = 1'b0;
    initial epoch = FIRST_EPOCH[7:0];

    wire init     = word_kind == `LP_KIND_INIT;
    reg  for_us;                        // the word's echo is the epoch, which has not changed meanwhile
    wire same     = init && for_us && word_n == peer_epoch;
    wire known    = peer_epoch != `LP_EPOCH_NONE;
    wire valid_init = init && word_n != `LP_EPOCH_NONE;
    wire report   = !init && for_us && known;
    wire reborn   = word && up && valid_init && !same;
    wire quits    = give_up && up;      // not behind a restart that has come first
    wire begins   = reborn || quits;

    assign ack      = word && report;
    assign ack_lost = word_kind == `LP_KIND_LOST;
    always @(posedge clk) begin
        for_us   <= word_echo == epoch && !begins;
        answer   <= word && up && same;
        restart  <= begins;
        ev_stale <= word && (init ? !valid_init : !report);

        if (word && (report || valid_init)) peer_stop <= word_stop;
        if (word && valid_init) peer_epoch <= word_n;
        if (word && (report || (valid_init && for_us))) up <= 1'b1;
        if (begins) up <= 1'b0;
        if (rst ? !rst_q || epoch == `LP_EPOCH_NONE : begins) epoch <= next_epoch(epoch);
        rst_q <= rst;
        if (quits && !(word && valid_init)) peer_epoch <= `LP_EPOCH_NONE;
        if (rst) begin
            {up, answer, restart, ev_stale, peer_stop} <= 5'd0;
            peer_epoch <= `LP_EPOCH_NONE;
        end
    end
endmodule
`resetall
