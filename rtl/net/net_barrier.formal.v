// Properties of net_barrier, included in it. One group, f_group, is followed through one life, that of generation f_gen.
//
// Of each port the solver counts the phases that all members behind it have entered (f_side), and raises that when it likes. A word of this
// life may come if it is true and less than 16 phases old, as doc/protocol.md has it of cables: it may be lost, doubled, and come late.
// A word of any other generation or group may say what it likes. Shown is that what the unit says by a link is true of all its other
// ports. So it is true at the other end, which is all that the proof takes for granted there, and by induction over the tree's cables
// no member leaves a phase that another has not entered.
//
// Numbers of phases do not come round: a life has MOST of them.

localparam [7:0] MOST = 8'd200;
localparam [7:0] APART = 8'd1 << `LP_BARRIER_BITS;
reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* assume (rst == !f_run);

(* anyconst *) wire [3:0] f_gen;
wire [3:0]   f_w_gen = f_word[EW-1 -: 4], f_w_phase = f_word[EW-5 -: 4];
wire [N-1:0] f_w_entered = f_word[N +: N], f_w_ports = f_word[N-1:0];

// The caller's side of reg_*.
reg         f_asked, f_answered, f_q_write;
reg  [6:0]  f_q_addr;
reg  [31:0] f_q_wdata;
always @(posedge clk) begin
    f_asked    <= reg_en && !reg_done && !rst;
    f_answered <= reg_done;
    {f_q_write, f_q_addr, f_q_wdata} <= {reg_write, reg_addr, reg_wdata};
end
always @* if (f_run) begin
    if (f_asked) assume (reg_en && {reg_write, reg_addr, reg_wdata} == {f_q_write, f_q_addr, f_q_wdata});
    if (f_answered) assume (!reg_en);
end

// The life begins when MEMBERS is written with its generation and ports, which is done once, and ends when its generation gives it up.
wire f_mine   = group == f_group;
wire f_renews = step == STORE && f_mine && renews;
wire f_claims = reg_wdata[N-1:0] != 0;
wire f_begins = f_renews && reg_wdata[`LP_BARRIER_GENERATION_LSB +: 4] == f_gen && f_claims;
reg  f_lives, f_lived;
reg  [N-1:0] f_members;         // ports of the group in this life
reg  [7:0]   f_phase;           // that all have entered
wire f_all = step == STORE && f_mine && !renews && all && f_lives;
always @(posedge clk) begin
    if (f_renews) begin
        {f_lives, f_phase} <= {f_begins, 8'd0};
        if (f_begins) {f_lived, f_members} <= {1'b1, reg_wdata[N-1:0]};
    end
    f_phase <= f_renews ? 8'd0 : f_phase + f_all;
    if (rst) {f_lives, f_lived} <= 2'b00;
end
always @* if (f_run) begin
    assume (!(f_begins && f_lived));
    assume (f_phase < MOST);
    if (f_renews && f_lives) assert (!f_claims && reg_wdata[`LP_BARRIER_GENERATION_LSB +: 4] == f_gen);     // nobody else takes the number
end

