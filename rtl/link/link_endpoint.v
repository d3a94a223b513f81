`default_nettype none
// One end of a link: packets in and out on one side, symbols on the other, with every packet delivered once and in order.
//
// Contract:
//   s_* / m_*: packets, in beats of WIDTH bytes, as of link_replay and link_rx, 3 .. MAX_PACKET bytes, whose length field is right (on s_*
//   the caller's duty, on m_* guaranteed).
//   tx_sym / tx_ready, rx_sym / rx_valid: symbols to and from the PHY; `tick`: one clock a symbol time.
//   EARLY: packets show on m_* while they come, as of link_rx's m_sure and m_void; and as of link_mux, but for PORT 0.
//   SPACED, 1: tx_ready is never high two clocks in a row with a symbol to take, which saves the buffer behind the framer; and without
//   EARLY a byte comes on m_* in two clocks at most, which saves one there.
//   ROUTES, 0 or 1: this end takes ROUTE packets, and a MAX_PACKET is one with the longest packet inside.
//   soon: as of link_mux. coming: as of link_rx.
//   `events`: one-clock pulses in the order of the counters of linkproto (LP_CNT_*), of those that a link can see.
//   cancel, has_room, size, takes, freed_*, refused, admit: link_replay's; status says what it says with them.
//   say, say_take, BARRIER: as of link_mux. heard: {first, valid, group, value} of BARRIERs that come, as of net_barrier; valid while the
//   link is up, first with other words too.
//   rst is high for two clocks or more, as link_replay and link_framer want it.
//   peer: {known, refused, node id}.
//   node, nonce: who this end is, with PORT; renew (pulse): that has changed. anonymous: there is no nonce yet, so the link stays down; not
//   at the host's port, PORT 0, which has none.
//   Latency of an 8-byte packet, s_last to m_valid of the other end, PHYs of two registers each: see doc/verification.md.
//
// Source: doc/protocol.md.
`include "linkproto.vh"
module link_endpoint #(
    parameter REPLAY_BYTES = 4096,
    parameter RX_BYTES     = 4096,
    parameter MAX_PACKET   = 2056,
    parameter HEADROOM     = 256,
    parameter ACK_DELAY    = 512,
    parameter WORD_TIMER   = 4096,
    parameter RETRY        = 16384,
    parameter RETRY_LIMIT  = 8,
    parameter FIRST_EPOCH  = 1,
    parameter PORT         = 1,
    parameter SILENCE      = `LP_SILENT_TIMERS * WORD_TIMER,
    parameter EARLY        = 0,
    parameter SPACED       = 0,
    parameter ROUTES       = 0,
    parameter BARRIER      = 0,
    parameter WIDTH        = 1
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

    input  wire        tick,
    output wire [8:0]  tx_sym,
    input  wire        tx_ready,
    input  wire [8:0]  rx_sym,
    input  wire        rx_valid,

    output wire [15:0] status,
    output wire [17:0] peer,
    output wire [15:0] events
);
    localparam PAGE_BYTES = MAX_PACKET - `LP_PACKET_EXTRA - (ROUTES != 0 ? `LP_ROUTE_EXTRA : 0);

    // This end, and whom it hears.
    wire        up, restart, peer_stop, ack, answer, give_up, known, fits, other, init_bad;
    wire [7:0]  epoch;
    wire [31:0] own  = nonce ^ {epoch, 24'd0} ^ 32'd1 * PORT << `LP_LIFE_PORT_LSB;
    wire [31:0] life;           // of the peer
    wire [31:0] key;            // of what it sends
    wire [31:0] both = own ^ {life[15:0], life[31:16]};
    generate
        // A clock late: nothing is sealed so soon after a change. At the host's port all of `own` but the epoch stands.
        if (PORT == 0) begin : g_host
            reg [7:0] key_q;
            always @(posedge clk) key_q <= both[31:24];
            assign key = {key_q, both[23:0]};
        end else begin : g_key
            reg [31:0] key_q;
            always @(posedge clk) key_q <= both;
            assign key = key_q;
        end
    endgenerate
    wire [31:0] key_out = {key[15:0], key[31:16]};
    wire [15:0] peer_node;
    assign peer = {known, known && !fits, peer_node};

    // Receive side.
    wire       sop, eop, aborted, data, err, word, init, word_bad, word_lost, word_stop, i_en;
    wire [7:0] byte_q, word_n, i_byte;
    wire [3:0] i_at;
    wire       barrier;
    wire [4:0] unused_group;
    assign     heard = BARRIER != 0 ? {i_en, barrier && up, i_byte[4:0], word_n} : 15'd0;
    link_split #(.BARRIER(BARRIER)) u_split (
        .clk(clk), .rst(rst), .rx_valid(rx_valid), .rx_sym(rx_sym), .key(key), .restart(restart || renew),
        .sop(sop), .eop(eop), .aborted(aborted), .data(data), .err(err), .byte_q(byte_q),
        .word(word), .init(init), .word_bad(word_bad), .word_lost(word_lost), .word_stop(word_stop), .word_n(word_n),
        .barrier(barrier), .word_group(unused_group),
        .i_en(i_en), .i_at(i_at), .i_byte(i_byte), .init_bad(init_bad)
    );
    link_peer #(.PAGE_BYTES(PAGE_BYTES), .HOST(PORT == 0 ? 1 : 0), .ROUTES(ROUTES)) u_peer (
        .clk(clk), .load(!known), .byte_en(i_en), .at(i_at), .byte_q(i_byte),
        .life(life), .node(peer_node), .fits(fits), .other(other), .bad(init_bad)
    );
    link_state #(.FIRST_EPOCH(FIRST_EPOCH), .SILENCE(SILENCE)) u_state (
        .clk(clk), .rst(rst), .tick(tick),
        .word(word), .init(init), .word_stop(word_stop), .other(other), .fits(fits), .give_up(give_up),
        .renew(renew), .anonymous(anonymous),
        .known(known), .up(up), .restart(restart), .epoch(epoch), .peer_stop(peer_stop), .ack(ack), .answer(answer)
    );

    wire [7:0] expected;
    wire       lost, stop;
    wire       ev_packet, ev_crc, ev_dup, ev_gap, ev_overrun, ev_stray, ev_malformed;
    link_rx #(.RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .HEADROOM(HEADROOM), .EARLY(EARLY), .SPACED(EARLY == 0 ? SPACED : 0),
        .WIDTH(WIDTH)) u_rx (
        .clk(clk), .rst(rst), .sop(sop), .eop(eop), .aborted(aborted), .data(data), .err(err), .byte_q(byte_q),
        .up(up), .restart(restart), .key(key), .expected(expected), .lost(lost), .stop(stop), .coming(coming),
        .ev_packet(ev_packet), .ev_crc(ev_crc), .ev_dup(ev_dup), .ev_gap(ev_gap), .ev_overrun(ev_overrun),
        .ev_stray(ev_stray), .ev_malformed(ev_malformed),
        .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_keep(m_keep), .m_last(m_last), .m_sure(m_sure),
        .m_void(m_void)
    );

    // Transmit side.
    localparam POINTER = $clog2(REPLAY_BYTES) + 1;
    wire [POINTER-1:0] base, load, load_last, look_last;
    wire        rd_en;
    wire [POINTER-2:0] rd_addr;
    wire [7:0]  base_seq, load_seq, sent_seq, look_seq, rd_data;
    wire        loading, loaded, dropping, look, look_done, acked, progress, queued, gap, ev_bad_ack, ev_acked, ev_lost;
    link_replay #(.REPLAY_BYTES(REPLAY_BYTES), .MAX_PACKET(MAX_PACKET), .WIDTH(WIDTH)) u_replay (
        .clk(clk), .rst(rst), .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_keep(s_keep), .s_last(s_last), .cancel(cancel),
        .has_room(has_room), .size(size), .takes(takes), .freed_bytes(freed_bytes), .freed_packets(freed_packets),
        .queued(queued), .refused(refused), .admit(admit), .gap(gap),
        .base(base), .base_seq(base_seq), .load(load), .load_last(load_last), .load_seq(load_seq), .loading(loading), .loaded(loaded),
        .rd_en(rd_en), .rd_addr(rd_addr), .rd_data(rd_data),
        .look(look), .look_seq(look_seq), .look_done(look_done), .look_last(look_last),
        .restart(restart), .dropping(dropping), .ack(ack), .ack_n(word_n), .sent_seq(sent_seq), .acked(acked), .progress(progress),
        .ev_bad_ack(ev_bad_ack), .ev_acked(ev_acked), .ev_lost(ev_lost)
    );

    reg ack_lost_q;
    always @(posedge clk) if (ack) ack_lost_q <= word_lost;

    wire       f_valid, f_ready, ev_replay, ev_retry;
    wire [8:0] f_sym;
    link_framer #(.POINTER(POINTER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT)) u_framer (
        .clk(clk), .rst(rst), .tick(tick), .up(up), .peer_stop(peer_stop), .restart(restart || dropping), .key(key_out),
        .base(base), .base_seq(base_seq), .load(load), .load_last(load_last), .load_seq(load_seq), .loading(loading), .loaded(loaded),
        .cancel(cancel),
        .rd_en(rd_en), .rd_addr(rd_addr), .rd_data(rd_data),
        .look(look), .look_seq(look_seq), .look_done(look_done), .look_last(look_last),
        .acked(acked), .lost(ack_lost_q), .progress(progress), .sent_seq(sent_seq), .give_up(give_up),
        .f_valid(f_valid), .f_sym(f_sym), .f_take(f_ready), .ev_replay(ev_replay), .ev_retry(ev_retry)
    );

    // Between the two, so that what the multiplexer takes does not decide in the same clock what the framer reads.
    wire       p_valid, p_take;
    wire [8:0] p_sym;
    generate
        if (SPACED != 0) begin : g_taken        // nothing is taken in the next clock
            reg taken;
            always @(posedge clk) taken <= p_take;
            assign {f_ready, p_valid, p_sym} = {taken, f_valid, f_sym};
