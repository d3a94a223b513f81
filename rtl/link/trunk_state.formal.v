// Properties of trunk_state, included in it: while the link is up its peer stands; who leaves UP has another epoch, and says so once; it
// leaves UP for a reason only; the last lane that is heard may not be left out.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

reg              f_up, f_ends, f_rst, f_word, f_heard;
reg [7:0]        f_epoch;
reg [47:0]       f_peer;
reg [LANES-1:0]  f_ack;
reg [48*LANES-1:0] f_said;
reg [SILENTW:0]  f_quiet;                // ticks without a word since UP began
reg [SKEWW:0]    f_age;
reg              f_asked, f_alone, f_gone, f_gone_q;
integer f_k;
always @(posedge clk) begin
    f_up    <= up;
    f_rst   <= rst;
    f_ack   <= ack;
    for (f_k = 0; f_k < LANES; f_k = f_k + 1) f_said[48*f_k +: 48] <= {life[32*f_k +: 32], node[16*f_k +: 16]};
    f_epoch <= epoch;
    f_peer  <= {peer_life, peer_node};
    f_asked <= give_up || renew;
    f_alone <= up && heard == 0 && !(|ack) && !rst;
    f_heard <= f_alone;
    f_quiet <= |ack || !up ? 0 : f_quiet + (tick && f_quiet <= SILENCE);
    f_ends  <= f_quiet >= SILENCE && !rst;
    f_gone  <= SILENCE != 0 && f_quiet >= SILENCE && up && !(|ack) && !rst;
    f_gone_q <= f_gone;
    f_age   <= !up ? 0 : f_age + (tick && f_age < `LP_LANE_SKEW);
end
reg [LANES-1:0] f_lowest;
always @* f_lowest = f_ack & ~(f_ack - 1'b1);
reg [47:0] f_first;
always @* begin
    f_first = 48'd0;
    for (f_k = 0; f_k < LANES; f_k = f_k + 1) if (f_lowest[f_k]) f_first = f_first | f_said[48*f_k +: 48];
end
always @* if (f_run && !rst) begin
    if (f_rst) assert (!up && !restart);
    else begin
        assert (restart == (f_up && !up));
        assert (epoch != 0 || f_epoch == 0);
        assert (epoch == (restart ? (&f_epoch ? 8'd1 : f_epoch + 8'd1) : f_epoch));
        if (f_up && up)  assert ({peer_life, peer_node} == f_peer);
        if (up && !f_up) assert (f_ack != 0 && {peer_life, peer_node} == f_first);
        // Nobody heard, nothing said for so long, or one of the two was asked for.
        if (restart) assert (f_asked || f_heard || f_ends);
        if (f_up && (f_asked || f_heard || f_gone_q)) assert (restart);
        if (up && f_age == `LP_LANE_SKEW) assert (!young);
        if (young)  assert (!up || f_age < `LP_LANE_SKEW);
    end
    // One lane at a time, and another one is heard.
    assert (scan != 0 && (scan & (scan - ONE)) == 0);
    assert ((may_leave & (may_leave - ONE)) == 0);
    if (may_leave != 0) assert ((heard & ~may_leave) != 0);
    assert (f_rst || age == f_age);
end
generate
    if (SILENCE != 0) begin : g_f_silence
        always @* if (f_run && !rst && !f_rst) begin
            assert (g_silence.since == (f_quiet < SILENCE ? f_quiet : SILENCE));
            if (g_silence.gone) assert (f_ends);
        end
    end
endgenerate