// Phases behind each port, and the phase that each word which waits is of.
(* anyseq *) wire [N-1:0]       f_enters;
(* anyseq *) wire [8*PORTS-1:0] f_comes;        // the phase of what is heard
(* anyseq *) wire [7:0]         f_own;          // the phase of what the node itself enters
reg  [8*N-1:0]     f_side;
reg  [8*PORTS-1:0] f_waits;
reg  [7:0]         f_read;      // phase when the register was read
reg                f_read_lives;
genvar f_p;
generate
    for (f_p = 0; f_p < N; f_p = f_p + 1) begin : f_port
        wire [7:0] f_in = f_side[8*f_p +: 8];
        always @(posedge clk) f_side[8*f_p +: 8] <= !f_run ? 8'd0 : f_in + f_enters[f_p];
        always @* if (f_run) begin
            assume (f_in < MOST + 8'd20);
            if (f_lives && f_w_ports[f_p]) assert (f_in >= f_phase);
            if (f_lives && f_w_entered[f_p]) assert (f_in > f_phase);
            if (f_lives && f_mine && (step == JUDGE || step == STORE) && said[f_p]) assert (f_in > f_phase);
        end
    end
    for (f_p = 0; f_p < PORTS; f_p = f_p + 1) begin : f_link
        wire [12:0] f_heard = heard[14*f_p +: 13], f_kept = words[13*f_p +: 13];
        wire [7:0]  f_of = f_comes[8*f_p +: 8], f_kept_of = f_waits[8*f_p +: 8];
        wire        f_ours = f_kept[12:4] == {f_group, f_gen};
        always @(posedge clk) if (heard[14*f_p+13]) f_waits[8*f_p +: 8] <= f_of;
        always @* if (f_run) begin
            if (heard[14*f_p+13] && f_heard[12:4] == {f_group, f_gen})
                assume (f_of[3:0] == f_heard[3:0] && f_of <= f_side[8*(f_p+1) +: 8]);
            if (clearing) assume (!heard[14*f_p+13]);
            if (waits[f_p] && f_ours) begin
                assert (f_kept_of[3:0] == f_kept[3:0] && f_kept_of <= f_side[8*(f_p+1) +: 8]);
                if (f_mine && step == LOOK && f_lives) assume (f_kept_of + APART > f_phase + 8'd1 && f_kept_of < f_phase + 8'd1 + APART);
            end
            if (step == LOOK && f_mine && f_lives && waits[f_p] && f_ours && f_kept_of != f_phase + 8'd1) assert (!hits[f_p+1]);
            if (step == LOOK && f_mine && !(waits[f_p] && f_kept[12:4] == {f_group, generation})) assert (!hits[f_p+1]);
        end
    end
endgenerate
always @* if (f_run && f_lives && f_mine && step == LOOK && asks && reg_write && number == `LP_BARRIER_PHASE && reg_wdata[7:4] == f_gen)
    assume (f_own[3:0] == reg_wdata[3:0] && f_own <= f_side[7:0] && f_own + APART > f_phase + 8'd1 && f_own < f_phase + 8'd1 + APART);

// The group's entry is this life's, and what is being done with it.
always @* if (f_run) begin
    assert (step == CHOOSE || step == LOOK || step == JUDGE || step == STORE);
    if (clearing) assert (step == CHOOSE && !f_lived && waits == 0 && s_valid == 0);
    if (!clearing || f_group < cleared[4:0]) begin
        assert ((f_w_entered & ~f_w_ports) == 0);
        if (!f_lives) assert (f_w_gen != f_gen || f_w_ports == 0);
    end
    if (f_lives) assert (f_lived && f_members != 0 && f_w_gen == f_gen && f_w_phase == f_phase[3:0] && f_w_ports == f_members);
    if (step != CHOOSE) assert (!(asks && scans));
    if (done) assert (step == STORE && asks);
    if (step != CHOOSE && asks) assert (reg_en && reg_addr[6:2] == group);
    if (step != CHOOSE && f_mine) begin
        assert (entry == f_word);
        if (step != LOOK) begin
            assert ((said & ~ports) == 0 && (entered & ~said) == 0);
        end
        if (step == STORE && !news && !renews) assert (after == entry);      // what is stale changes nothing
    end
end

// What is being said is true of all other members, and no more than of this life.
reg [7:0] f_says;
always @(posedge clk) if (step == JUDGE && speaks && s_valid == 0) f_says <= forward || all ? f_phase + 8'd1 : f_phase;
generate
    for (f_p = 0; f_p < PORTS; f_p = f_p + 1) begin : f_say
        genvar f_o;
        for (f_o = 0; f_o < N; f_o = f_o + 1) begin : f_rest
            always @* if (f_run && s_valid[f_p] && s_word[12:4] == {f_group, f_gen} && f_lived && f_members[f_o] && f_o != f_p + 1)
                assert (f_says[3:0] == s_word[3:0] && f_members[f_p+1] && f_side[8*f_o +: 8] >= f_says);
        end
    end
endgenerate
always @* if (f_run && s_valid != 0 && s_word[12:4] == {f_group, f_gen} && !f_lived) assert (1'b0);

// What the node reads, and so may leave, all members have entered.
always @(posedge clk) if (step == LOOK) {f_read, f_read_lives} <= {f_phase, f_lives && f_mine};
generate
    for (f_p = 0; f_p < N; f_p = f_p + 1) begin : f_reads
        always @* if (f_run && step != CHOOSE && step != LOOK && f_read_lives && asks && number == `LP_BARRIER_PHASE) begin
            assert (f_mine && reg_value == {24'd0, f_gen, f_read[3:0]} && f_read <= f_phase);
            if (f_members[f_p]) assert (f_side[8*f_p +: 8] >= f_read);
        end
    end
endgenerate

// Who says the next phase is heard: each link that lives is told what is to be said, as soon as all have taken what was said before.
// None waits for a link that is down.
reg               f_spoke, f_could;
reg  [PORTS-1:0]  f_to, f_alive;
always @(posedge clk)
    {f_spoke, f_could, f_to, f_alive} <= {step == JUDGE && speaks && f_run && !rst, s_valid == 0, to & alive, alive};
always @* if (f_run) begin
    if (f_spoke && f_could) assert (s_valid == f_to);
    if (f_spoke && !f_could) assert (step == JUDGE && speaks && !done);
    assert ((s_valid & ~f_alive) == 0);
end

// A word that waits is looked at within LOOKED clocks: those of the round before it, those of its own round, and a request before
// each. That holds as long as no word takes the place of one for another group that waits; clocks in which the unit waits for a link
// do not count.
localparam [7:0] LOOKED = 16 * (PORTS - 1) + 9;
(* anyconst *) wire [$clog2(PORTS+1)-1:0] f_one;
always @* assume (f_one < PORTS);
reg [7:0] f_age;
reg       f_calm;
reg [PORTS-1:0] f_other;        // links by which a word comes for another group than one that waits
reg [7:0] f_before, f_next;     // turns of links until it is looked at, its own included; clocks until the first of them has been
integer   f_i;
always @* begin
    f_before = left[f_one] ? 8'd0 : PORTS;
    for (f_i = 0; f_i < PORTS; f_i = f_i + 1) begin
        if (left[f_i] && (f_i <= f_one || !left[f_one])) f_before = f_before + 8'd1;
        f_other[f_i] = waits[f_i] && heard[14*f_i+13] && heard[14*f_i+8 +: 5] != words[13*f_i+8 +: 5];
    end
    f_next = step == CHOOSE ? (asked ? 8'd6 : 8'd2) : asks ? (step == LOOK ? 8'd5 : step == JUDGE ? 8'd4 : 8'd3)
        : step == LOOK ? 8'd9 : step == JUDGE ? 8'd8 : 8'd7;
end
always @(posedge clk) begin
    f_age  <= came[f_one] || !waits[f_one] ? 8'd0 : f_age + !held;
    f_calm <= (came[f_one] || !waits[f_one] || f_calm) && f_other == 0;
end
always @* if (f_run) begin
    if (waits[f_one] && f_calm && !same[f_one]) assert (f_age + 8 * (f_before - 8'd1) + f_next <= LOOKED);
end
