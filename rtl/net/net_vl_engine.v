`default_nettype none
// Keeps the state of all virtual links of a node in a table, and carries out one event after the other on it.
//
// Contract:
//   look, hear, there, r_*, looked, opened, ours, takes, key, heard, delivers: the receiver, net_vl_receive. r_takes at `hear` is what
//   `takes` said. A packet that is r_host is taken while m_room, one that is r_message while the host has fewer than WINDOW of the link.
//   r_halts: what has come is a trap. A link whose packet is refused says STOP until there is room, or the host has freed MESSAGEs.
//   put with p_vl, p_slot, p_size: a packet to be sent is at a slot, until put_done (pulse): put_ok: it is the link's, else the slot is the
//   caller's still; one of a context (p_mine) is not when the link's life is not p_life. free_*: slots that are nobody's. begins: one of
//   p_total bytes comes, until `put` or it is taken back.
//   c_en with c_vl, c_reg, c_resume, until c_done (pulse): the host's. c_write writes c_wdata to a register of the link, else c_value is
//   what it holds; PEER, NUMBER and KEY stay while it is open. c_resume: the trap has been served; c_ok: there was one. c_space: c_wdata
//   says how many MESSAGEs the host has freed since the link was opened. c_wake: there is a receive for it.
//   x_*: as of ni_msg_receive; x_refused (pulse): a MESSAGE has been refused for want of a receive. p_mine, p_final, done, back*,
//   freed_one: the slots of contexts, as of net_vl_context; done_closed: the link has closed. frees (pulse): slot done_slot is freed,
//   and is nobody's, unless it is `done`, from the next clock on.
//   send_*: the sender, net_vl_send, while send_idle. A packet that comes is sent at once if the sender has nothing else to do, its link is
//   up and has sent what it has. It counts as sent when it is the link's. send_cut, with `frees`: of a packet acknowledged too early not
//   all has gone, nor what its ROUTE said; the link says that again.
//   told (pulse, behind told_ready): told_vl has freed packets, told_freed since reset, or is open, closed or up, as told_status says, or
//   the host has closed it.
//   A link closes when the retries have run out, or the host says so; its packets are freed. What comes for one that is not open
//   is not ours.
//   tick (pulse): the time of TIME bits moves on; the table is looked through from then on, a link each `pace`. What has come is
//   acknowledged within ACK_DELAY paces, less than 128.
//   `put`, and a link that is to send, wait for few events, of whatever links: see net_vl_next.
//
// An event takes five clocks, and two for each packet that is freed. For the first 2^VIRTUAL or SLOTS clocks it clears the table.
// Source: doc/protocol.md, "Virtual links". Proven: net_vl_engine.formal.v.
module net_vl_engine #(
    parameter VIRTUAL     = 4,
    parameter SLOTS       = 64,
    parameter WINDOW      = 32,
    parameter RETRY       = 4,
    parameter RETRY_LIMIT = 8,
    parameter TURN        = 1,
    parameter ACK_DELAY   = 32,
    parameter CONTEXTS    = 0,
    parameter CW          = CONTEXTS != 0 ? CONTEXTS : 1,
    parameter SW          = $clog2(SLOTS)
) (
    input  wire               clk,
    input  wire               rst,

    input  wire               look,
    input  wire               there,
    output wire               looked,
    output wire               opened,
    output wire               ours,
    output wire               takes,
    output wire [31:0]        key,
    input  wire               hear,
    output wire               heard,
    output wire               delivers,
    input  wire [15:0]        r_src,
    input  wire [VIRTUAL-1:0] r_vl,
    input  wire [7:0]         r_next,
    input  wire [7:0]         r_seq,
    input  wire               r_stop,
    input  wire               r_lost,
    input  wire               r_packet,
    input  wire               r_fits,
    input  wire               r_good,
    input  wire               r_host,
    input  wire               r_message,
    input  wire               r_halts,
    input  wire               m_room,

    input  wire               put,
    input  wire [VIRTUAL-1:0] p_vl,
    input  wire [SW-1:0]      p_slot,
    input  wire [15:0]        p_size,
    input  wire               begins,
    input  wire [15:0]        p_total,
    output wire               put_done,
    output wire               put_ok,
    output wire               free_valid,
    input  wire               free_ready,
    output wire [SW-1:0]      free_slot,

    input  wire               c_en,
    input  wire               c_write,
    input  wire               c_resume,
    input  wire               c_space,
    input  wire               c_wake,
    input  wire [VIRTUAL-1:0] c_vl,
    input  wire [2:0]         c_reg,
    input  wire [31:0]        c_wdata,
    output wire               c_done,
    output wire               c_ok,
    output wire [31:0]        c_value,

    input  wire               send_idle,
    output wire               send_start,
    output wire [15:0]        send_dest,
    output wire [1:0]         send_class,
    output wire [15:0]        send_vl,
    output wire [7:0]         send_state,
    output wire [7:0]         send_next,
    output wire [7:0]         send_seq,
    output wire [31:0]        send_key,
    output wire [15:0]        send_size,
    output wire [SW-1:0]      send_slot,
    output wire               send_early,
    output wire               send_whole,
    output wire               send_undo,
    input  wire               send_cut,

    input  wire               tick,
    input  wire               pace,
    input  wire               told_ready,
    output wire               told,
    output wire [VIRTUAL-1:0] told_vl,
    output wire [7:0]         told_freed,
    output wire [15:0]        told_status,
    input  wire               p_mine,
    input  wire               p_final,
    input  wire [3:0]         p_life,
    output wire               x_look,
    output wire [VIRTUAL-1:0] x_vl,
    output wire [CW-1:0]      x_context,
    output wire [3:0]         x_life,
    input  wire               x_credit,
    input  wire               x_blind,
    output wire               x_refused,
    output wire               done,
    output wire               frees,
    output wire [SW-1:0]      done_slot,
    output wire               done_closed,
    input  wire               back,
    input  wire [SW-1:0]      back_slot,
    output wire               back_ready,
    output wire               freed_one,
    output wire               ev_replay,
    output wire               ev_drop
);
`include "linkproto.vh"
    localparam VLS = 1 << VIRTUAL, TIME = $clog2(8 * RETRY + 1) + 1, STATE = 2 * 24 + 3 * 7 + 9 + 2 * TIME;
    localparam REGS = 122, ENTRY = 8 + REGS + 3 * SW + STATE;
    localparam CLEARS = VIRTUAL > SW ? VIRTUAL : SW;
    localparam integer LONGER = VLS > SLOTS ? VLS : SLOTS;
    localparam [CLEARS:0] CLEAR_ALL = LONGER[CLEARS:0], ALL_VLS = VLS[CLEARS:0], ALL_SLOTS = SLOTS[CLEARS:0];

    // The table: what the host has said, the list of slots, and the state. `listed`, `parked`, `due`, `timed`: the link waits for its turn,
    // for room, to be told, to acknowledge, open or not.
    reg               listed, parked, due, timed, open, up, gave_up, trapped;
    reg  [SW-1:0]     first, last, send;        // slots of the oldest packet, the latest, and the one to send next
    reg  [STATE-1:0]  state;

    localparam [2:0] CLEAR = 3'd0, IDLE = 3'd1, READ = 3'd2, SLOT = 3'd3, WALK = 3'd4, APPLY = 3'd5, WRITE = 3'd6;
    localparam [3:0] STATUS = `LP_VL_STATUS, CONTEXT = `LP_VL_CONTEXT,
        LOOK = 4'd0, HEAR = 4'd8, PUT = 4'd2, HOST = 4'd3, TALK = 4'd4, TIMES = 4'd5, WAKE = 4'd6, TELL = 4'd7,
        SETTLE = 4'd1, AHEAD = 4'd10;               // events, as net_vl_next calls them
    reg  [2:0]         at;
    reg  [3:0]         event_is;
    reg  [CLEARS:0]    cleared;
    reg  [VIRTUAL-1:0] vl;
    reg  [6:0]         walk;                    // slots that are to be freed
    reg                acked, counts, dies;     // of a ROUTE, the first part is done, and its number counts; the link closes
    reg                leads, leading;          // the packet that comes may be sent ahead; it is
    reg                stale, lost_lead;        // its link's state may have changed since; it has been opened anew
    reg  [VIRTUAL-1:0] lead_vl;
    reg                changed, parks, was_cut; // was_cut: its ROUTE was, with what that said
    reg                takes_it, no_room, no_credit;    // of the ROUTE that comes
    reg                spoiled;                 // its link has been opened since it was looked up
    reg  [TIME-1:0]    now;

    wire               idle = at == IDLE;
    wire               chosen;
    wire [3:0]         choice;
    wire [VIRTUAL-1:0] chosen_vl;

    // The rules, at the state as it was read.
    wire apply = at == APPLY && !dies;
    wire takes_route = open && !spoiled && r_good;
    wire ack   = apply && event_is == HEAR && !acked && takes_route && there;
    wire rest  = apply && event_is == HEAR && acked;
    wire says, packet, repeats, has_room, stops, lost, own_stop, peer_stop, unsaid, gives_up, now_counts, unsent, again;
    wire [23:0] seq, base, expect_next;
    wire [6:0]  freed, count, next;
    wire [STATE-1:0] after;
    wire sets    = apply && event_is == HOST && c_write && {1'b0, c_reg} == STATUS;
    wire closes  = sets && !c_wdata[`LP_VL_STATUS_OPEN_BIT];
    wire opens   = sets && !closes && !open;
    wire greets  = sets && !closes && open && c_wdata[`LP_VL_STATUS_UP_BIT];
    wire serves  = apply && event_is == HOST && c_resume && trapped;
    wire returns = apply && event_is == HOST && c_space;
    wire wakens  = apply && event_is == HOST && c_wake;
    wire resumes = serves || ((returns || wakens) && !trapped && !parked) || (apply && event_is == WAKE && !trapped);
    wire [7:0]  with_host;
    wire [31:0] own_key;
    wire for_context = r_message && x_context != {CW{1'b0}};
    wire credit  = for_context ? x_credit && !x_blind : !r_message || with_host < WINDOW[7:0];
    wire refuses = no_room || (no_credit && !credit && !(for_context && x_blind));
    wire talk    = apply && event_is == TALK && open && up && says;
    wire all_sent = next == count;
    wire starts  = apply && event_is == AHEAD && leads && begins && open && up && all_sent && has_room && !peer_stop;
    wire follows = leading && put_ok && all_sent && !lost_lead;     // it becomes the link's, and then counts as sent
    wire ends    = apply && event_is == PUT && acked && packet;
    wire turn    = talk || ends;
    net_vl_rules #(
        .WINDOW(WINDOW), .TIME(TIME), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT), .TURN(TURN)
    ) u_rules (
        .state(state), .now(now), .ack(ack), .hear(rest), .turn(turn), .stale(ends && stale), .tick(apply && event_is == TIMES && open),
        .settle(apply && event_is == SETTLE && open), .put(put_ok), .resume(resumes && open),
        .urge(greets || (rest && (!up || was_cut))),
        .r_next(r_next), .r_seq(r_seq), .r_lost(r_lost), .r_stop(r_stop), .r_packet(r_packet), .r_fits(r_fits), .r_takes(takes_it),
        .r_halts(takes_it ? r_halts : refuses), .r_counts(counts), .r_again(again), .after(after),
        .counts(now_counts), .unsent(unsent), .freed(freed), .delivers(delivers), .stops(stops), .gives_up(gives_up), .replay(ev_replay),
        .says(says), .packet(packet), .number(seq), .base(base), .expect_next(expect_next), .count(count), .next(next), .repeats(repeats),
        .has_room(has_room), .unsaid(unsaid), .lost(lost), .own_stop(own_stop), .peer_stop(peer_stop)
    );
    assign ev_drop   = unsent || (rest && r_packet && !delivers) || (heard && !takes_route && up);

    // What is said, and what was.
    assign looked = apply && event_is == LOOK && there;
    assign {opened, ours} = {open, r_src == send_dest};
    wire   wanted = r_packet && r_seq == expect_next[7:0] && !own_stop;
    wire   room   = !r_host || m_room || for_context;
    assign x_refused = rest && stops && !takes_it && for_context;
    assign takes  = wanted && room && credit;
    assign heard  = apply && event_is == HEAR && (acked || (!takes_route && there));
    assign put_done   = apply && event_is == PUT && !acked;
    assign put_ok     = put_done && open && has_room && (!p_mine || p_life == x_life);
    assign {send_start, send_early, send_whole} = {talk || starts, starts, ends};
    assign send_undo  = (leading && (put_done ? !follows : !begins && !put)) || (apply && event_is == PUT && acked && !packet);
    wire   with_packet = packet || starts;
    assign send_state = {lost ? `LP_KIND_LOST : `LP_KIND_ACK, own_stop, 4'd0, with_packet};
    assign send_next  = expect_next[7:0];
    assign send_seq   = with_packet ? seq[7:0] : 8'd0;
    assign send_key   = own_key ^ {with_packet ? seq[23:8] : 16'd0, expect_next[23:8]};
    assign send_slot  = starts ? p_slot : send;

    // The host's.
    assign {c_done, c_ok} = {apply && event_is == HOST, !c_resume || trapped};
    wire [15:0]      status = {8'd0, open, gave_up, count != 7'd0, lost, trapped, own_stop, peer_stop, up};
    wire [REGS-1:0]  regs;
    wire [ENTRY-1:0] entry;
    wire             writes_reg = c_done && c_write && !open;
    net_vl_regs #(.CW(CW), .REGS(REGS)) u_regs (
        .clk(clk), .load(at == READ), .was(entry[ENTRY-9 -: REGS]), .regs(regs),
        .wr_en(writes_reg), .number_of(c_reg), .wdata(c_wdata), .opens(opens), .gets(rest && delivers && r_message && !for_context),
        .returns(returns), .replay(ev_replay), .drop(ev_drop), .base(base), .expect_next(expect_next), .status(status), .count(count),
        .of_context(x_context), .life(x_life), .r_packet(r_packet), .r_seq(r_seq), .r_next(r_next), .key(key),
        .peer(send_dest), .class_of(send_class), .number(send_vl), .own_key(own_key),
        .freed(told_freed), .with_host(with_host), .value(c_value)
    );

`ifdef FORMAL
    wire [SW*SLOTS+16*SLOTS+SLOTS+SW-1:0] f_slots;  // what proofs look at
    wire [4*VLS-1:0]                      f_in;
    wire [ENTRY*VLS-1:0]                  f_words;
`endif
    wire [15:0]     size;
    wire [SW-1:0]   link;
    wire            sent_again;
    wire [TIME-1:0] sent_at;
    wire [TIME-1:0] ago = now - sent_at;
    wire            holds;                      // a slot that is freed is kept for a completion
    wire            clears_slot = at == CLEAR && cleared < ALL_SLOTS;
    assign again = sent_again && ago < TURN[TIME-1:0];
    net_vl_slots #(.SLOTS(SLOTS), .TIME(TIME)) u_slots (
        .clk(clk), .rst(rst), .look(at == SLOT), .at(event_is == TALK ? send : first), .link(link), .size(size),
        .sent_again(sent_again), .sent_at(sent_at), .chain(put_ok && count != 7'd0), .last(last), .keep(put_ok), .slot(p_slot),
        .length(p_size), .sent(turn && packet), .sent_slot(send), .repeats(repeats), .now(now),
        .give(clears_slot || (frees && !holds) || (back && back_ready)),
        .given(at == WALK ? first : clears_slot ? cleared[SW-1:0] : back_slot),
        .free_valid(free_valid), .free_ready(free_ready), .free_slot(free_slot)
`ifdef FORMAL
        , .f_all(f_slots)
`endif
    );
    assign send_size = starts ? p_total : packet ? size : 16'd0;

    // Each link waits once in each queue.
    wire to_turn   = at == WRITE && open && up && says && !listed;
    wire to_tell   = at == WRITE && changed && !due;
    wire to_wake   = at == WRITE && parks && !parked;
    wire to_settle = at == WRITE && open && unsaid && !says && !timed;
    net_vl_next #(.VIRTUAL(VIRTUAL), .ACK_DELAY(ACK_DELAY)) u_next (
        .clk(clk), .rst(rst), .tick(tick), .pace(pace), .idle(idle), .chosen(chosen), .choice(choice), .vl(chosen_vl),
        .look(look), .hear(hear), .r_vl(r_vl), .put(put), .begins(begins && !leading), .p_vl(p_vl), .c_en(c_en), .c_vl(c_vl),
        .send_idle(send_idle), .told_ready(told_ready), .m_room(m_room),
        .to_turn(to_turn), .to_tell(to_tell), .to_wake(to_wake), .to_settle(to_settle), .of_vl(vl)
`ifdef FORMAL
        , .f_in(f_in)
`endif
    );

    wire writes = at == WRITE;
    wire clears_vl = at == CLEAR && cleared < ALL_VLS;
    wire [SW-1:0] send_now = next == 7'd0 ? first : send;
    wire [ENTRY-1:0] new_entry = {listed || to_turn, parked || to_wake, due || to_tell, timed || to_settle, open, up, gave_up, trapped,
        regs, first, last, send_now, state};
    ram_sdp #(.WIDTH(ENTRY), .DEPTH(VLS)) u_table (
        .clk(clk), .wr_en(writes || clears_vl), .wr_addr(writes ? vl : cleared[VIRTUAL-1:0]),
        .wr_data(writes ? new_entry : {ENTRY{1'b0}}),
        .rd_en(idle), .rd_addr(chosen_vl), .rd_data(entry)
`ifdef FORMAL
        , .f_words(f_words)
`endif
    );

    // Contexts' share in links and slots.
    wire freed_mine;
    assign {x_look, x_vl, frees, done_slot, done_closed} = {at == SLOT, vl, at == WALK, first, dies};
    assign done = frees && holds;
    assign back_ready = at != WALK && at != CLEAR;
    assign freed_one  = freed_mine || (back && back_ready);
    generate
        if (CONTEXTS != 0) begin : g_contexts
            net_vl_context #(.CONTEXTS(CONTEXTS), .VIRTUAL(VIRTUAL), .SLOTS(SLOTS)) u_context (
                .clk(clk), .rd_en(idle), .rd_vl(chosen_vl), .sets(writes_reg && {1'b0, c_reg} == CONTEXT),
                .set_to(c_wdata[7:0]), .opens(opens), .wr_en(writes || clears_vl), .clear(!writes),
                .wr_vl(writes ? vl : cleared[VIRTUAL-1:0]), .ctx(x_context), .life(x_life),
                .look(at == SLOT), .at(first), .keep(put_ok), .slot(p_slot), .k_mine(p_mine), .k_final(p_final),
                .walk(frees), .holds(holds), .freed(freed_mine)
            );
        end else begin : g_no_contexts
            assign {x_context, x_life, holds, freed_mine} = {CW + 6{1'b0}};
            wire unused_contexts = ^{p_final, x_credit, x_blind, back, back_slot};
        end
    endgenerate

    assign {told, told_vl, told_status} = {apply && event_is == TELL, vl, status};
    always @(posedge clk) begin
        case (at)
            CLEAR: begin
                cleared <= cleared + {{CLEARS{1'b0}}, 1'b1};
                if (cleared == CLEAR_ALL - {{CLEARS{1'b0}}, 1'b1}) at <= IDLE;
            end
            IDLE: begin
                {vl, event_is, acked, dies, changed, parks, was_cut, walk} <= {chosen_vl, choice, 12'd0};
                if (chosen) at <= READ;
                leads <= 1'b1;
            end
            READ: begin
                {listed, parked, due, timed, open, up, gave_up, trapped} <= entry[ENTRY-1 -: 8];
                {first, last, send, state} <= entry[3*SW+STATE-1:0];
                at <= SLOT;
            end
            SLOT: at <= walk != 7'd0 ? WALK : APPLY;
            WALK: begin
                first <= link;
                walk  <= walk - 7'd1;
                if (send_cut) was_cut <= 1'b1;
                at    <= SLOT;
            end
            APPLY: begin
                at <= event_is == LOOK || event_is == AHEAD || (event_is == HEAR && !acked && !there) ? IDLE : WRITE;
                state <= after;
                if (ack) begin
                    {acked, counts, walk} <= {1'b1, now_counts, freed};
                    changed <= freed != 7'd0;
                    at <= SLOT;
                end
                if (starts) {leading, lead_vl, stale, lost_lead} <= {1'b1, vl, 2'b00};
                if (put_done) leading <= 1'b0;
                if (follows) {acked, at} <= {1'b1, SLOT};
                if (opens && vl == lead_vl) lost_lead <= 1'b1;
                if (looked) {takes_it, no_room, no_credit, spoiled} <= {takes, wanted && !room, wanted && room && !credit, 1'b0};
                if (put_ok) begin
                    last <= p_slot;
                    if (count == 7'd0) first <= p_slot;
                    if (next == count) send <= p_slot;
                end
                if (event_is == TALK)   listed <= 1'b0;
                if (event_is == WAKE)   parked <= 1'b0;
                if (event_is == TELL)   due    <= 1'b0;
                if (event_is == SETTLE) timed  <= 1'b0;
                if (rest && stops) {trapped, parks} <= {takes_it, no_room};
                if (serves) trapped <= 1'b0;
                if (turn && packet) send <= link;
                if (opens) begin
                    {open, up, gave_up, changed} <= {1'b1, c_wdata[`LP_VL_STATUS_UP_BIT], 2'b01};
                    state <= {STATE{1'b0}};
                end
                if (greets || rest) begin
                    up <= 1'b1;
                    if (!up) changed <= 1'b1;
                end
                if (opens && vl == r_vl) spoiled <= 1'b1;
                if (closes || gives_up) begin
                    {dies, changed, walk, at} <= {2'b11, count, SLOT};
                    state <= {base + {17'd0, count}, expect_next, {STATE - 48{1'b0}}};
                    {open, up, trapped, gave_up} <= {3'b000, gives_up};
                end
            end
            default: begin
                at <= IDLE;
                if (vl == lead_vl) stale <= 1'b1;
            end
        endcase
        if (!begins) leads <= 1'b0;
        if (!begins && !put) leading <= 1'b0;
        if (tick) now <= now + {{TIME-1{1'b0}}, 1'b1};
        if (rst) begin
            at <= CLEAR;
            cleared <= {CLEARS + 1{1'b0}};
            now <= {TIME{1'b0}};
            {spoiled, leading} <= 2'd0;
        end
    end
`ifdef FORMAL
`include "net_vl_engine.formal.v"
`endif
endmodule
`resetall
