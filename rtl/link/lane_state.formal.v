// Properties of lane_state, included in it: frames go over a lane only while both ends hear each other in this life of the link, and it is
// left out only when it may be.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* assume (rst == !f_run);
always @* if (!f_run) assume (!up && !word && !init);          // whose reset is the same
always @* assume (!(word && init) && !(word_bad && (word || init)));     // link_split ends one word at a time

reg  f_was;                             // values of the clock before, if it was no reset
reg  f_heard, f_open, f_up, f_ack, f_sound, f_restart, f_leave, f_other, f_may, f_needed, f_init, f_word_stop, f_stop, f_ends;
reg  f_known, f_foreign;
reg  f_said;                            // in this life the peer has said that it hears this end, and nothing to the contrary since
reg  f_trial;
reg  [TRIALW-1:0] f_good;               // symbol times without a fault since it was left out, TRIAL at most
wire f_ends_now = (!up && !ack) || restart;
wire f_fault    = (up && (word_bad || frame_bad)) || silent;
always @(posedge clk) begin
    f_was <= !rst;
    {f_heard, f_open, f_up, f_ack, f_sound, f_restart} <= {heard, open, up, ack, sound, restart};
    {f_may, f_needed, f_init, f_ends, f_known} <= {may_leave, ack && none_open, init, f_ends_now, known};
    f_other <= init_else || foreign;
    f_foreign <= foreign;
    {f_word_stop, f_stop} <= {word_stop, stop};
    if (ack) f_said <= 1'b1;
    if (init_else || foreign || (init_same && !young) || f_ends_now) f_said <= 1'b0;
    f_trial <= on_trial;
    if (f_fault || (heard && may_leave && worn && !restart)) f_good <= 0;
    else if (f_good < TRIAL)                                 f_good <= f_good + tick;
    if (rst) {f_said, f_good} <= 0;
end
always @* if (f_run && f_was && !rst) begin
    // What frames go by.
    assert (open == (heard && sealed));
    if (open)  assert (f_said);
    if (f_ends) assert (!heard && !open);
    if (ack)   assert (word && !restart && (up || (known && fits && !anonymous)));
    // It is heard again when something good has come, and after it was left out not before it has been good for TRIAL, or is needed.
    if (heard && !f_heard) assert (score == 0);
    if (heard && !f_heard) assert (f_trial ? f_needed || f_good == TRIAL : f_sound);
    // It falls for another peer, at the end of the link's life, or if it may.
    if (!heard && f_heard) assert (f_may || f_other || f_ends);
    if (f_other) assert (!heard);
    if (closed) assert (f_open && !open);
    // What the peer says.
    assert (stop == (f_ack || f_init ? f_word_stop : f_stop));
    if (known && !f_known) assert (f_init);
    if (f_foreign && f_ack) assert (!foreign);
    // What ties the registers together; induction needs it.
    assert (!sealed || f_said);
    if (again || on_trial) assert (doublings <= `LP_LANE_TRIAL_DOUBLINGS);
    assert (f_good <= TRIAL);
    if (on_trial) assert (!heard && trial + f_good >= TRIAL);
end
