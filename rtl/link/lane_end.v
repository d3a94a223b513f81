`default_nettype none
// One end of a lane: its splitter, receiver, framer and multiplexer, with the lane's state.
//
// Contract:
//   tick, tx_*, rx_*: as of link_endpoint, of this lane. LANES, LANE: of the link, and which of them this is.
//   up, restart, young, peer_life, may_leave, alone, none_open, own, node, renew, anonymous, soon: of the link; same: this lane hears that
//   peer.
//   ack (pulse) with ack_n and ack_lost, which stand for a clock: a word that counts. stop, lost, expected, untold, hurry, telling:
//   what words say.
//   h_*, waits, active, coming: as of lane_rx. doubt (pulse): something was damaged, or frames do not go over the lane any more.
//   takes, give .. given_last, turn, rd_*, sends, seqs, done: as of lane_framer; frames go while `open`, and not while peer_stop.
//   say, say_take, BARRIER: as of link_mux. hears: {valid (pulse), group, value} of BARRIERs that have come.
//   life, peer, known, fits, heard, foreign: whom it hears, and how. ev_*: events, one clock each.
//
// Source: doc/protocol.md, "Lanes".
module lane_end #(
    parameter LANES      = 4,
    parameter LANE       = 0,
    parameter POINTER    = 13,
    parameter SKEW_BYTES = 4096,
    parameter MAX_PACKET = 1032,
    parameter ACK_DELAY  = 512,
    parameter WORD_TIMER = 4096,
    parameter HOST       = 0,
    parameter ROUTES     = 0,
    parameter EARLY      = 0,
    parameter BARRIER    = 0,
    parameter WIDTH      = 4
) (
    input  wire        clk,
    input  wire        rst,

    input  wire        tick,
    output wire [8:0]  tx_sym,
    input  wire        tx_ready,
    input  wire [8:0]  rx_sym,
    input  wire        rx_valid,

    input  wire [31:0] own,
    input  wire [15:0] node,
    input  wire        anonymous,
    input  wire        renew,
    input  wire        soon,
    input  wire        up,
    input  wire        restart,
    input  wire        young,
    input  wire [31:0] peer_life,
    input  wire        may_leave,
    input  wire        alone,
    input  wire        none_open,
    input  wire [7:0]  expected,
    input  wire        lost,
    input  wire        stop,
    input  wire        answer,
    input  wire        untold,
    input  wire        hurry,
    output wire        telling,
    input  wire [13:0] say,
    output wire        say_take,
    output wire [13:0] hears,

    output wire        ack,
    output wire [7:0]  ack_n,
    output wire        ack_lost,
    output wire [31:0] life,
    output wire [15:0] peer,
    output wire        known,
    output wire        fits,
    output wire        heard,
    output wire        open,
    output wire        foreign,
    output wire        peer_stop,

    output wire        takes,
    input  wire        give,
    input  wire [7:0]  given_seq,
    input  wire [POINTER-1:0] given_first,
    input  wire [POINTER-1:0] given_last,
    input  wire        turn,
    output wire        rd_en,
    output wire [POINTER-2:0] rd_addr,
    input  wire [8*WIDTH-1:0] rd_data,
    output wire [1:0]  sends,
    output wire [15:0] seqs,
    output wire        done,

    output wire        h_valid,
    input  wire        h_ready,
    output wire [8*WIDTH-1:0] h_data,
    output wire [WIDTH-1:0]   h_keep,
    output wire        h_last,
    output wire [7:0]  h_seq,
    output wire        h_malformed,
    output wire        h_doomed,
    output wire        waits,
    output wire        coming,
    output wire        active,
    output reg         doubt,

    output wire        ev_crc,
    output wire        ev_overrun,
    output wire        ev_stray,
    output wire        ev_bad_word
);
`include "linkproto.vh"
    localparam PAGE_BYTES = MAX_PACKET - `LP_PACKET_EXTRA - (ROUTES != 0 ? `LP_ROUTE_EXTRA : 0);

    // What is sealed, with the key of the link's peer while that is up, else of whom the lane hears.
    reg  [31:0] key;
    reg         same;
    wire [31:0] of = up ? peer_life : life;
    wire [31:0] key_out = {key[15:0], key[31:16]};
    always @(posedge clk) begin
        key  <= own ^ {of[15:0], of[31:16]};
        same <= life == peer_life;
    end

    wire       sop, eop, aborted, data, err, word, init, word_bad, word_stop, i_en, other, init_bad, closed, asked, good;
    wire [7:0] byte_q, i_byte;
    wire [3:0] i_at;
    link_split #(.BARRIER(BARRIER)) u_split (
        .clk(clk), .rst(rst), .rx_valid(rx_valid), .rx_sym(rx_sym), .key(key), .restart(restart || renew),
        .sop(sop), .eop(eop), .aborted(aborted), .data(data), .err(err), .byte_q(byte_q),
        .word(word), .init(init), .word_bad(word_bad), .word_lost(ack_lost), .word_stop(word_stop), .word_n(ack_n),
        .barrier(hears[13]), .word_group(hears[12:8]),
        .i_en(i_en), .i_at(i_at), .i_byte(i_byte), .init_bad(init_bad)
    );
    assign hears[7:0] = ack_n;
    link_peer #(.PAGE_BYTES(PAGE_BYTES), .HOST(HOST), .ROUTES(ROUTES), .LANES(LANES)) u_peer (
        .clk(clk), .load(!known), .byte_en(i_en), .at(i_at), .byte_q(i_byte),
        .life(life), .node(peer), .fits(fits), .other(other), .bad(init_bad)
    );
    lane_state #(.WORD_TIMER(WORD_TIMER)) u_state (
        .clk(clk), .rst(rst), .tick(tick), .word(word), .init(init), .word_bad(word_bad), .word_stop(word_stop), .other(other), .fits(fits),
        .same(same), .frame_good(good), .frame_bad(ev_crc), .up(up), .young(young), .restart(restart), .renew(renew), .anonymous(anonymous),
        .may_leave(may_leave), .alone(alone), .none_open(none_open), .known(known), .heard(heard), .open(open), .closed(closed),
        .foreign(foreign), .stop(peer_stop), .ack(ack), .answer(asked)
    );

    reg carried;                // something has arrived in this life of the link
    always @(posedge clk) begin
        carried <= up && !restart && (carried || good || expected != 8'd0);
        doubt   <= ev_crc || ev_overrun || (closed && carried);
    end

    lane_rx #(.SKEW_BYTES(SKEW_BYTES), .MAX_PACKET(MAX_PACKET), .WIDTH(WIDTH)) u_rx (
        .clk(clk), .rst(rst), .sop(sop), .eop(eop), .aborted(aborted), .data(data), .err(err), .byte_q(byte_q),
        .up(up), .restart(restart), .key(key),
        .h_valid(h_valid), .h_ready(h_ready), .h_data(h_data), .h_keep(h_keep), .h_last(h_last), .h_seq(h_seq), .h_malformed(h_malformed),
        .h_doomed(h_doomed), .waits(waits), .coming(coming), .active(active),
        .ev_good(good), .ev_crc(ev_crc), .ev_overrun(ev_overrun), .ev_stray(ev_stray)
    );

    wire       f_valid, f_take, ready;
    wire [8:0] f_sym;
    reg        shut;
    always @(posedge clk) shut <= rst || restart || !open || !up;
    assign takes = ready && open && !peer_stop && !shut;
    lane_framer #(.POINTER(POINTER), .WIDTH(WIDTH)) u_framer (
        .clk(clk), .rst(shut), .key(key_out),
        .give(give), .ready(ready), .given_seq(given_seq), .given_first(given_first), .given_last(given_last),
        .turn(turn), .rd_en(rd_en), .rd_addr(rd_addr), .rd_data(rd_data),
        .f_valid(f_valid), .f_sym(f_sym), .f_take(f_take),
        .sends(sends[0]), .seq(seqs[7:0]), .fetches(sends[1]), .next_seq(seqs[15:8]), .done(done)
    );

    link_mux #(
        .PAGE_BYTES(PAGE_BYTES), .ROUTES(ROUTES), .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .EARLY(EARLY), .LANES(LANES), .LANE(LANE),
        .BARRIER(BARRIER)
    ) u_mux (
        .clk(clk), .rst(rst), .tick(tick), .up(up && heard), .own(own), .node(node),
        .known(!up && !restart && known && fits && !anonymous), .key(key_out), .expected(expected), .lost(lost), .stop(stop),
        .answer(answer || asked || restart || renew), .soon(soon), .peer_stop(peer_stop),
        .untold(untold), .hurry(hurry), .telling(telling), .say(say), .say_take(say_take),
        .f_valid(f_valid && open && !shut), .f_sym(f_sym), .f_take(f_take), .tx_sym(tx_sym), .tx_ready(tx_ready)
    );

    reg [2:0] word_bad_q;       // behind what the word before may have caused, so that both count
    always @(posedge clk) word_bad_q <= {word_bad_q[1:0], word_bad};
    assign ev_bad_word = word_bad_q[2] && up;
endmodule
`resetall
