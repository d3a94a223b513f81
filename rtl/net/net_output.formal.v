// Properties of net_output, included in it: each packet is given to the link whole, or is taken back there, or is dropped whole and
// counted; nothing is left of it when the next one begins.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// The crossbar's side of the contract: a packet begins while there is room, and has beats from the next clock on.
reg f_under, f_kept;                    // a packet has begun; there was room for it
reg f_has;                              // the beat has been taken here, and not everywhere
reg [9*WIDTH:0] f_beat;
reg f_began, f_room;                    // in the clock before: it began; has_room
wire f_keep = f_kept && !(f_began && gap);      // the link has not gone down in the clock in which it began
always @* if (f_run && !rst) begin
    if (s_start) assume (room);
    if (s_valid || s_cancel) assume (f_under && !(s_valid && s_cancel));
    if (s_valid && s_next) assume (s_ready);
    if (f_has) assume (s_valid && {s_data, s_keep, s_last} == f_beat);
end
wire f_ends = s_cancel || (s_valid && s_next && s_last);
always @(posedge clk) begin
    f_has  <= s_valid && s_ready && !s_next && !rst;
    f_beat <= {s_data, s_keep, s_last};
end
reg  f_open;                            // the link has beats of a packet that is not whole
reg  f_lost;
reg  [2:0] f_since;                     // clocks since the last packet's end
always @(posedge clk) begin
    f_under <= s_start || (f_under && !f_ends);
    f_began <= s_start;
    f_room  <= has_room;
    if (s_start)              f_kept <= has_room || f_room;
    else if (f_began && gap)  f_kept <= 1'b0;
    if (m_cancel || (m_valid && m_ready)) f_open <= m_valid && !m_last;
    f_lost  <= f_ends && s_valid && !f_keep;
    f_since <= f_ends ? 3'd0 : f_since == 3'd7 ? 3'd7 : f_since + 3'd1;
    if (rst) {f_began, f_room, f_under, f_open, f_lost, f_since} <= 8'd7;
end
always @* if (f_run && !rst) begin
    // Beat by beat, or not at all.
    assert (m_valid == (s_valid && f_keep && !f_has));
    assert (s_ready == (m_ready || f_has || (f_under && !f_keep)));
    if (m_valid) assert ({m_data, m_keep, m_last} == {s_data, s_keep, s_last});
    assert (m_cancel == (s_cancel && f_open));
    if (f_open) assert (f_under && f_kept && !f_began);
    assert (ev_lost == f_lost);
    // has_room counts when it tells of the last packet.
    assert (room == ((has_room || overdue) && !f_under && f_since > 2));
    // The link goes on only between packets.
    if (admit) assert (!f_under);
    // What ties the registers together.
    assert (got == f_has);
    if (f_has) assert (f_under && !f_began && f_open == (f_kept && !s_last));
    assert (busy == f_under && begun == (f_open || (f_has && f_kept && s_last)) && starting == f_began && had_room == f_room);
    if (f_began) assert (f_under);
    assert (dropping == (f_under && !f_kept));
    assert (stale == (f_since > 2 ? 3'b000 : 3'b111 >> f_since));
end
reg f_gap;
always @(posedge clk) f_gap <= gap && !busy && !s_start && !admit && !rst;
always @* if (f_run && !rst) assert (admit == f_gap);
