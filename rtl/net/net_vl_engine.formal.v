// Properties of net_vl_engine, included in it: the slots of a link are its packets, in order: each is sent from its own slot under the
// number as which it was put, and freed once, when that number is acknowledged or the link closes. One of a context is put in the life of
// its link alone that it is for. No event writes to another link's entry; a ROUTE that is not taken changes nothing of its link but what
// is counted; who asks is answered once, in a bounded time, and a link that has something to say waits for its
// turn. A link whose peer says STOP sends no packet but a probe, and none holds more than WINDOW.
//
// There are two links, so each has another beside it. net_vl_rules and net_vl_regs are the real ones; net_vl_next, net_vl_slots and
// net_vl_context, each proven by itself, do here what their contracts allow, and hold this module to its part.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

localparam CN = 7, MW = WINDOW < 3 ? WINDOW : 3, ML = VLS < 2 ? VLS : 2;
wire [SW*SLOTS-1:0] f_links;
wire [16*SLOTS-1:0] f_sizes;
wire [SLOTS-1:0]    f_free;
wire [SW-1:0]       f_at;
assign {f_links, f_sizes, f_free, f_at} = f_slots;

// What callers keep to. The receiver: a ROUTE is heard if its link was looked up and open, and stands until it is.
(* anyseq *) wire  f_gone;                      // it is taken back
reg                f_known;
reg [VIRTUAL-1:0]  f_known_vl;
reg [39+VIRTUAL:0] f_r;
wire [39+VIRTUAL:0] f_r_now = {r_src, r_next, r_seq, r_stop, r_lost, r_packet, r_host, r_message, r_fits, r_halts, r_good, r_vl};
wire f_looks = apply && event_is == LOOK, f_hears = apply && event_is == HEAR;
wire f_rests = event_is == HEAR && acked && (at == SLOT || at == WALK || at == APPLY);
always @* begin
    assume (!(look && hear));
    if (f_known) assume (!look && r_vl == f_known_vl);
    if (hear) assume (f_known);
    if ((f_looks || f_hears) && there) assume (r_vl == vl && look == f_looks && hear == f_hears);
    if (f_rests) assume (there && hear && f_r == f_r_now);
end
always @(posedge clk) begin
    f_r <= f_r_now;
    if (looked) {f_known, f_known_vl} <= {opened, r_vl};
    else if (heard || (f_gone && !(event_is == HEAR && at != IDLE))) f_known <= 1'b0;
    if (rst) f_known <= 1'b0;
end
// A packet to be sent: its slot is free, and it stands until it is the link's, or is taken back.
reg               f_put, f_begun, f_c_en, f_back;
reg [VIRTUAL-1:0] f_p_vl;
reg [SW-1:0]      f_p_slot, f_back_slot;
reg [15:0]        f_p_size;
reg [38+VIRTUAL:0] f_c;
wire [38+VIRTUAL:0] f_c_now = {c_write, c_resume, c_space, c_wake, c_reg, c_wdata, c_vl};
always @* begin
    assume (!(put && begins) && free_ready == put_ok && (frees || !send_cut));
    if (put || begins) assume (free_valid && p_slot == free_slot);
    if (f_put) assume (put && p_size == f_p_size);
    if ((f_put || f_begun) && (put || begins)) assume (p_vl == f_p_vl && p_slot == f_p_slot);
    if (f_c_en) assume (c_en && f_c == f_c_now);
    if (f_back) assume (back && back_slot == f_back_slot);
end
always @(posedge clk) begin
    f_put   <= put && !put_done && !rst;
    f_begun <= begins && !rst;
    {f_p_vl, f_p_slot, f_p_size} <= {p_vl, p_slot, p_size};
    f_c_en  <= c_en && !c_done && !rst;
    f_c     <= f_c_now;
    f_back  <= back && !back_ready && !rst;
    f_back_slot <= back_slot;
end