`ifdef VERILATOR
            always @(posedge clk) if (!rst) assert (!(taken && p_take));
`endif
        end else begin : g_pass
            pass_buffer #(.WIDTH(9)) u_pass (
                .clk(clk), .rst(rst || restart || dropping), .s_valid(f_valid), .s_ready(f_ready), .s_data(f_sym),
                .m_valid(p_valid), .m_ready(p_take), .m_data(p_sym)
            );
        end
    endgenerate

    wire unused_telling;
    link_mux #(
        .PAGE_BYTES(PAGE_BYTES), .ROUTES(ROUTES), .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .EARLY(PORT == 0 ? 0 : EARLY),
        .BARRIER(BARRIER)
    ) u_mux (
        .clk(clk), .rst(rst), .tick(tick), .up(up), .own(own), .node(node), .known(known && fits && !anonymous), .key(key_out),
        .expected(expected), .lost(lost), .stop(stop), .answer(answer || ev_dup || restart || renew), .soon(soon), .peer_stop(peer_stop),
        .untold(1'b0), .hurry(1'b0), .telling(unused_telling), .say(say), .say_take(say_take),
        .f_valid(p_valid), .f_sym(p_sym), .f_take(p_take), .tx_sym(tx_sym), .tx_ready(tx_ready)
    );

    reg       stop_q;
    reg [2:0] word_bad_q;       // behind what the word before may have caused, so that both count
    always @(posedge clk) begin
        stop_q     <= stop;
        word_bad_q <= {word_bad_q[1:0], word_bad};
    end

    assign status = {epoch, 1'b0, gap, queued, lost, 1'b0, stop, peer_stop, up};
    assign events[`LP_CNT_RX_PACKETS]   = ev_packet;
    assign events[`LP_CNT_TX_PACKETS]   = ev_acked;
    assign events[`LP_CNT_RX_CRC]       = ev_crc;
    assign events[`LP_CNT_RX_DUP]       = ev_dup;
    assign events[`LP_CNT_RX_GAP]       = ev_gap;
    assign events[`LP_CNT_RX_OVERRUN]   = ev_overrun;
    assign events[`LP_CNT_RX_STRAY]     = ev_stray;
    assign events[`LP_CNT_BAD_WORD]     = (word_bad_q[2] && up) || ev_bad_ack;
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
