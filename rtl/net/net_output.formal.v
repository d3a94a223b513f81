// Properties of net_output, included in it: each packet is given to the link whole, or is taken back there, or is dropped whole and counted;
// nothing is left of it when the next one begins.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// The crossbar's side of the contract: a packet begins while there is room, and has beats from the next clock on.
reg f_under, f_kept;                    // a packet has begun; there was room for it
always @* if (f_run && !rst) begin
    if (s_start) assume (room);
    if (s_valid || s_cancel) assume (f_under && !(s_valid && s_cancel));
end
wire f_ends = s_cancel || (s_valid && s_ready && s_last);
reg  f_open;                            // the link has beats of a packet that is not whole
reg  f_lost;
reg  [2:0] f_since;                     // clocks since the last packet's end
always @(posedge clk) begin
    f_under <= s_start || (f_under && !f_ends);
    if (s_start) f_kept <= has_room;
    if (m_cancel || (m_valid && m_ready)) f_open <= m_valid && !m_last;
    f_lost  <= f_ends && s_valid && !f_kept;
    f_since <= f_ends ? 3'd0 : f_since == 3'd7 ? 3'd7 : f_since + 3'd1;
    if (rst) {f_under, f_open, f_lost, f_since} <= 6'd7;
end
always @* if (f_run && !rst) begin
    // Beat by beat, or not at all.
    assert (m_valid == (s_valid && f_kept));
    assert (s_ready == (m_ready || (f_under && !f_kept)));
    if (m_valid) assert ({m_data, m_keep, m_last} == {s_data, s_keep, s_last});
    assert (m_cancel == (s_cancel && f_open));
    if (f_open) assert (f_under && f_kept);
    assert (ev_lost == f_lost);
    // has_room counts when it tells of the last packet.
    assert (room == ((has_room || overdue) && !f_under && f_since > 2));
    // The link goes on only between packets.
    if (admit) assert (!f_under);
    // What ties the registers together.
    assert (busy == f_under && begun == f_open);
    assert (dropping == (f_under && !f_kept));
    assert (stale == (f_since > 2 ? 3'b000 : 3'b111 >> f_since));
end
reg f_gap;
always @(posedge clk) f_gap <= gap && !busy && !s_start && !admit && !rst;
always @* if (f_run && !rst) assert (admit == f_gap);
