// Properties of trunk_issue, included in it: packets begin in their order, each for the first time before the next, and each with its own
// place in the buffer; a frame begins only while it is less than half the numbers beyond `safe`; and what `safe` moves to no frame in a
// lane is before, nor has been for SKEW symbol times. What follows from that for a whole trunk is proven in trunk_window.formal.v.
//
// Numbers that end in _g count on where those of SEQ bits come round. All that are compared are shown to lie within half of these.

localparam FW = SEQ + 2, HALF = 1 << (SEQ - 1);
reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* assume (rst == !f_run && !restart);   // one life of the link

// link_replay's side (link_window_rules): packets are loaded and freed one by one, no more than the window are held, and what is freed was
// sent. Of one packet, whichever the solver likes, it says where it stands.
(* anyseq *)   wire f_loads, f_frees;
(* anyconst *) wire [FW-1:0] f_packet;
(* anyconst *) wire [POINTER-1:0] f_before, f_last;
reg  [FW-1:0] f_base_q, base_g, load_g, sent_g, next_g, safe_g, later_g;
wire [FW-1:0] f_after = next_g + 1'b1, f_held = load_g - base_g, f_unsaid = sent_g - base_g;
always @* begin
    assume (base_seq == base_g[SEQ-1:0] && load_seq == load_g[SEQ-1:0]);
    if (base_g == f_packet) assume (base == f_before);
    if (next_g == f_packet && looked && look_done) assume (look_last == f_last);
    if (f_after == f_packet && looked && look_done) assume (look_last == f_before);
    if (f_loads) assume (f_held < HALF);
    if (f_frees) assume (f_unsaid != 0);
    if (look_done) assume (looked);
end

// lane_framer's side: a lane holds what it was given until it is done, the older first, and takes one while it has room for it.
reg  [2*LANES-1:0]    f_in;
reg  [2*LANES*FW-1:0] f_number;
integer f_k;
always @* for (f_k = 0; f_k < LANES; f_k = f_k + 1) begin
    assume (sends[2*f_k +: 2] == f_in[2*f_k +: 2]);
    assume (!f_in[2*f_k] || seqs[2*SEQ*f_k +: SEQ] == f_number[2*f_k*FW +: SEQ]);
    assume (!f_in[2*f_k + 1] || seqs[2*SEQ*f_k + SEQ +: SEQ] == f_number[(2*f_k+1)*FW +: SEQ]);
    assume (!ready[f_k] || !f_in[2*f_k + 1]);
    if (done[f_k]) assume (f_in[2*f_k] && done_seqs[SEQ*f_k +: SEQ] == f_number[2*f_k*FW +: SEQ]);
end
reg [SKEWW:0] f_for;                    // symbol times for which no frame before later_g has been in a lane
always @(posedge clk) begin
    base_g <= base_g + f_frees;
    load_g <= load_g + f_loads;
    if (given && next_g == sent_g) sent_g <= sent_g + 1'b1;
    next_g <= rewind ? base_g : next_g + given;
    if (!settles && !stale && base_q != safe) later_g <= f_base_q;
    if (settles && tick && wait_for == 1) safe_g <= later_g;
    for (f_k = 0; f_k < LANES; f_k = f_k + 1) begin
        if (done[f_k]) begin
            f_in[2*f_k +: 2] <= {1'b0, f_in[2*f_k + 1]};
            f_number[2*f_k*FW +: FW] <= f_number[(2*f_k+1)*FW +: FW];
        end
        if (give[f_k]) begin
            if (f_in[2*f_k] && !done[f_k]) {f_in[2*f_k + 1], f_number[(2*f_k+1)*FW +: FW]} <= {1'b1, next_g};
            else                           {f_in[2*f_k], f_number[2*f_k*FW +: FW]} <= {1'b1, next_g};
        end
    end
    f_for <= !settles ? 0 : f_for + (tick && f_for < SKEW);
    if (reset) begin
        {base_g, load_g, sent_g, next_g, safe_g, later_g} <= 0;
        {f_in, f_for} <= 0;
    end
end
always @(posedge clk) f_base_q <= reset ? 0 : base_g;

// Everything lies within half the numbers from `safe` on.
wire [FW-1:0] f_next = next_g - safe_g, f_base = base_g - safe_g, f_sent = sent_g - safe_g, f_later = later_g - safe_g;
wire [FW-1:0] f_base_was = f_base_q - safe_g;
reg  [FW-1:0] f_there, f_here;
reg           f_stale;
always @* begin
    f_stale = 1'b0;                     // a frame before base_g is in a lane
    for (f_k = 0; f_k < 2 * LANES; f_k = f_k + 1) begin
        f_there = f_number[f_k*FW +: FW] - safe_g;
        if (f_in[f_k] && f_there < f_base) f_stale = 1'b1;
    end
end
reg f_old, f_behind_q, f_rewound, f_first;
always @(posedge clk) {f_old, f_behind_q} <= {f_stale, f_next < f_base};
always @* if (f_run) begin
    assert ({base_seq, load_seq, sent_seq} == {base_g[SEQ-1:0], load_g[SEQ-1:0], sent_g[SEQ-1:0]});
    assert ({next_seq, safe} == {next_g[SEQ-1:0], safe_g[SEQ-1:0]});
    if (settles) assert (later == later_g[SEQ-1:0] && f_later <= f_base);
    assert (f_base <= f_sent && f_unsaid <= f_held && f_held <= HALF);
    assert (f_next <= f_sent && f_sent < HALF);
    assert (f_base_was <= f_base && (stale || f_next >= f_base_was));
    if (settles) assert (f_next >= f_later);
    // What begins.
    assert ((give & (give - 1'b1)) == 0 && (give & ~ready) == 0);
    if (given) begin
        assert (f_next < HALF - 1 && next_g != load_g && f_next <= f_sent);
        if (next_g == f_packet && f_next >= f_base) assert (first == f_before + 1'b1 && last == f_last);
    end
    // What is in lanes, and what that says of `safe`.
    for (f_k = 0; f_k < 2 * LANES; f_k = f_k + 1) begin
        f_here = f_number[f_k*FW +: FW] - safe_g;
        if (f_in[f_k]) assert (f_here < f_sent && (!settles || f_here >= f_later) && (stale || f_here >= f_base_was));
    end
    for (f_k = 0; f_k < LANES; f_k = f_k + 1) assert (f_in[2*f_k] || !f_in[2*f_k + 1]);
    if (settles) assert (f_for + wait_for == SKEW && wait_for != 0);
    // What ties the registers together; induction needs it.
    if (f_first) assert ({f_base_q, base_g, load_g, sent_g, next_g, safe_g, f_in} == 0 && !have && !looked && rewind && stale && !settles);
    if (!f_first && next_g == f_packet && f_next >= f_base) assert (prior == f_before);
    if (have && next_g == f_packet) assert (last == f_last);
    if (have && f_after == f_packet) assert (last == f_before);
    assert (!(have && looked));
    if (have || looked) assert (next_g != load_g);
    assert (f_first || base_q == f_base_q[SEQ-1:0] && (base_g == f_base_q || base_g == f_base_q + 1'b1));
    assert (behind == (f_behind_q && !f_rewound) || f_first);
    if (!stale) assert (!f_old && !f_behind_q);
    assert (turn != 0 && (turn & (turn - 1'b1)) == 0);
end
always @(posedge clk) {f_rewound, f_first} <= {rewind, reset};
