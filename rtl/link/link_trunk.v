`default_nettype none
// One end of a link of several lanes: link_endpoint, with a replay buffer and a receive FIFO for all of them.
//
// Contract: link_endpoint's, but for these.
//   tick, tx_*, rx_*: of each lane, the lowest first. All lanes have the same PHY. A symbol a clock on each needs WIDTH >= LANES; else
//   each has one in LANES / WIDTH clocks, with IDLEs between.
//   A packet leaves when it is whole in the replay buffer, and shows on m_* when its frame is whole and all before it have come: if EARLY,
//   on trial until its end, which says whether it is malformed.
//   SKEW_BYTES: as of lane_rx.
//   open: lanes over which frames go. foreign: lanes cabled to another end.
//
// Source: doc/protocol.md, "Lanes".
module link_trunk #(
    parameter LANES        = 4,
    parameter REPLAY_BYTES = 16384,
    parameter RX_BYTES     = 8192,
    parameter SKEW_BYTES   = 8192,
    parameter MAX_PACKET   = 2056,
    parameter HEADROOM     = 256,
    parameter ACK_DELAY    = 512,
    parameter WORD_TIMER   = 4096,
    parameter RETRY        = 16384,
    parameter RETRY_LIMIT  = 8,
    parameter FIRST_EPOCH  = 1,
    parameter PORT         = 1,
    parameter SILENCE      = 4 * WORD_TIMER,
    parameter EARLY        = 0,
    parameter ROUTES       = 0,
    parameter BARRIER      = 0,
    parameter WIDTH        = 4
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [15:0] node,
    input  wire [31:0] nonce,
    input  wire        anonymous,
    input  wire        renew,
    input  wire        soon,

    input  wire        s_valid,
    output wire        s_ready,
    input  wire [8*WIDTH-1:0] s_data,
    input  wire [WIDTH-1:0]   s_keep,
    input  wire        s_last,
    input  wire        cancel,
    output wire        has_room,
    input  wire [15:0] size,
    output wire        takes,
    input  wire        refused,
    input  wire        admit,
    output wire [15:0] freed_bytes,
    output wire [7:0]  freed_packets,

    output wire        m_valid,
    input  wire        m_ready,
    output wire [8*WIDTH-1:0] m_data,
    output wire [WIDTH-1:0]   m_keep,
    output wire        m_last,
    output wire        m_sure,
    output wire        m_void,
    output wire        coming,
    input  wire [13:0] say,
    output wire        say_take,
    output wire [14:0] heard,

    input  wire [LANES-1:0]   tick,
    output wire [9*LANES-1:0] tx_sym,
    input  wire [LANES-1:0]   tx_ready,
    input  wire [9*LANES-1:0] rx_sym,
    input  wire [LANES-1:0]   rx_valid,

    output wire [15:0] status,
    output wire [17:0] peer,
    output wire [15:0] events,
    output wire [LANES-1:0] open,
    output wire [LANES-1:0] foreign
);
`include "linkproto.vh"
    localparam POINTER = $clog2(REPLAY_BYTES) + 1;
    localparam LW = $clog2(LANES);
    localparam [31:0] LAST = LANES - 1;
    generate
        if (LANES < 2 || LANES > `LP_MAX_LANES) error_a_trunk_has_2_to_8_lanes u_check_lanes ();
    endgenerate

    wire        up, restart, young, give_up, lost, stop;
    wire [7:0]  epoch, expected;
    wire [31:0] own = nonce ^ {epoch, 24'd0} ^ 32'd1 * PORT << `LP_LIFE_PORT_LSB;
    wire [31:0] peer_life;
    wire [15:0] peer_node;
    wire [LANES-1:0] ack, ack_lost, known, fits, hearing, stopped, may_leave, alone, telling, lane_takes, give, turn, rd_en, done;
    wire [LANES-1:0] h_valid, h_ready, h_last, h_malformed, h_doomed, waits, active, comes, doubt, ev_dup, ev_gap, ev_crc, ev_overrun;
    wire [LANES-1:0] ev_stray, ev_bad_word, untold;
    wire [LANES-1:0]    mouth, takes_word;
    wire [14*LANES-1:0] hears;
    wire [8*LANES-1:0]  ack_n, h_seq;
    wire [16*LANES-1:0] nodes, seqs;
    wire [32*LANES-1:0] lives;
    wire [2*LANES-1:0]  sends;
    wire [8*WIDTH*LANES-1:0] h_data;
    wire [WIDTH*LANES-1:0]   h_keep;
    wire [(POINTER-1)*LANES-1:0] rd_addrs;
    wire [8*WIDTH-1:0] rd_data;
    wire [7:0]  given_seq;
    wire [POINTER-1:0] given_first, given_last;
    wire        hurry;
    assign coming = comes != 0;

    genvar k;
    generate
        for (k = 0; k < LANES; k = k + 1) begin : g_lane
            lane_end #(
                .LANES(LANES), .LANE(k), .POINTER(POINTER), .SKEW_BYTES(SKEW_BYTES), .MAX_PACKET(MAX_PACKET), .ACK_DELAY(ACK_DELAY),
                .WORD_TIMER(WORD_TIMER), .HOST(PORT == 0 ? 1 : 0), .ROUTES(ROUTES), .EARLY(PORT == 0 ? 0 : EARLY),
                .BARRIER(BARRIER), .WIDTH(WIDTH)
            ) u_lane (
                .clk(clk), .rst(rst), .tick(tick[k]), .tx_sym(tx_sym[9*k +: 9]), .tx_ready(tx_ready[k]),
                .rx_sym(rx_sym[9*k +: 9]), .rx_valid(rx_valid[k]),
                .own(own), .node(node), .anonymous(anonymous), .renew(renew), .soon(soon),
                .up(up), .restart(restart), .young(young), .peer_life(peer_life), .may_leave(may_leave[k]), .alone(alone[k]),
                .none_open(open == 0),
                .expected(expected), .lost(lost), .stop(stop), .answer(ev_dup[k]), .untold(untold[k]), .hurry(hurry), .telling(telling[k]),
                .say({say[13] && mouth[k], say[12:0]}), .say_take(takes_word[k]), .hears(hears[14*k +: 14]),
                .ack(ack[k]), .ack_n(ack_n[8*k +: 8]), .ack_lost(ack_lost[k]), .life(lives[32*k +: 32]), .peer(nodes[16*k +: 16]),
                .known(known[k]), .fits(fits[k]), .heard(hearing[k]), .open(open[k]), .foreign(foreign[k]), .peer_stop(stopped[k]),
                .takes(lane_takes[k]), .give(give[k]), .given_seq(given_seq), .given_first(given_first), .given_last(given_last),
                .turn(turn[k]), .rd_en(rd_en[k]), .rd_addr(rd_addrs[(POINTER-1)*k +: POINTER-1]), .rd_data(rd_data),
                .sends(sends[2*k +: 2]), .seqs(seqs[16*k +: 16]), .done(done[k]),
                .h_valid(h_valid[k]), .h_ready(h_ready[k]), .h_data(h_data[8*WIDTH*k +: 8*WIDTH]), .h_keep(h_keep[WIDTH*k +: WIDTH]),
                .h_last(h_last[k]), .h_seq(h_seq[8*k +: 8]), .h_malformed(h_malformed[k]), .h_doomed(h_doomed[k]),
                .waits(waits[k]), .coming(comes[k]), .active(active[k]), .doubt(doubt[k]),
                .ev_crc(ev_crc[k]), .ev_overrun(ev_overrun[k]), .ev_stray(ev_stray[k]), .ev_bad_word(ev_bad_word[k])
            );
        end
    endgenerate

    trunk_state #(.LANES(LANES), .FIRST_EPOCH(FIRST_EPOCH), .SILENCE(SILENCE)) u_state (
        .clk(clk), .rst(rst), .tick(tick[0]), .ack(ack), .life(lives), .node(nodes), .heard(hearing), .give_up(give_up), .renew(renew),
        .up(up), .restart(restart), .epoch(epoch), .peer_life(peer_life), .peer_node(peer_node), .young(young),
        .may_leave(may_leave), .alone(alone)
    );

    // Receive side.
    wire ev_packet, ev_malformed;
    trunk_order #(
        .LANES(LANES), .RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .HEADROOM(HEADROOM), .EARLY(EARLY != 0), .WIDTH(WIDTH)
    ) u_order (
        .clk(clk), .rst(rst), .tick(tick[0]), .up(up), .restart(restart),
        .h_valid(h_valid), .h_ready(h_ready), .h_data(h_data), .h_keep(h_keep), .h_last(h_last), .h_seq(h_seq), .h_malformed(h_malformed),
        .h_doomed(h_doomed), .waits(waits), .active(active), .doubt(doubt), .heard(hearing),
        .expected(expected), .lost(lost), .stop(stop),
        .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_keep(m_keep), .m_last(m_last), .m_sure(m_sure), .m_void(m_void),
        .ev_packet(ev_packet), .ev_malformed(ev_malformed), .ev_dup(ev_dup), .ev_gap(ev_gap)
    );

    // What has arrived is told by one lane, the next one each time.
    localparam AGEW = $clog2(ACK_DELAY + 1);
    reg  [7:0]      told;
    reg  [AGEW-1:0] told_for;
    reg  [LANES-1:0] speaker;       // one bit
    wire [7:0]      news = expected - told;
    wire            late;
    at_least #(.WIDTH(AGEW), .LIMIT(ACK_DELAY)) u_late (.x(told_for), .y(late));
    assign untold = speaker & {LANES{news != 8'd0}};
    assign hurry  = late || news >= `LP_LANE_TOLD;
    always @(posedge clk) begin
        if (telling != 0 || !up) {told, told_for} <= {expected, {AGEW{1'b0}}};
        else if (tick[0] && !late) told_for <= told_for + 1'b1;
        if ((telling & speaker) != 0 || (speaker & hearing) == 0) speaker <= {speaker[LANES-2:0], speaker[LANES-1]};
        if (rst) speaker <= 1;
    end

    // BARRIERs go by the lowest lane that is open, or if none is, that hears the peer. They come by any; of two in the same clock one is
    // lost.
    wire [LANES-1:0] mouths = open != 0 ? open : hearing;
    integer     i;
    reg  [13:0] hear;
    always @* begin
        hear = 14'd0;
        for (i = LANES - 1; i >= 0; i = i - 1)
            if (hears[14*i+13]) hear = hears[14*i +: 14];
    end
    assign mouth    = mouths & (~mouths + 1'b1);
    assign say_take = (takes_word & mouth) != 0;
    assign heard    = BARRIER != 0 ? {{2{hear[13] && up}}, hear[12:0]} : 15'd0;

    // Words of the peer, one lane after the other. One that says less than another did is passed over.
    wire [7:0] base_seq, sent_seq;
    reg  [8*LANES-1:0] said_n;
    reg  [LANES-1:0]   said, said_lost;
    reg  [LW-1:0] at;
    reg  [2:0]  pause;
    reg         heed, heed_lost, ev_bad_ack;
    reg  [7:0]  heed_n;             // the last one heeded
    wire        serve  = said[at] && pause == 3'd0;
    wire [7:0]  n      = said_n[8*at +: 8];
    wire [7:0]  beyond = sent_seq - n, past = n - heed_n;
    wire        good   = serve && !past[7] && !beyond[7] && !restart;
    wire        unused_spans = ^{beyond[6:0], past[6:0]};
    always @(posedge clk) begin
        at <= at == LAST[LW-1:0] ? {LW{1'b0}} : at + 1'b1;
        pause <= serve ? 3'd7 : pause == 3'd0 ? pause : pause - 3'd1;
        if (good)  {heed_n, heed_lost} <= {n, said_lost[at]};
        heed       <= good;
        ev_bad_ack <= serve && !past[7] && beyond[7] && !restart;
        for (i = 0; i < LANES; i = i + 1) begin
            if (serve && at == i[LW-1:0]) said[i] <= 1'b0;
            if (ack[i]) {said[i], said_lost[i], said_n[8*i +: 8]} <= {1'b1, ack_lost[i], ack_n[8*i +: 8]};
        end
        if (rst || restart) begin
            {said, heed, heed_n, ev_bad_ack} <= 0;
            pause <= 3'd0;
        end
        if (rst) at <= 0;
    end

    // Transmit side. The lanes read in turn.
    wire [POINTER-1:0] base, unused_load, unused_load_last, look_last;
    wire [7:0]  load_seq, look_seq;
    wire        unused_loading, unused_loaded, dropping, look, look_done, acked, progress, queued, gap, unused_bad_ack, ev_acked, ev_lost;
    wire        ev_replay, ev_retry;
    reg  [LW-1:0] slot;
    always @(posedge clk) slot <= rst || slot == LAST[LW-1:0] ? {LW{1'b0}} : slot + 1'b1;
    generate
        for (k = 0; k < LANES; k = k + 1) begin : g_turn
            assign turn[k] = slot == k;
        end
    endgenerate
    link_replay #(.REPLAY_BYTES(REPLAY_BYTES), .MAX_PACKET(MAX_PACKET), .WIDTH(WIDTH), .READ(WIDTH)) u_replay (
        .clk(clk), .rst(rst), .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_keep(s_keep), .s_last(s_last), .cancel(cancel),
        .has_room(has_room), .size(size), .takes(takes), .freed_bytes(freed_bytes), .freed_packets(freed_packets),
        .queued(queued), .refused(refused), .admit(admit), .gap(gap),
        .base(base), .base_seq(base_seq), .load(unused_load), .load_last(unused_load_last), .load_seq(load_seq), .loading(unused_loading),
        .loaded(unused_loaded),
        .rd_en(rd_en != 0), .rd_addr(rd_addrs[(POINTER-1)*slot +: POINTER-1]), .rd_data(rd_data),
        .look(look), .look_seq(look_seq), .look_done(look_done), .look_last(look_last),
        .restart(restart), .dropping(dropping), .ack(heed), .ack_n(heed_n), .sent_seq(sent_seq), .acked(acked), .progress(progress),
        .ev_bad_ack(unused_bad_ack), .ev_acked(ev_acked), .ev_lost(ev_lost)
    );
    wire [8*LANES-1:0] done_seqs;
    generate
        for (k = 0; k < LANES; k = k + 1) begin : g_done
            assign done_seqs[8*k +: 8] = seqs[16*k +: 8];
        end
    endgenerate
    trunk_issue #(.LANES(LANES), .POINTER(POINTER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT)) u_issue (
        .clk(clk), .rst(rst), .tick(tick[0]), .up(up), .restart(restart || dropping),
        .base(base), .base_seq(base_seq), .load_seq(load_seq), .look(look), .look_seq(look_seq), .look_done(look_done),
        .look_last(look_last), .acked(acked), .lost(heed_lost), .progress(progress), .sent_seq(sent_seq),
        .ready(lane_takes), .give(give), .seq(given_seq), .first(given_first), .last(given_last),
        .sends(sends), .seqs(seqs), .done(done), .done_seqs(done_seqs), .may_send((open & ~stopped) != 0),
        .give_up(give_up), .ev_replay(ev_replay), .ev_retry(ev_retry)
    );

    // Status and events.
    reg [15:0] first_node;
    always @* begin
        first_node = nodes[15:0];
        for (i = LANES - 1; i >= 0; i = i - 1) if (known[i]) first_node = nodes[16*i +: 16];
    end
    assign peer   = {up || known != 0, !up && (known & ~fits) != 0, up ? peer_node : first_node};
    reg stop_q;
    always @(posedge clk) stop_q <= stop;
    assign status = {epoch, foreign != 0, gap, queued, lost, 1'b0, stop, up && (open & ~stopped) == 0, up};
    wire crc, dup, gaps, overrun, stray, bad;
    pulse_tally #(.N(LANES))     u_crc     (.clk(clk), .rst(rst), .events(ev_crc), .event_out(crc));
    pulse_tally #(.N(LANES))     u_dup     (.clk(clk), .rst(rst), .events(ev_dup), .event_out(dup));
    pulse_tally #(.N(LANES))     u_gap     (.clk(clk), .rst(rst), .events(ev_gap), .event_out(gaps));
    pulse_tally #(.N(LANES))     u_overrun (.clk(clk), .rst(rst), .events(ev_overrun), .event_out(overrun));
    pulse_tally #(.N(LANES))     u_stray   (.clk(clk), .rst(rst), .events(ev_stray), .event_out(stray));
    pulse_tally #(.N(LANES + 1)) u_bad     (.clk(clk), .rst(rst), .events({ev_bad_ack, ev_bad_word}), .event_out(bad));
    assign events[`LP_CNT_RX_PACKETS]   = ev_packet;
    assign events[`LP_CNT_TX_PACKETS]   = ev_acked;
    assign events[`LP_CNT_RX_CRC]       = crc;
    assign events[`LP_CNT_RX_DUP]       = dup;
    assign events[`LP_CNT_RX_GAP]       = gaps;
    assign events[`LP_CNT_RX_OVERRUN]   = overrun;
    assign events[`LP_CNT_RX_STRAY]     = stray;
    assign events[`LP_CNT_BAD_WORD]     = bad;
    assign events[`LP_CNT_REPLAYS]      = ev_replay;
    assign events[`LP_CNT_RETRIES]      = ev_retry;
    assign events[`LP_CNT_RESTARTS]     = restart;
    assign events[`LP_CNT_LOST_PACKETS] = ev_lost;
    assign events[`LP_CNT_BAD_PACKET]   = ev_malformed;
    assign events[`LP_CNT_DENIED]       = 1'b0;
    assign events[`LP_CNT_STOPS]        = stop && !stop_q;
    assign events[`LP_CNT_NO_SPACE]     = 1'b0;
endmodule
`resetall
