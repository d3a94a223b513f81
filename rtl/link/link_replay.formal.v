// Properties of link_replay: never more packets than the window; nothing is freed but what an acknowledgement in range names; every packet
// taken is held or counts as freed; after a loss nothing is let in until `admit`. The sender's side (sent_seq, look) and the spacing of words are assumed as the contract states them.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);
always @* assume (!(rst && f_run)); // one reset, at the start

// sent_seq goes up by one at a time and never past the packet being loaded.
(* anyseq *) wire f_send;
reg [7:0] f_sent;
wire f_has = f_sent != load_seq;
always @(posedge clk)
    if (rst || restart)       f_sent <= 8'd0;
    else if (f_send && f_has) f_sent <= f_sent + 8'd1;
always @* assume (sent_seq == f_sent);

// Words are at least six clocks apart; look is a pulse.
reg [2:0] f_gap;
reg       f_look;
reg [7:0] f_named;
always @(posedge clk) begin
    f_look <= look && !rst;
    if (rst)              f_gap <= 3'd6;
    else if (ack)         f_gap <= 3'd1;
    else if (f_gap != 6)  f_gap <= f_gap + 3'd1;
    if (ack) f_named <= ack_n;
end
always @* begin
    if (f_gap != 6) assume (!ack);
    if (f_look)     assume (!look);
end

// A packet has more than one byte.
always @* if (s_valid && !loading && !discarding) assume (!s_last);

wire [7:0] f_sent_span = f_sent - base_seq;
always @* if (f_run) begin
    // The window, and who may begin a packet.
    assert (packets <= `LP_WINDOW_MAX && packets_q <= `LP_WINDOW_MAX);
    assert ({1'b0, packets} <= {1'b0, packets_q} + loaded_q);
    if (loaded_q) assert (!loading);
    if (!window_full || loading) assert (packets < `LP_WINDOW_MAX);
    assert (!(loading && discarding));
    // Sent packets are among those held.
    assert (f_sent_span <= packets);
    // An acknowledgement on its way: what it names, how far it reaches.
    if (check || wanted || found) assert (ack_seq == f_named && ack_span == (ack_seq - base_seq) % 256);
    if (check) assert (sent_span <= f_sent_span && !wanted && !found && f_gap == 1);
    if (wanted) assert (ack_span <= f_sent_span && ack_span != 0 && f_gap >= 2 && f_gap <= 4);
    if (found) assert (wanted && f_gap >= 3);
    if (wanted && f_gap == 3) assert (found || f_look);
    if (wanted && f_gap == 4) assert (found);
end

// Its part of the contract with link_framer.
wire [7:0] f_told;
wire       f_replay_ok, f_unused_framer_ok;
link_window_rules #(.SEQ(8), .WINDOW(`LP_WINDOW_MAX)) f_rules (
    .clk(clk), .begins(rst || restart), .base(base_seq), .sent(f_sent), .load(load_seq), .ack(ack), .ack_n(ack_n),
    .leaves(1'b0), .seq(8'd0), .named(f_told), .replay_ok(f_replay_ok), .framer_ok(f_unused_framer_ok)
);
always @* if (f_run) begin
    assert (f_replay_ok);
    if (check || wanted || found) assert (f_told == f_named);
end

// What a host is told: how many of the packets taken are freed, and whether there are others; and that it is let in nowhere behind a loss,
// from the clock of the restart on.
reg [7:0] f_taken;
reg       f_loss, f_refused, f_restarted, f_empty;
wire      f_held = packets != 0 || loading;
always @(posedge clk) begin
    f_taken     <= rst ? 8'd0 : f_taken + {7'd0, accept && s_last};
    f_loss      <= !rst && (refused || (restart && (f_held || write)) || (f_loss && !admit));
    f_refused   <= refused;
    f_restarted <= restart;
    f_empty     <= !f_held && !rst;
end
always @* if (f_run) begin
    assert (f_taken == (freed_packets + (dropping ? dropped : 8'd0) + packets) % 256);
    if (discarding) assert (packets == 0 && !loading);
    if (dropping && !f_restarted) assert (!found && dropped == 1);
    assert (gap == f_loss);
    if (restart || (f_loss && !f_refused)) assert (!has_room);
    if (f_held) assert (queued);
    if (f_empty && !f_held && !f_restarted) assert (!queued);
end
