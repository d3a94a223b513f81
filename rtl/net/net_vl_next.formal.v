// Properties of net_vl_next, included in it: what is chosen is asked for, and of the link that it is asked for; each queue is taken from
// when its first link is chosen, and only then; PUT and TALK wait for a bounded number of events, whatever asks, whoever says STOP.
// That a queue shows links in the order in which they came is proven of net_vl_queues; here it shows what it likes, until it is taken.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

localparam [3:0] MOST = 2 * BEFORE + 1;

// What stands until it is chosen: a packet that is put, and a queue's first link; and a sender that is idle, until it is given something.
reg                 f_put, f_turns, f_sends;
reg [VIRTUAL-1:0]   f_turn_vl, f_p_vl;
always @* begin
    if (f_put) assume (put && p_vl == f_p_vl);
    if (f_turns) assume (waits[TURNS] && firsts[VIRTUAL-1:0] == f_turn_vl);
    if (f_sends) assume (send_idle);
end
reg [3:0] f_put_waits, f_talk_waits;            // events since then
reg       f_host;                               // the last event was HOST
reg [VIRTUAL-1:0] f_scan;
reg       f_due;                                // a pace has passed since the last TIMES
(* anyconst *) wire [VIRTUAL-1:0] f_link;
reg                 f_owed;                               // a look at f_link, since a tick
wire [VIRTUAL-1:0]  f_away = f_link - scan, f_left = scan_end - scan - 1'b1;
wire f_is_put   = takes && choice == PUT;
wire f_is_talk  = takes && choice == TALK;
wire f_is_ahead = takes && choice == AHEAD;
always @(posedge clk) begin
    f_put   <= put && !f_is_put;
    f_p_vl  <= p_vl;
    f_turns <= waits[TURNS] && !f_is_talk;
    f_turn_vl <= firsts[VIRTUAL-1:0];
    f_sends <= send_idle && !f_is_talk && !f_is_ahead;
    if (takes) begin
        f_put_waits  <= choice == PUT ? 4'd0 : f_put_waits + put;
        f_talk_waits <= choice == TALK ? 4'd0 : f_talk_waits + talks;
        f_host <= choice == HOST;
        if (choice == TIMES) {f_scan, f_due} <= {f_scan + 1'b1, 1'b0};
    end
    if (pace) f_due <= 1'b1;
    if (takes && choice == TIMES && vl == f_link) f_owed <= 1'b0;
    if (tick) f_owed <= 1'b1;
    if (rst) {f_put, f_turns, f_sends, f_put_waits, f_talk_waits, f_host, f_scan, f_due, f_owed} <= 0;
end

always @* if (f_run && !rst) begin
    assert (f_put_waits <= MOST && f_talk_waits <= MOST);
    if (takes) begin
        case (choice)
            LOOK:   assert (look && vl == r_vl);
            HEAR:   assert (hear && vl == r_vl);
            PUT:    assert (put && vl == p_vl);
            HOST:   assert (c_en && vl == c_vl);
            TALK:   assert (waits[TURNS] && send_idle && vl == firsts[VIRTUAL*TURNS +: VIRTUAL]);
            TELL:   assert (waits[TELLS] && told_ready && vl == firsts[VIRTUAL*TELLS +: VIRTUAL]);
            WAKE:   assert (waits[WAKES] && m_room && vl == firsts[VIRTUAL*WAKES +: VIRTUAL]);
            SETTLE: assert (waits[SETTLES] && vl == firsts[VIRTUAL*SETTLES +: VIRTUAL]);
            TIMES:  assert (scans && f_due && vl == f_scan);
            default: assert (choice == AHEAD && begins && send_idle && vl == p_vl && !sends);
        endcase
        if (choice == HOST && f_host) assert (!look && !hear && !put && !talks && !settles && !tells && !wakes);
    end
    if (f_owed) assert (scans && f_away <= f_left);         // its turn comes before the end
    assert (taken == ({choice == SETTLE, choice == WAKE, choice == TELL, choice == TALK} & {4{takes}}));
    if (idle && (look || hear || put || c_en || talks || tells || wakes || settles)) assert (chosen);
end

// What ties the registers together; induction needs it.
always @* if (f_run && !rst) begin
    assert (host_last == f_host && scan == f_scan && (!scan_due || f_due));
    assert (f_put_waits == 0 || f_put);
    assert (f_talk_waits == 0 || (f_turns && f_sends));
    // before its turn a packet is behind BEFORE others, a TALK, and as many again
    assert (f_put_waits <= passed + (put_last ? 4'd0 : 4'd4));
    assert (f_talk_waits <= passed + (put_last ? 4'd4 : 4'd0));
end
