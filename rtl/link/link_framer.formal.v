// Properties of link_framer: it keeps its part of link_window_rules, whatever the line takes and the peer says. The replay buffer is any that
// keeps its part, with any bytes and any places.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// The replay buffer's side of the contract.
reg       f_looked;
reg [7:0] f_load;
always @(posedge clk) begin
    f_looked <= look && !rst && !restart;
    f_load   <= rst || restart ? 8'd0 : load_seq + {7'd0, loaded};
end
always @* if (f_run) begin
    assume (load_seq == f_load && look_done == f_looked);
    assume (!loaded || load_seq - base_seq != `LP_WINDOW_MAX);
end

// Whether a frame has been abandoned amid its bytes, and the place of its packet's beginning not been taken up since.
reg f_astray;
always @(posedge clk)
    if (rst || restart || rewind) f_astray <= 1'b0;
    else if (leave)               f_astray <= 1'b1;

// The number in the frame that stands at the port.
reg       f_first;
reg [7:0] f_seq;
always @(posedge clk) if (f_valid && f_take) begin
    f_first <= f_sym == `LP_SYM_SOP;
    if (f_first) f_seq <= f_sym[7:0];
end

wire f_ends = f_valid && f_sym == `LP_SYM_EOP;
wire f_replay_ok, f_framer_ok;
wire [7:0] f_named;
(* anyseq *) wire       f_ack;
(* anyseq *) wire [7:0] f_ack_n;
link_window_rules #(.SEQ(8), .WINDOW(`LP_WINDOW_MAX)) f_rules (
    .clk(clk), .begins(rst || restart), .base(base_seq), .sent(sent_seq), .load(load_seq), .ack(f_ack), .ack_n(f_ack_n),
    .leaves(f_ends && f_take), .seq(f_seq), .named(f_named), .replay_ok(f_replay_ok), .framer_ok(f_framer_ok)
);
always @* assume (f_replay_ok);

wire [7:0] f_back     = sent_seq - send_seq;
wire [7:0] f_behind   = sent_seq - f_seq;
wire [7:0] f_underway = sent_seq - base_seq;
wire [7:0] f_held     = load_seq - base_seq;
always @* if (f_run && !rst && !restart) begin
    assert (f_framer_ok);
    if (begin_frame) assert (!f_astray);
    // Why: where the frame being sent stands.
    assert (f_back < `LP_WINDOW_MAX);
    assert (f_underway < `LP_WINDOW_MAX && f_underway <= f_held && f_held <= `LP_WINDOW_MAX);
    assert (state <= END);
    if (send_seq == sent_seq && (state != IDLE || !closed)) assert (f_underway < `LP_WINDOW_MAX - 1);
    if (state == CRC || state == END || (end_known && state != IDLE)) assert (send_seq != load_seq);
    if (looked && state != IDLE) assert (send_seq != load_seq);
    assert (looked == f_looked);
    if (f_astray) assert (state == IDLE && go_back);
    // What stands at the port.
    if (f_valid) assert ((f_sym == `LP_SYM_SOP) == (state == SEQ));
    if (f_valid && state == DATA && f_sym[8] == 0 && f_first) assert (f_sym[7:0] == send_seq);
    if (state == DATA || state == CRC || state == END) assert (f_first ? f_valid && f_sym == {1'b0, send_seq} : f_seq == send_seq);
    if (f_ends) assert (state == IDLE && !f_first && f_behind != 0 && f_behind <= `LP_WINDOW_MAX);
end
