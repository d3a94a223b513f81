// Properties of net_input, included in it. One packet, whichever the solver likes, is followed from its first beat to its last copy: one
// bit of one of its beats, and its place in the queue of one output.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// The contract's other side: a packet that is taken back stands still, and fits a slot; a way is told of a packet that asked, one if it is
// for a node; what is
// started waits, and nothing is underway then.
reg f_looks;
always @(posedge clk) f_looks <= look && !rst;
always @* if (f_run && !rst) begin
    if (s_void) assume (!s_valid);
    if (s_valid && at == BEATS - 1) assume (s_last);
    if (looked) assume (f_looks && (group || (ways & (ways - 1'b1)) == NOWHERE));     // a node has one way
    if (start) assume (!active);
    if (start && cast)  assume (outs != NOWHERE && (outs & ~todo) == NOWHERE);
    if (start && !cast) assume (to < N && waits[to] && outs == {{(N-1){1'b0}}, 1'b1} << to);
end

// Of each slot: in whose queues it is, for which outputs it is in that for groups, and by which it leaves.
reg  [N-1:0]       f_outs;
always @(posedge clk) if (start) f_outs <= outs;
reg  [N*SLOTS-1:0] f_queued, f_forked, f_leaves;
reg  [N-1:0]       f_members;
reg                f_mixed;                     // an entry is none
reg                f_twice, f_over;
reg  [SW:0]        f_head, f_size;
reg  [SW-1:0]      f_slot_there;
integer f_o, f_k;
always @* begin
    {f_queued, f_forked, f_leaves, f_twice, f_over, f_mixed} = 0;
    for (f_o = 0; f_o < N; f_o = f_o + 1) begin
        f_head = heads[(SW+1)*f_o +: SW+1];
        f_size = tails[(SW+1)*f_o +: SW+1] - f_head;
        if (f_size > SLOTS) f_over = 1'b1;
        for (f_k = 0; f_k < SLOTS; f_k = f_k + 1) begin
            f_slot_there = queue[{f_o[NW-1:0], f_head[SW-1:0] + f_k[SW-1:0]}];
            if (f_k < f_size) begin
                if (f_queued[N*f_slot_there + f_o]) f_twice = 1'b1;
                f_queued[N*f_slot_there + f_o] = 1'b1;
            end
        end
    end
    f_size = fork_tail - fork_head;
    if (f_size > SLOTS) f_over = 1'b1;
    for (f_k = 0; f_k < SLOTS; f_k = f_k + 1) begin
        {f_members, f_slot_there} = forks[fork_head[SW-1:0] + f_k[SW-1:0]];
        if (f_k == 0) f_members = f_members & ~begun;
        if (f_k < f_size) begin
            if (f_forked[N*f_slot_there +: N] != NOWHERE) f_twice = 1'b1;
            if (f_members == NOWHERE) f_mixed = 1'b1;
            f_forked[N*f_slot_there +: N] = f_members;
        end
    end
    if (active) f_leaves[N*reading +: N] = f_outs;
end

// Each slot is free, or the one that is written, or in queues or underway, for those that are to have it and no others.
wire [N*SLOTS-1:0] f_has = f_queued | f_forked | f_leaves;
reg  [N-1:0] f_of;
reg          f_current;
always @* if (f_run && !rst) begin
    assert (!f_twice && !f_over && !f_mixed && (f_queued & f_leaves) == 0 && (f_forked & f_leaves) == 0);
    if (fork_head == fork_tail) assert (begun == NOWHERE);
    if (active) assert (f_outs != NOWHERE && frees == (f_forked[N*reading +: N] == NOWHERE));
    if (active && !frees) assert (fork_head != fork_tail && fork_slot == reading && (f_outs & ~begun) == NOWHERE);
    if (begun != NOWHERE) assert (todo != NOWHERE && (begun & ~members) == NOWHERE);
    for (f_k = 0; f_k < SLOTS; f_k = f_k + 1) begin
        f_of      = f_has[N*f_k +: N];
        f_current = open && slot == f_k;
        if (free[f_k])                    assert (f_of == NOWHERE && !f_current);
        if (free[f_k] || f_current)       assert (!dead[f_k]);
        if (!free[f_k] && !f_current)     assert (f_of != NOWHERE);
        if (f_current && (!found_q || group)) assert (f_of == NOWHERE);
        if (f_current && found_q && !group) assert (f_of == copies);
        if (dead[f_k] || (f_current && found_q && !group) || f_queued[N*f_k +: N] != NOWHERE)
            assert ((f_of & (f_of - 1'b1)) == NOWHERE && f_forked[N*f_k +: N] == NOWHERE);
        if (dead[f_k] && f_leaves[N*f_k +: N] != NOWHERE) assert (m_cancel);
    end
    if (found_q)                          assert (copies != NOWHERE && (group || (copies & (copies - 1'b1)) == NOWHERE));
    if (!open || dropping)                assert (!asked && !found_q && !passed && !ended);
    assert (!(asked && found_q) && !(m_valid && m_cancel) && (at < BEATS || (at == BEATS && ended)));
    if (!open)                            assert (at == FIRST_AT || dropping);
    if (!dropping)                        assert (passed == (at > PATH[BW:0]) && (asked || found_q) == (at > HIGH[BW:0]));
    if (found_q && passed)                assert (!(copies[N-1:1] != 0 && spent));
    if (ended)                            assert (at > LEAST[BW:0]);
    if (dropping)                         assert (why <= HOPS);
    if (m_valid || m_cancel)              assert (active);
    if (m_cancel)                         assert (!open || reading != slot);
    if (active && open && reading == slot) assert (!ended && !group);
end

// The followed packet.
(* anyseq *)   wire f_pick;
(* anyconst *) wire [BW-1:0] f_beat;
(* anyconst *) wire [$clog2(9*WIDTH)-1:0] f_bit;
(* anyconst *) wire [NW-1:0] f_output;
always @* assume (f_bit < 9 * WIDTH && f_output < N);
reg           f_comes, f_in;            // it comes; it has come, or been taken back while it was queued
reg           f_void;
reg  [SW-1:0] f_slot;
reg  [N-1:0]  f_todo;                   // outputs by which it is still to leave
reg           f_seen, f_value, f_last;  // its beat has come
reg           f_hopless;
wire          f_begins = !f_comes && !f_in && f_pick && stored && at == FIRST_AT;
wire          f_now    = f_comes || f_begins;
wire          f_mine   = active && reading == f_slot && (f_comes || f_in);
reg  [BW:0]   f_given;                  // beats of the packet underway that have been taken
reg  [7:0]    f_path;
reg  [9*WIDTH-1:0] f_came;
always @* begin
    f_path = s_data[8*(`LP_ROUTE_PATH % WIDTH) +: 8];
    f_came = {s_keep, s_data};
    if (at == `LP_ROUTE_PATH / WIDTH && f_path[`LP_HOPS_WIDTH-1:0] != 0) f_came[8*(`LP_ROUTE_PATH % WIDTH) +: 8] = f_path - 8'd1;
end
always @(posedge clk) begin
    if (f_begins) {f_slot, f_void, f_hopless} <= {slot, 2'b00};
    f_comes <= f_now && !over;
    f_in    <= (f_now && (complete || recalled)) || (f_in && !(done && f_mine && (f_todo & ~f_outs) == NOWHERE));
    if (f_now && recalled) f_void <= 1'b1;
    if (f_now && found)    f_todo <= ways;
    if (f_mine && done)    f_todo <= f_todo & ~f_outs;
    if (f_begins) f_seen <= f_beat == 0;
    else if (f_now && stored && at == f_beat) f_seen <= 1'b1;
    if (f_now && stored && at == f_beat) {f_value, f_last} <= {f_came[f_bit], s_last};
    if (f_now && stored && at == `LP_ROUTE_PATH / WIDTH) f_hopless <= f_path[`LP_HOPS_WIDTH-1:0] == 0;
    if (rst) {f_comes, f_in} <= 2'b00;
end

// Of a packet that still comes no beat that leaves is the last. It is asserted of the followed beat, below, and taken for granted of all
// others: each of those is the followed one when the solver likes, and there is one in a clock.
always @* if (m_valid && open && reading == slot && !ended && !(f_comes && f_given == f_beat)) assume (!m_last);

// It leaves by each of its outputs once, from its first beat on, as it came; whole, but if it is taken back.
always @(posedge clk) if (start) f_given <= 0; else if (m_valid && m_ready) f_given <= f_given + ONE;
wire [9*WIDTH:0] f_word;
always @* if (f_run && !rst) begin
    if (active) assert (next == f_given + {{BW{1'b0}}, m_valid} || m_cancel);
    assert (!(f_comes && f_in));
    if (f_comes) assert (open && slot == f_slot && !dropping && at != FIRST_AT && f_seen == (f_beat < at) && !f_void);
    if (f_in)    assert (!free[f_slot] && !(open && slot == f_slot) && f_todo != NOWHERE);
    if (f_in)    assert (f_void == (dead[f_slot] || (f_mine && m_cancel)));
    if (f_in)                 assert (f_has[N*f_slot +: N] == f_todo);
    if (f_comes && found_q)   assert (copies == f_todo);
    if (f_comes && !ended && f_seen) assert (!f_last);
    if ((f_comes || f_in) && f_seen) assert (f_word[9*WIDTH] == f_last && f_word[f_bit] == f_value);
    if (start && first == f_slot && (f_comes || f_in)) assert ((outs & ~f_todo) == NOWHERE);
    if (f_mine && !m_cancel) begin
        assert ((f_outs & ~f_todo) == NOWHERE);
        if (f_seen && f_last) assert (f_given <= f_beat);
        if (f_comes) assert (f_given <= next && next <= at);
        if (m_valid && f_given == f_beat) begin
            if (f_comes && !ended) assert (!m_last);
            if (f_comes) assert (f_seen);
            if (f_seen)  assert (m_last == f_last && ({m_keep, m_data} >> f_bit & 1'b1) == f_value);
        end
    end
    if (f_mine && done) assert ((f_in || ended) && m_cancel == f_void);
    if (f_mine && m_valid) assert (!dead[f_slot]);
    if (f_in && !f_void && f_hopless) assert (f_todo[N-1:1] == 0);
    if (f_comes) begin
        if (passed) assert (spent == f_hopless);
        if (found_q && passed && f_hopless) assert (f_todo[N-1:1] == 0);
    end
end

// In the order of its queue: of that for groups, or that of an output.
reg          f_stays;
reg  [SW:0]  f_before;
wire         f_steps = start && cast && ends;
wire [SW:0]  f_stood = fork_head + f_before;
always @(posedge clk) begin
    if (f_now && forked)            {f_stays, f_before} <= {1'b1, fork_tail - fork_head - {{SW{1'b0}}, f_steps}};
    else if (f_stays && f_steps)    {f_stays, f_before} <= {f_before != 0, f_before - NEXT};
    if (rst) f_stays <= 1'b0;
end
always @* if (f_run && !rst) begin
    assert (f_stays == ((f_comes || f_in) && f_forked[N*f_slot +: N] != NOWHERE));
    if (f_stays) assert (f_before < fork_tail - fork_head && forks[f_stood[SW-1:0]][SW-1:0] == f_slot);
    if (f_stays && start && cast) assert ((first == f_slot) == (f_before == 0));
end
reg          f_waits;
reg  [SW:0]  f_ahead;
wire [SW:0]  f_first = heads[(SW+1)*f_output +: SW+1], f_behind = tails[(SW+1)*f_output +: SW+1];
wire         f_serves = start && !cast && to == f_output;
always @(posedge clk) begin
    if (f_now && place[f_output])        {f_waits, f_ahead} <= {1'b1, f_behind - f_first - {{SW{1'b0}}, f_serves}};
    else if (f_waits && f_serves)        {f_waits, f_ahead} <= {f_ahead != 0, f_ahead - NEXT};
    if (rst) f_waits <= 1'b0;
end
wire [SW:0]  f_stands = f_first + f_ahead;
always @* if (f_run && !rst) begin
    assert (f_waits == ((f_comes || f_in) && f_queued[N*f_slot + f_output]));
    if (f_waits) assert (f_ahead < f_behind - f_first && queue[{f_output, f_stands[SW-1:0]}] == f_slot);
    if (f_waits && f_serves) assert ((first == f_slot) == (f_ahead == 0));
end

// Of each packet that comes whole, one thing becomes: it is in its queues, or one event says why not.
reg f_ended, f_done;
always @(posedge clk) begin
    f_ended <= (accept && s_last) || ended;
    f_done  <= complete;
    if (rst) {f_ended, f_done} <= 2'b00;
end
always @* if (f_run && !rst) assert (f_done + ev_bad + ev_lost + ev_hops + ended == f_ended);
