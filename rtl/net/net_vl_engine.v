`default_nettype none
// Keeps the state of all virtual links of a node in a table, and carries out one event after the other on it.
//
// Contract:
//   look, hear, r_*, looked, ours, takes, key, heard, delivers: the receiver, net_vl_receive. r_takes at `hear` is what `takes`
//   said. m_room: a
//   packet that comes now is taken; r_halts: that which has come stops its end.
//   put with p_vl, p_slot, p_size: a packet to be sent is at a slot, until put_done (pulse): put_ok: it is the link's, else the
//   slot is the
//   caller's still. free_*: slots that are nobody's.
//   c_en with c_vl, c_reg, c_resume, until c_done (pulse): the host's. c_write writes c_wdata to a register of the link, else
//   c_value is what
//   it holds; PEER, NUMBER and KEY stay while it is open. c_resume: what stopped the end does so no more; c_ok: it was stopped.
//   send_*: the sender, net_vl_send, while send_idle.
//   told (pulse): told_vl has packets less, told_base freed since it was opened, or its told_status is another.
//   A link closes when the retries have run out, or the host says so; its packets are freed. What comes for one that is not open
//   is not ours.
//   tick (pulse): the time of TIME bits moves on; the table is looked through from then on, a link each `pace`.
//
// An event takes five clocks, and two for each packet that is freed. For the first 2^VIRTUAL or SLOTS clocks it clears the table.
// Source: doc/protocol.md, "Virtual links".
module net_vl_engine #(
    parameter VIRTUAL     = 4,
    parameter SLOTS       = 64,
    parameter WINDOW      = 32,
    parameter RETRY       = 4,
    parameter RETRY_LIMIT = 8,
    parameter TURN        = 1,
    parameter ACK_DELAY   = 1,
    parameter SW          = $clog2(SLOTS)
) (
    input  wire               clk,
    input  wire               rst,

    input  wire               look,
    output wire               looked,
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
    input  wire               r_halts,
    input  wire               m_room,

    input  wire               put,
    input  wire [VIRTUAL-1:0] p_vl,
    input  wire [SW-1:0]      p_slot,
    input  wire [15:0]        p_size,
    output wire               put_done,
    output wire               put_ok,
    output wire               free_valid,
    input  wire               free_ready,
    output wire [SW-1:0]      free_slot,

    input  wire               c_en,
    input  wire               c_write,
    input  wire               c_resume,
    input  wire [VIRTUAL-1:0] c_vl,
    input  wire [2:0]         c_reg,
    input  wire [31:0]        c_wdata,
    output wire               c_done,
    output wire               c_ok,
    output reg  [31:0]        c_value,

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

    input  wire               tick,
    input  wire               pace,
    output wire               told,
    output wire [VIRTUAL-1:0] told_vl,
    output wire [23:0]        told_base,
    output wire [15:0]        told_status,
    output wire               ev_replay,
    output wire               ev_drop
);
`include "linkproto.vh"
    localparam VLS = 1 << VIRTUAL, TIME = 8, STATE = 2 * 24 + 3 * 7 + 9 + 3 * TIME;
    localparam ENTRY = 1 + 1 + 1 + 1 + 16 + 2 + 16 + 32 + 16 + 16 + 3 * SW + STATE;
    localparam CLEARS = VIRTUAL > SW ? VIRTUAL : SW;
    localparam integer LONGER = VLS > SLOTS ? VLS : SLOTS;
    localparam [CLEARS:0] CLEAR_ALL = LONGER[CLEARS:0], ALL_VLS = VLS[CLEARS:0], ALL_SLOTS = SLOTS[CLEARS:0];

    // The table: what the host has said, the list of slots, and the state. `listed`: the link waits for its turn, open or not.
    reg               listed, open, up, gave_up;
    reg  [15:0]       peer, number;
    reg  [1:0]        class_of;
    reg  [31:0]       own_key;
    reg  [15:0]       replays, dropped;
    reg  [SW-1:0]     first, last, send;        // slots of the oldest packet, the latest, and the one to send next
    reg  [STATE-1:0]  state;

    localparam [2:0] CLEAR = 3'd0, IDLE = 3'd1, READ = 3'd2, SLOT = 3'd3, WALK = 3'd4, APPLY = 3'd5, WRITE = 3'd6;
    localparam [3:0] PEER = `LP_VL_PEER, NUMBER = `LP_VL_NUMBER, KEY = `LP_VL_KEY, STATUS = `LP_VL_STATUS, EXPECT = `LP_VL_EXPECT;
    localparam [3:0] COUNTS = `LP_VL_COUNTS;
    localparam [2:0] LOOK = 3'd0, HEAR = 3'd1, PUT = 3'd2, HOST = 3'd3, TALK = 3'd4, TIMES = 3'd5;
    reg  [2:0]         at, event_is;
    reg  [CLEARS:0]    cleared;
    reg  [VIRTUAL-1:0] vl;
    reg  [6:0]         walk;                    // slots that are to be freed
    reg                acked, counts, dies;     // of a ROUTE, the first part is done, and its number counts; the link closes
    reg                changed;
    reg                takes_it, spoiled;       // of the ROUTE that comes; its link has been opened since it was looked up
    reg                put_last, host_last;     // those had their turn, and others theirs next
    reg  [TIME-1:0]    now;
    reg                scans, due;              // the table is looked through; the next link is due
    reg  [VIRTUAL-1:0] scan;

    wire turn_valid, turn_ready, list, turn_room;
    wire [VIRTUAL-1:0] turn_vl;
    wire idle = at == IDLE;
    wire talks = turn_valid && send_idle;
    wire others = look || hear || put || talks;
    wire [2:0] choice = scans && due ? TIMES : c_en && !(host_last && others) ? HOST : look ? LOOK : hear ? HEAR :
                        put && !(put_last && talks) ? PUT : TALK;
    wire chosen = (scans && due) || c_en || others;
    reg  [VIRTUAL-1:0] chosen_vl;
    always @* case (choice)
        LOOK, HEAR: chosen_vl = r_vl;
        PUT:        chosen_vl = p_vl;
        HOST:       chosen_vl = c_vl;
        TALK:       chosen_vl = turn_vl;
        default:    chosen_vl = scan;
    endcase
    assign turn_ready = idle && chosen && choice == TALK;

    // The rules, at the state as it was read.
    wire apply = at == APPLY && !dies;
    wire takes_route = open && !spoiled && r_good;
    wire ack   = apply && event_is == HEAR && !acked && takes_route;
    wire rest  = apply && event_is == HEAR && acked;
    wire says, packet, repeats, has_room, lost, own_stop, peer_stop, gives_up, replay, now_counts, again;
    wire [23:0] seq, base, expect_next;
    wire [6:0]  freed, count, next;
    wire [STATE-1:0] after;
    wire sets    = apply && event_is == HOST && c_write && {1'b0, c_reg} == STATUS;
    wire closes  = sets && !c_wdata[`LP_VL_STATUS_OPEN_BIT];
    wire opens   = sets && !closes && !open;
    wire greets  = sets && !closes && open && c_wdata[`LP_VL_STATUS_UP_BIT];
    wire turn    = apply && event_is == TALK && open && up && says;
    net_vl_rules #(
        .WINDOW(WINDOW), .TIME(TIME), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT), .TURN(TURN), .ACK_DELAY(ACK_DELAY)
    ) u_rules (
        .state(state), .now(now), .ack(ack), .hear(rest), .turn(turn), .tick(apply && event_is == TIMES && open),
        .put(put_ok), .resume(apply && event_is == HOST && c_resume && open),
        .urge(greets || (rest && !up)),
        .r_next(r_next), .r_seq(r_seq), .r_lost(r_lost), .r_stop(r_stop), .r_packet(r_packet), .r_fits(r_fits), .r_takes(takes_it),
        .r_halts(r_halts), .r_counts(counts), .r_again(again), .after(after),
        .counts(now_counts), .freed(freed), .delivers(delivers), .gives_up(gives_up), .replay(replay),
        .says(says), .packet(packet), .number(seq), .base(base), .expect_next(expect_next), .count(count), .next(next), .repeats(repeats),
        .has_room(has_room), .lost(lost), .own_stop(own_stop), .peer_stop(peer_stop)
    );
    assign ev_replay = replay;
    assign ev_drop   = (rest && r_packet && !delivers) || (heard && !takes_route);

    // What is said, and what was: the low bits of a number mean the nearest to the one that is known.
    function [15:0] high(input [23:0] known, input [7:0] low);
        reg behind;
        begin
            behind = low[7] ^ known[7] ^ (low[6:0] < known[6:0]);
            high   = known[23:8] + {15'd0, !behind && low < known[7:0]} - {15'd0, behind && low > known[7:0]};
        end
    endfunction
    wire [15:0] r_number = r_packet ? high(expect_next, r_seq) : 16'd0;
    wire [15:0] r_expect = high(base, r_next);
    assign looked = apply && event_is == LOOK;
    assign ours   = open && r_src == peer;
    assign takes  = r_packet && r_seq == expect_next[7:0] && !own_stop && m_room;
    assign key    = {own_key[15:0] ^ r_number, own_key[31:16] ^ r_expect};
    assign heard  = apply && event_is == HEAR && (acked || !takes_route);
    assign put_done   = apply && event_is == PUT;
    assign put_ok     = put_done && open && has_room;
    assign send_start = turn;
    assign send_dest  = peer;
    assign send_class = class_of;
    assign send_vl    = number;
    assign send_state = {lost ? `LP_KIND_LOST : `LP_KIND_ACK, own_stop, 4'd0, packet};
    assign send_next  = expect_next[7:0];
    assign send_seq   = packet ? seq[7:0] : 8'd0;
    assign send_key   = own_key ^ {packet ? seq[23:8] : 16'd0, expect_next[23:8]};
    assign send_slot  = send;

    // The host's.
    assign c_done = apply && event_is == HOST;
    assign c_ok   = c_resume ? open && own_stop : 1'b1;
    wire [15:0] status = {8'd0, open, gave_up, count != 7'd0, lost, own_stop, own_stop, peer_stop, up};
    always @* case ({1'b0, c_reg})
        PEER:    c_value = {14'd0, class_of, peer};
        NUMBER:  c_value = {16'd0, number};
        KEY:     c_value = own_key;
        STATUS:  c_value = {base[7:0], 8'd0, status};
        EXPECT:  c_value = {8'd0, expect_next};
        COUNTS:  c_value = {dropped, replays};
        default: c_value = 32'd0;
    endcase

    // Slots: the next one of each one's link, the length, and whether it was sent again, and when it was sent.
    wire [15:0]     size;
    wire [SW-1:0]   link;
    wire            sent_again;
    wire [TIME-1:0] sent_at;
    wire [TIME-1:0] ago = now - sent_at;
    wire            slot_en = at == SLOT;
    wire [SW-1:0]   slot_at = event_is == TALK ? send : first;
    wire            chains = put_ok && count != 7'd0;
    assign again = sent_again && ago < TURN[TIME-1:0];
    ram_sdp #(.WIDTH(SW), .DEPTH(SLOTS)) u_links (
        .clk(clk), .wr_en(chains), .wr_addr(last), .wr_data(p_slot), .rd_en(slot_en), .rd_addr(slot_at), .rd_data(link)
    );
    ram_sdp #(.WIDTH(16), .DEPTH(SLOTS)) u_sizes (
        .clk(clk), .wr_en(put_ok), .wr_addr(p_slot), .wr_data(p_size), .rd_en(slot_en), .rd_addr(slot_at), .rd_data(size)
    );
    ram_sdp #(.WIDTH(1 + TIME), .DEPTH(SLOTS)) u_sent (
        .clk(clk), .wr_en(turn && packet), .wr_addr(send), .wr_data({repeats, now}),
        .rd_en(slot_en), .rd_addr(slot_at), .rd_data({sent_again, sent_at})
    );
    assign send_size = packet ? size : 16'd0;
    wire clears_slot = at == CLEAR && cleared < ALL_SLOTS;
    wire [SW:0] unused_free;
    wire        free_room;
    fifo_sync #(.WIDTH(SW), .DEPTH(SLOTS)) u_free (
        .clk(clk), .rst(rst), .s_valid(clears_slot || at == WALK), .s_ready(free_room), .s_data(at == WALK ? first : cleared[SW-1:0]),
        .m_valid(free_valid), .m_ready(free_ready), .m_data(free_slot), .used(unused_free)
    );

    // The turns: each link that has something to say waits for one, once.
    assign list = at == WRITE && open && up && says && !listed;
    localparam TURNS = VLS < 4 ? 4 : VLS;
    wire [$clog2(TURNS):0] unused_turns;
    fifo_sync #(.WIDTH(VIRTUAL), .DEPTH(TURNS)) u_turns (
        .clk(clk), .rst(rst), .s_valid(list), .s_ready(turn_room), .s_data(vl),
        .m_valid(turn_valid), .m_ready(turn_ready), .m_data(turn_vl), .used(unused_turns)
    );
`ifdef VERILATOR
    always @(posedge clk) if (!rst) assert (!(list && !turn_room) && !((clears_slot || at == WALK) && !free_room));
`else
    wire unused_room = turn_room ^ free_room;
`endif

    wire [ENTRY-1:0] entry;
    wire writes = at == WRITE;
    wire clears_vl = at == CLEAR && cleared < ALL_VLS;
    wire [SW-1:0] send_now = next == 7'd0 ? first : send;
    wire [ENTRY-1:0] new_entry = {listed || list, open, up, gave_up, peer, class_of, number, own_key, replays, dropped, first, last,
        send_now, state};
    ram_sdp #(.WIDTH(ENTRY), .DEPTH(VLS)) u_table (
        .clk(clk), .wr_en(writes || clears_vl), .wr_addr(writes ? vl : cleared[VIRTUAL-1:0]),
        .wr_data(writes ? new_entry : {ENTRY{1'b0}}),
        .rd_en(idle), .rd_addr(chosen_vl), .rd_data(entry)
    );

    assign told      = writes && changed;
    assign told_vl   = vl;
    assign told_base = base;
    assign told_status = status;
    always @(posedge clk) begin
        case (at)
            CLEAR: begin
                cleared <= cleared + {{CLEARS{1'b0}}, 1'b1};
                if (cleared == CLEAR_ALL - {{CLEARS{1'b0}}, 1'b1}) at <= IDLE;
            end
            IDLE: begin
                {vl, event_is, acked, dies, changed, walk} <= {chosen_vl, choice, 10'd0};
                if (chosen) at <= READ;
                if (chosen) host_last <= choice == HOST;
                if (chosen && (choice == PUT || choice == TALK)) put_last <= choice == PUT;
                if (chosen && choice == TIMES) {scans, scan, due} <= {scan != {VIRTUAL{1'b1}}, scan + {{VIRTUAL-1{1'b0}}, 1'b1}, 1'b0};
            end
            READ: begin
                {listed, open, up, gave_up, peer, class_of, number, own_key, replays, dropped, first, last, send, state} <= entry;
                at <= SLOT;
            end
            SLOT: at <= walk != 7'd0 ? WALK : APPLY;
            WALK: begin
                first <= link;
                walk  <= walk - 7'd1;
                at    <= SLOT;
            end
            APPLY: begin
                at <= event_is == LOOK ? IDLE : WRITE;
                state <= after;
                if (ack) begin
                    {acked, counts, walk} <= {1'b1, now_counts, freed};
                    changed <= freed != 7'd0;
                    at <= SLOT;
                end
                if (looked) {takes_it, spoiled} <= {takes, 1'b0};
                if (put_ok) begin
                    last <= p_slot;
                    if (count == 7'd0) first <= p_slot;
                    if (next == count) send <= p_slot;
                end
                if (event_is == TALK) listed <= 1'b0;
                if (turn && packet) send <= link;
                if (c_done && c_write && !open) case ({1'b0, c_reg})
                    PEER:    {class_of, peer} <= c_wdata[17:0];
                    NUMBER:  number  <= c_wdata[15:0];
                    KEY:     own_key <= c_wdata;
                    default: ;
                endcase
                if (opens) begin
                    {open, up, gave_up, changed} <= {1'b1, c_wdata[`LP_VL_STATUS_UP_BIT], 2'b01};
                    {replays, dropped, state}    <= {STATE + 32{1'b0}};
                end
                if (greets || rest) begin
                    up <= 1'b1;
                    if (!up) changed <= 1'b1;
                end
                if (replay && !(&replays)) replays <= replays + 16'd1;
                if (ev_drop && !(&dropped)) dropped <= dropped + 16'd1;
                if (opens && vl == r_vl) spoiled <= 1'b1;
                if (closes || gives_up) begin
                    {dies, changed, walk, at} <= {2'b11, count, SLOT};
                    state <= {base + {17'd0, count}, expect_next, {STATE - 48{1'b0}}};
                    {open, up, gave_up} <= {2'b00, gives_up || gave_up};
                end
            end
            default: at <= IDLE;
        endcase
        if (pace) due <= 1'b1;
        if (tick) {now, scans} <= {now + {{TIME-1{1'b0}}, 1'b1}, 1'b1};
        if (rst) begin
            at <= CLEAR;
            cleared <= {CLEARS + 1{1'b0}};
            now <= {TIME{1'b0}};
            {scans, due, put_last, host_last, spoiled} <= 5'd0;
            scan <= {VIRTUAL{1'b0}};
        end
    end
endmodule
`resetall
