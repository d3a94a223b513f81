// Properties of trunk_order, included in it: whatever lanes bring, and in whatever order, what is delivered are the expected numbers, one
// after the other, each once; a frame that may still be wanted is never dropped; and LOST is not said while a lane shows the expected one.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);
wire f_begins = rst || restart;

// The lanes' side of the contract: a beat stands until it is taken, and a number is that of all beats of its frame. What is doomed stays
// so.
reg  [LANES-1:0]   f_stands, f_within, f_doomed;
reg  [8*LANES-1:0] f_seq;
reg  [LANES-1:0]   f_last;
reg                f_was;
integer f_i;
always @(posedge clk) begin
    f_was    <= !f_begins;
    f_stands <= h_valid & ~h_ready;
    f_within <= f_begins ? {LANES{1'b0}} : (h_valid & h_ready & ~h_last) | (f_within & ~(h_valid & h_ready));
    f_seq    <= h_seq;
    f_last   <= h_last;
    f_doomed <= h_doomed;
end
always @* if (f_run && f_was && !f_begins)
    for (f_i = 0; f_i < LANES; f_i = f_i + 1) begin
        if (f_stands[f_i]) assume (h_valid[f_i] && h_last[f_i] == f_last[f_i] && (h_doomed[f_i] || !f_doomed[f_i]));
        if (f_stands[f_i] || f_within[f_i]) assume (h_seq[8*f_i +: 8] == f_seq[8*f_i +: 8]);
    end
always @* if (f_begins) assume (h_valid == 0);

// What is being dropped was doomed, or behind, when that began.
reg [LANES-1:0] f_useless;
always @(posedge clk)
    for (f_i = 0; f_i < LANES; f_i = f_i + 1)
        if (!f_within[f_i] && !drains[f_i])
            f_useless[f_i] <= h_doomed[f_i] || expected - h_seq[8*f_i +: 8] - 8'd1 < 8'd128;

reg [7:0] f_expected;
reg       f_finished, f_said;
reg [LANES-1:0] f_mine;
always @(posedge clk) begin
    f_expected <= f_begins ? 8'd0 : expected;
    f_finished <= finish && !f_begins;
    f_said     <= lost && !f_begins;
    f_mine     <= mine;
end
wire [LANES-1:0] f_from = {{LANES-1{1'b0}}, copies} << from;
always @* if (f_run && f_was && !f_begins) begin
    assert (expected == f_expected + {7'd0, f_finished});
    assert (from < LANES);
    if (copies) assert (h_seq[8*from +: 8] == expected && (h_valid[from] || f_within[from]));
    if (move)   assert (h_seq[8*from +: 8] == expected);
    assert ((drains & f_from) == 0);
    assert ((f_within & ~drains & ~f_from) == 0);
    for (f_i = 0; f_i < LANES; f_i = f_i + 1)
        if (drains[f_i]) assert (f_useless[f_i]);
    if (lost && !f_said) assert (f_mine == 0);
end
