// Properties of link_replay: never more packets than the window; nothing is freed but what an acknowledgement in range names; every packet
// taken is held or counts as freed, as acknowledged if it was named and as lost if not; after a loss nothing is let in until `admit`. The
// sender's side (sent_seq, look) and the spacing of words are assumed as the contract states them.

reg [1:0] f_ran = 2'd0;
wire      f_run = f_ran[1];
always @(posedge clk) f_ran <= {f_ran[0] || f_run, f_ran[0]};
always @* assume (rst == !f_run);       // one reset of two clocks, at the start
always @* begin
    if (f_ran == 2'd1) assert (dropping && same && window_full && {loading, loaded_q, free, losing} == 4'd0);
    assert (f_ran != 2'd2);
end

// sent_seq goes up by one at a time, never past the packet being loaded, nor further ahead than the window.
wire f_begins = rst || restart || dropping;
(* anyseq *) wire f_send;
reg [7:0] f_sent;
wire [7:0] f_sent_span = f_sent - base_seq;
wire f_has = f_sent != load_seq && f_sent_span != `LP_WINDOW_MAX - 1;
always @(posedge clk)
    if (f_begins)             f_sent <= 8'd0;
    else if (f_send && f_has) f_sent <= f_sent + 8'd1;
always @* assume (sent_seq == f_sent);

// Words are at least six clocks apart, and ack_n stays for a clock; look is a pulse.
reg [2:0] f_gap;
reg       f_look;
reg [7:0] f_said;
always @(posedge clk) begin
    f_look <= look && !rst;
    if (rst)              f_gap <= 3'd6;
    else if (ack)         f_gap <= 3'd1;
    else if (f_gap != 6)  f_gap <= f_gap + 3'd1;
    f_said <= ack_n;
end
always @* begin
    if (f_gap != 6) assume (!ack);
    if (f_look)     assume (!look);
    if (check)      assume (ack_n == f_said);
end

// Who takes a packet back has begun one, and brings no byte meanwhile.
always @* if (cancel) assume (loading && !s_valid);
reg [15:0] f_load_from;                 // the packet that is being loaded
always @(posedge clk) if (!loading && accept) f_load_from <= next;
always @* if (f_run && loading) assert (first == f_load_from);
reg f_canceled;
always @(posedge clk) f_canceled <= cancel && !rst;
always @* if (f_run && f_canceled) assert (!loading && next == f_load_from);

// A packet has more than one byte; one that comes in a beat ends three clocks or more behind the one before.
reg f_ended, f_ended_q;
always @(posedge clk) {f_ended, f_ended_q} <= {loaded && !rst, f_ended};
always @* if (s_valid) begin
    if (WIDTH == 1 && !loading)      assume (!s_last);
    if (WIDTH != 1 && (f_ended || f_ended_q)) assume (!s_last);
end
always @* if (f_run) assert (f_ended == loaded_q);

wire [7:0] f_packets   = load_seq - base_seq;
wire [7:0] f_goal_span = goal - base_seq;
wire [7:0] f_goal_sent = f_sent - goal;
reg        f_base_moved;
always @(posedge clk) f_base_moved <= free;
always @* if (f_run) begin
    // The window, and who may begin a packet.
    assert (f_packets <= `LP_WINDOW_MAX);
    if (!dropping) assert (packets <= `LP_WINDOW_MAX && {1'b0, f_packets} <= {1'b0, packets} + loaded_q);
    if (loaded_q) assert (!loading);
    assert (same == (packets == 0));
    if (same)     assert (f_packets == {7'd0, loaded_q});
    if (!window_full || loading) assert (f_packets < `LP_WINDOW_MAX);
    if (dropping && !loading) assert (!s_ready);
    if (dropping && loading)  assert (s_ready);
    // What is acknowledged was sent, and what was sent is held.
    if (!dropping) assert (f_goal_span <= f_sent_span && f_sent_span <= f_packets && f_sent_span < `LP_WINDOW_MAX);
    if (!losing) assert (f_goal_span <= f_packets);
    if (losing) assert (dropping && f_packets <= `LP_WINDOW_MAX);
    if (dropping) assert (!check && !accepted && !acked && !progress);
    // Packets are freed up to what has been named, and only whole ones.
    if (check)    assert (f_gap == 1);
    if (free)     assert (losing ? f_packets != 0 : f_goal_span != 0);
end

// Its part of the contract with link_framer.
wire [7:0] f_told;
wire       f_replay_ok, f_unused_framer_ok;
link_window_rules #(.SEQ(8), .WINDOW(`LP_WINDOW_MAX)) f_rules (
    .clk(clk), .begins(f_begins), .base(base_seq), .sent(f_sent), .load(load_seq), .ack(ack), .ack_n(ack_n),
    .leaves(1'b0), .seq(8'd0), .named(f_told), .replay_ok(f_replay_ok), .framer_ok(f_unused_framer_ok)
);
always @* if (f_run) begin
    assert (f_replay_ok);
    if (!dropping && !restart) assert (f_told == (check && in_range ? ack_n : goal));
end

// What a host is told: how many of the packets taken are freed, and whether there are others; and that it is let in nowhere behind a loss,
// from the clock of the restart on.
reg [7:0] f_taken, f_acked;         // f_acked: since sequence numbers began
reg       f_loss, f_refused, f_restarted, f_empty;
wire      f_held = f_packets != 0 || loading;
wire [7:0] f_accounted = freed_packets + f_packets;
always @(posedge clk) begin
    f_taken     <= rst ? 8'd0 : f_taken + {7'd0, loaded};
    f_acked     <= rst || begins ? 8'd0 : f_acked + {7'd0, ev_acked};
    f_loss      <= !rst && (refused || (restart && !dropping && (goal != load_seq || loading || accept)) || (f_loss && !admit));
    f_refused   <= refused;
    f_restarted <= restart;
    f_empty     <= !f_held && !rst;
end
always @* if (f_run) begin
    assert (f_taken == f_accounted);
    assert (f_acked == (losing ? goal : base_seq));
    if (begins) assert (!f_held);
    assert (gap == f_loss);
    if (restart || dropping || (f_loss && !f_refused)) assert (!has_room && !takes);
    if (f_held) assert (queued);
    if (f_empty && !f_held && !f_restarted) assert (!queued);
end