// Of each link, its slots in order; of each slot, whose it is: nobody's, kept for a completion, or a link's.
localparam [1:0] NOBODY = 2'd0, KEPT = 2'd1;
reg [ML*MW*SW-1:0] f_list;
reg [ML*CN-1:0]    f_n;
reg [2*SLOTS-1:0]  f_owner;
reg [ML*24-1:0]    f_puts;                      // packets since it was opened: the number of the next one
// Of two links, since solvers dislike to multiply.
wire [CN-1:0]      f_n_vl    = vl[0] ? f_n[CN +: CN] : f_n[CN-1:0];
wire [MW*SW-1:0]   f_of_vl   = vl[0] ? f_list[MW*SW +: MW*SW] : f_list[MW*SW-1:0];
wire [23:0]        f_puts_vl = vl[0] ? f_puts[24 +: 24] : f_puts[23:0];
always @* if (back) assume (f_owner[2*back_slot +: 2] == KEPT);
genvar l, g;
generate
    for (l = 0; l < ML; l = l + 1) begin : g_list
        always @(posedge clk) if (rst) begin
            f_n[CN*l +: CN]    <= {CN{1'b0}};
            f_puts[24*l +: 24] <= 24'd0;
        end else if (vl == l) begin
            if (put_ok) f_n[CN*l +: CN] <= f_n_vl + 1'b1;
            if (frees)  f_n[CN*l +: CN] <= f_n_vl - 1'b1;
            if (opens)  f_puts[24*l +: 24] <= 24'd0;
            if (put_ok) f_puts[24*l +: 24] <= f_puts_vl + 1'b1;
        end
        for (g = 0; g < MW; g = g + 1) begin : g_place
            always @(posedge clk) if (vl == l) begin
                if (put_ok && f_n_vl == g) f_list[MW*SW*l + SW*g +: SW] <= p_slot;
                if (frees && g + 1 < MW)   f_list[MW*SW*l + SW*g +: SW] <= f_of_vl[SW*((g + 1) % MW) +: SW];
            end
        end
    end
    for (g = 0; g < SLOTS; g = g + 1) begin : g_owner
        always @(posedge clk) begin
            if (put_ok && p_slot == g) f_owner[2*g +: 2] <= 2'd2 + vl;
            if (frees && first == g)   f_owner[2*g +: 2] <= holds ? KEPT : NOBODY;
            if ((back && back_ready && back_slot == g) || (clears_slot && cleared == g)) f_owner[2*g +: 2] <= NOBODY;
            if (rst) f_owner[2*g +: 2] <= KEPT;
        end
        always @* if (f_run && !rst) begin
            assert (f_free[g] == (f_owner[2*g +: 2] == NOBODY));
            if (at == CLEAR) assert (f_owner[2*g +: 2] == (g < cleared ? NOBODY : KEPT));
        end
    end
endgenerate

// A packet that the solver chooses, from put to free.
(* anyconst *) wire [VIRTUAL-1:0] f_vl;
(* anyconst *) wire [23:0]        f_number;
reg          f_held;
reg [CN-1:0] f_pos;                             // packets of its link before it
reg [SW-1:0] f_slot;
reg [15:0]   f_size;
always @(posedge clk) begin
    if (put_ok && vl == f_vl && f_puts_vl == f_number) {f_held, f_pos, f_slot, f_size} <= {1'b1, f_n_vl, p_slot, p_size};
    if (frees && vl == f_vl) {f_held, f_pos} <= {f_held && f_pos != 0, f_pos - 1'b1};
    if (rst) f_held <= 1'b0;
end

// The event underway: of whom, how long, what its link was, and whether it was answered.
reg               f_busy, f_answered, f_refused, f_second, f_cut;
reg [VIRTUAL-1:0] f_of;
reg [3:0]         f_kind;
reg [7:0]         f_age;
reg [CN-1:0]      f_frees;
reg [ENTRY-1:0]   f_was;
wire [ENTRY-1:0]  f_entry = f_of[0] ? f_words[ENTRY +: ENTRY] : f_words[ENTRY-1:0];
wire f_answer = put_done || c_done || heard || looked || told;
localparam [7:0] LONGEST = 6 + 2 * WINDOW;      // and a clock in which it is chosen
always @(posedge clk) begin
    f_age <= f_age + 1'b1;
    if (at == READ) f_was <= f_entry;
    if (f_answer) f_answered <= 1'b1;
    if (heard && !takes_route) f_refused <= 1'b1;
    if (ack) {f_frees, f_second} <= {freed, 1'b1};
    if (closes || gives_up) {f_frees, f_second} <= {count, 1'b1};
    if (follows) f_second <= 1'b1;
    if (send_cut) f_cut <= 1'b1;
    if (idle) begin
        {f_busy, f_of, f_kind, f_age} <= {chosen, chosen_vl, choice, 8'd1};
        {f_frees, f_answered, f_refused, f_second, f_cut} <= {CN + 4{1'b0}};
    end
    if (rst) f_busy <= 1'b0;
end

// What was said of the ROUTE that comes when it was looked up, and of a packet that is sent while it comes.
reg          f_takes, f_spoiled;
reg [23:0]   f_lead;
reg [SW-1:0] f_lead_slot;
always @(posedge clk) begin
    if (opens && vl == f_known_vl) f_spoiled <= 1'b1;
    if (looked) {f_takes, f_spoiled} <= {takes, 1'b0};
    if (starts) {f_lead, f_lead_slot} <= {seq, p_slot};
end

wire f_probe = state[2*TIME + 3];
wire f_asks  = event_is == PUT || event_is == HOST || event_is == TELL;
always @* if (f_run && !rst) begin
    // Each event is of the link that it was chosen for, and ends; who asks is answered once.
    if (at != IDLE && at != CLEAR) assert (f_busy && vl == f_of && event_is == f_kind && f_age <= LONGEST);
    if (f_answer) begin
        assert (!f_answered && {put_done, c_done, heard, looked, told} ==
            {f_kind == PUT, f_kind == HOST, f_kind == HEAR, f_kind == LOOK, f_kind == TELL});
        assert (!put_done || (put && f_of == p_vl));
        assert (!c_done || (c_en && f_of == c_vl));
        assert (!(heard || looked) || (there && f_of == r_vl));
        assert (!told || told_vl == f_of);
    end
    if (at == WRITE && (f_asks || event_is == HEAR)) assert (f_answered);
    if (at == APPLY && f_asks && !f_second) assert (f_answer);
    if ((f_looks || f_hears) && there && !ack) assert (f_answer);
    // The table.
    if (writes) assert (f_kind != LOOK && f_kind != AHEAD);
    if (writes && f_refused) assert ({new_entry[ENTRY-5 -: 4+REGS-16], new_entry[3*SW+STATE-1 -: 2*SW], state} ==
        {f_was[ENTRY-5 -: 4+REGS-16], f_was[3*SW+STATE-1 -: 2*SW], f_was[STATE-1:0]});
    if (writes && (f_kind != HOST || f_was[ENTRY-5])) assert (regs[97:32] == f_was[ENTRY-33 -: 66]);     // PEER, NUMBER and KEY
    if (writes && f_cut && f_kind == HEAR) assert (says);   // what was said in vain
    if (delivers) assert (f_kind == HEAR && f_takes && !f_spoiled && open &&
        r_good && r_packet && r_seq == expect_next[7:0] && vl == f_known_vl);
    if (looked && takes) assert (!own_stop);
    // Slots, and what is sent.
    if (put_done) assert (put_ok == (open && count < WINDOW && (!p_mine || p_life == x_life)));
    if (put_ok) assert (f_n_vl < WINDOW && f_owner[2*p_slot +: 2] == NOBODY);
    if (frees) assert (f_n_vl != 0 && first == f_of_vl[SW-1:0] && f_owner[2*first +: 2] == 2'd2 + vl);
    if (done) assert (done_slot == f_of_vl[SW-1:0]);
    if (talk && packet) begin
        assert (next < count && (!peer_stop || f_probe));
        assert (send_slot == f_of_vl[SW*next +: SW] && f_puts_vl - seq == {17'd0, count - next});
        if (f_held && vl == f_vl && seq == f_number) assert (send_slot == f_slot && send_size == f_size);
    end
    if (starts) assert (send_slot == p_slot && vl == p_vl && !peer_stop && seq == f_puts_vl);
    if (ends) assert (vl == lead_vl && seq == f_lead && f_of_vl[SW*next +: SW] == f_lead_slot);
    if (ack) assert (freed <= count && f_n_vl == count);
end

// What ties the registers together; induction needs it.
wire f_live  = at == SLOT || at == WALK || at == APPLY || at == WRITE;
wire f_early = at == READ || ((at == SLOT || at == APPLY) && !f_second);
always @* if (f_run && !rst) begin
    assert (at != 3'd7 && (at != CLEAR || (!f_busy && !f_held && cleared < CLEAR_ALL)));
    if (f_live) assert (f_second == (acked || dies) && f_was == f_entry);
    if (f_early) assert (!acked && !dies && walk == 0 && !f_answered && !f_refused && f_frees == 0);
    if (f_live && acked) assert (!dies && (event_is == HEAR || (event_is == PUT && walk == 0)));
    if (f_live && dies) assert (event_is == HOST || event_is == TIMES);
    if (f_live && f_second) assert (walk <= f_frees && f_frees <= WINDOW && f_answered == (f_asks || (event_is == HEAR && at == WRITE)));
    if (f_live) assert (was_cut == f_cut && (f_second || !f_cut));
    if (f_live && f_refused) assert (at == WRITE && !f_second && event_is == HEAR);
    if (at == READ) assert (f_age == 1 && entry == f_entry);
    if (at == SLOT) assert (f_age == (f_second ? 4 + 2*(f_frees - walk) : 2));
    if (at == WALK) assert (f_second && walk != 0 && f_age == 5 + 2*(f_frees - walk));
    if (at == APPLY || at == WRITE) assert (walk == 0);
    if (at == APPLY) assert (f_age == (f_second ? 5 + 2*f_frees : 3));
    if (at == WRITE) assert (f_age == (f_second ? 6 + 2*f_frees : 4));
    if (at == WALK || at == APPLY) assert (f_at == (event_is == TALK ? send : first) &&
        link == f_links[SW*f_at +: SW] && size == f_sizes[16*f_at +: 16]);
    if (f_early && at != READ) assert ({listed, parked, due, timed, open, up, gave_up, trapped, regs, first, last, send, state} == f_was);
    if (f_live && (at != WRITE || f_kind != HOST)) assert (regs[97:32] == f_was[ENTRY-33 -: 66]);
    if (f_rests) assert (open && r_good && !spoiled && f_known && vl == f_known_vl);
    if (f_known) assert (takes_it == f_takes && spoiled == f_spoiled);
    if (event_is == PUT && f_early) assert (f_put && f_p_vl == vl);
    if (event_is == HOST && f_early) assert (f_c_en && f_c[VIRTUAL-1:0] == vl);
    if (event_is == AHEAD && f_early && leads) assert (f_begun && f_p_vl == vl);
    if (event_is == PUT && f_live && acked && at != WRITE)
        assert (open && next + 1'b1 == count && vl == lead_vl && f_lead + 1'b1 == f_puts_vl && f_of_vl[SW*next +: SW] == f_lead_slot);
    if (leading) assert ((f_begun || f_put) && f_p_vl == lead_vl && f_p_slot == f_lead_slot);
    if (leading && !lost_lead) assert (f_lead == (lead_vl[0] ? f_puts[24 +: 24] : f_puts[23:0]));
    if (f_held) assert (f_sizes[16*f_slot +: 16] == f_size);
end
generate
    for (l = 0; l < ML; l = l + 1) begin : g_link
        // Of a link in an event the registers count, else its entry.
        wire [ENTRY-1:0] e = f_words[ENTRY*l +: ENTRY];
        wire             mine = f_live && vl == l;
        wire [7:0]       flags = mine ? {listed, parked, due, timed, open, up, gave_up, trapped} : e[ENTRY-1 -: 8];
        wire [3*SW-1:0]  slots = mine ? {first, last, send} : e[3*SW+STATE-1 -: 3*SW];
        wire [23:0]      s_base, e_base, s_expect, e_expect;
        wire [CN-1:0]    s_count, s_next, s_top, e_count, e_next, e_top;
        wire [2*TIME+8:0] s_rest, e_rest;
        assign {s_base, s_expect, s_count, s_next, s_top, s_rest} = mine ? state : e[STATE-1:0];
        assign {e_base, e_expect, e_count, e_next, e_top, e_rest} = e[STATE-1:0];
        wire e_urgent = e_rest[2*TIME+8], e_unsaid = e_rest[2*TIME+7], e_peer_stop = e_rest[2*TIME+4], e_probe = e_rest[2*TIME+3];
        wire e_says = e_urgent || (e_next < e_count && (!e_peer_stop || e_probe));
        wire [CN-1:0]    n = f_n[CN*l +: CN], walks = mine && f_second ? walk : {CN{1'b0}};
        wire [MW*SW-1:0] list = f_list[MW*SW*l +: MW*SW];
        wire weak = mine && (at == WRITE || dies || (event_is == HEAR && acked));   // `send` is put right when it is written
        wire [3:0] in = f_in[4*l +: 4], waits_for = {flags[4], flags[6], flags[5], flags[7]};
        wire [3:0] leaving = {event_is == SETTLE, event_is == WAKE, event_is == TELL, event_is == TALK} & {4{f_early && vl == l}};
        always @* if (f_run && !rst && (at != CLEAR || cleared > l)) begin
            assert (n == s_count + walks && n <= WINDOW && s_count <= WINDOW && s_next <= s_top && s_top <= s_count);
            if (!flags[3]) assert (s_count == 0);
            if (n != 0) assert (slots[3*SW-1 -: SW] == list[SW-1:0] && slots[2*SW-1 -: SW] == list[SW*(n - 1'b1) +: SW]);
            if (s_next < s_count && !(weak && s_next == 0)) assert (slots[SW-1:0] == list[SW*(walks + s_next) +: SW]);
            if (flags[3]) assert (s_base + {17'd0, s_count} == f_puts[24*l +: 24]);
            if (flags[3] && f_held && f_vl == l) assert (f_puts[24*l +: 24] - f_number == {17'd0, n - f_pos});
            if (f_held && f_vl == l) assert (f_pos < n && list[SW*f_pos +: SW] == f_slot);
            if (at == CLEAR) assert (e == 0);
            // Who has something to say, or to be told, waits in the queue for it.
            assert ((waits_for & leaving) == leaving && in == (waits_for & ~leaving));
            if (e[ENTRY-5] && e[ENTRY-6] && e_says) assert (e[ENTRY-1]);
            if (e[ENTRY-5] && e_unsaid && !e_says) assert (e[ENTRY-4]);
        end
        always @* if (f_run && !rst && at == CLEAR) assert (n == 0 && in == 0);
        for (g = 0; g < MW; g = g + 1) begin : g_at
            wire [SW-1:0] own = list[SW*g +: SW];
            always @* if (f_run && !rst && g < n) begin
                assert (f_owner[2*own +: 2] == 2'd2 + l);
                if (g + 1 < n && g + 1 < MW) assert (f_links[SW*own +: SW] == list[SW*((g + 1) % MW) +: SW] &&
                    own != list[SW*((g + 1) % MW) +: SW]);
                if (g + 2 < n && g + 2 < MW) assert (own != list[SW*((g + 2) % MW) +: SW]);
            end
        end
    end
endgenerate
