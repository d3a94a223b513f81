// Properties of net_barrier, included in it. One group, f_group, is followed through one life, that of generation f_gen.
//
// Of each port the solver counts the phases that all members behind it have entered (f_side), and raises that when it likes. A word of this
// life may come if it is true and less than 16 phases old, as doc/protocol.md has it of cables: it may be lost, doubled, and come late.
// A word of any other generation or group may say what it likes, and words may begin that never come. Shown is that what the unit says by a
// link is true of all its other ports. So it is true at the other end, which is all that the proof takes for granted there, and by
// induction over the tree's cables no member leaves a phase that another has not entered.
//
// Numbers of phases do not come round: a life has MOST of them.

localparam [7:0] MOST = 8'd200;
localparam [7:0] APART = 8'd1 << `LP_BARRIER_BITS;
reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* assume (rst == !f_run);

(* anyconst *) wire [3:0] f_gen;
wire [3:0]   f_w_gen = f_word[EW-1 -: 4], f_w_phase = f_word[EW-5 -: 4];
wire         f_w_phase_owed = f_word[2*N+1], f_w_next_owed = f_word[2*N];
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

// One port after the other is at its turn, for three clocks; in the fourth it is judged, and the next one chosen.
reg          f_judges;
reg  [N-1:0] f_by;              // who says what is judged
wire         f_mine = group == f_group;
always @(posedge clk) {f_judges, f_by} <= {looks && !rst, by};
always @* if (f_run) begin
    assert ((chooses || (at != 0 && (at & (at - 1'b1)) == 0)) && step != 0 && (step & (step - 1'b1)) == 0);
    if (f_judges) assert (step == CHOOSE && (f_by & (f_by - 1'b1)) == 0 && missing == (ports & ~entered & ~f_by));
    else assert (!walks && !news && !renews && !reg_done && !again && !skips);
    assert (walks + news + renews <= 2'd1 && !(walks && reg_done) && !(news && renews));
    if (walks || renews) assert (f_by == 0);
    if (renews) assert (reg_done);
    assert (({N{1'b1}} & (left << 1) & ~left) == 0);      // the upper ones
    if (news) assert ((f_by & ports & ~entered) != 0);
    if (walks) assert (group == walk && !asks);
    if (again || skips) assert (walks && due && !clearing && empty == skips);
    if (reg_done) assert (asks && reg_en && reg_addr[6:2] == group);
    if (step == LOOK) assert (group == begun && ((at[0] && !asks) || value == word[7:0]));
    if (step != CHOOSE && at[0] && asks) assert (reg_en);
    if ((step == LOOK || f_judges) && f_mine) assert (entry == f_word);
    if (f_judges && free) assert (s_valid == 0);
    if (f_judges && same) assert (s_word == {group, generation, next});
end

// The life begins when MEMBERS is written with its generation and ports, which is done once, and ends when its generation gives it up.
wire f_renews = f_mine && renews;
wire f_claims = reg_wdata[N-1:0] != 0;
wire f_begins = f_renews && reg_wdata[`LP_BARRIER_GENERATION_LSB +: 4] == f_gen && f_claims;
reg  f_lives, f_lived;
reg  [N-1:0] f_members;         // ports of the group in this life
reg  [7:0]   f_phase;           // that all have entered
wire f_all = f_mine && all && f_lives;
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
reg  [7:0]         f_turn;      // that of the word at its turn
reg  [7:0]         f_read;      // phase when the register was read
reg                f_read_lives;
integer            f_i;
always @(posedge clk) for (f_i = 0; f_i < PORTS; f_i = f_i + 1) if (chooses && first[f_i+1]) f_turn <= f_waits[8*f_i +: 8];
wire               f_looked = step == LOOK && f_mine && f_lives;
genvar f_p;
generate
    for (f_p = 0; f_p < N; f_p = f_p + 1) begin : f_port
        wire [7:0] f_in = f_side[8*f_p +: 8];
        always @(posedge clk) f_side[8*f_p +: 8] <= !f_run ? 8'd0 : f_in + f_enters[f_p];
        always @* if (f_run) begin
            assume (f_in < MOST + 8'd20);
            if (f_lives && f_w_ports[f_p]) assert (f_in >= f_phase);
            if (f_lives && f_w_entered[f_p]) assert (f_in > f_phase);
            if (f_lives && f_mine && news && ports[f_p] && !missing[f_p]) assert (f_in > f_phase);
        end
    end
    for (f_p = 0; f_p < PORTS; f_p = f_p + 1) begin : f_link
        wire [12:0] f_zero = f_words[64*f_p +: 13], f_zero_too = f_words[64*f_p+16 +: 13], f_read_word = words[16*f_p +: 13];
        wire [12:0] f_kept = place[f_p] ? f_words[64*f_p+32 +: 13] : f_words[64*f_p+48 +: 13];
        wire [4:0]  f_begun = place[f_p] ? f_words[64*f_p+56 +: 5] : f_words[64*f_p+40 +: 5];
        wire [12:0] f_heard = {heard[15*f_p+14] ? heard[15*f_p+8 +: 5] : f_begun, heard[15*f_p +: 8]};
        wire [7:0]  f_of = f_comes[8*f_p +: 8], f_kept_of = f_waits[8*f_p +: 8], f_in = f_side[8*(f_p+1) +: 8];
        wire        f_turns = at[f_p+1] && step != CHOOSE;
        always @(posedge clk) begin
            if (heard[15*f_p+13]) f_waits[8*f_p +: 8] <= f_of;
        end
        always @* if (f_run) begin
            if (heard[15*f_p+13] && f_heard[12:4] == {f_group, f_gen}) assume (f_of[3:0] == f_heard[3:0] && f_of <= f_in);
            assert (f_zero == 0 && f_zero_too == 0);
            if (step != CHOOSE && !at[f_p+1]) assert (f_read_word == 0);
            if (waits[f_p] && f_kept[12:4] == {f_group, f_gen}) assert (f_kept_of[3:0] == f_kept[3:0] && f_kept_of <= f_in);
            if (f_turns && f_read_word[12:4] == {f_group, f_gen}) begin
                assert (f_turn[3:0] == f_read_word[3:0] && f_turn <= f_in);
                if (f_looked) assume (f_turn + APART > f_phase + 8'd1 && f_turn < f_phase + 8'd1 + APART);
            end
            if (f_judges && news && f_by[f_p+1]) assert (value == {generation, next});
        end
    end
endgenerate
always @* if (f_run && f_looked && at[0] && asks && reg_write && number == `LP_BARRIER_PHASE && reg_wdata[7:4] == f_gen)
    assume (f_own[3:0] == reg_wdata[3:0] && f_own <= f_side[7:0] && f_own + APART > f_phase + 8'd1 && f_own < f_phase + 8'd1 + APART);

// The group's entry is this life's. What is stale, or comes again, changes nothing.
always @* if (f_run) begin
    if (clearing) assert ((chooses || at[0]) && !asks && !f_lived && !news && !renews && !reg_done && s_valid == 0);
    if (!clearing || f_group < walk) begin
        assert ((f_w_entered & ~f_w_ports) == 0);
        if (!f_lives) assert (f_w_gen != f_gen || f_w_ports == 0);
    end
    if (f_lives) assert (f_lived && f_members != 0 && f_w_gen == f_gen && f_w_phase == f_phase[3:0] && f_w_ports == f_members);
    if (walks && f_mine && !clearing) assert ({after[EW-1 -: 8], after[2*N-1:0]} == {entry[EW-1 -: 8], entry[2*N-1:0]});
end

// What is being said is true of all other members, and no more than of this life.
reg [8*PORTS-1:0] f_says;
always @* if (f_run && s_valid != 0 && s_word[12:4] == {f_group, f_gen}) assert (f_lived);
generate
    for (f_p = 0; f_p < PORTS; f_p = f_p + 1) begin : f_say
        wire       f_ours = s_valid[f_p] && s_word[12:4] == {f_group, f_gen};
        wire [7:0] f_said = f_says[8*f_p +: 8];
        always @(posedge clk)
            if (says && (tells ? ports[f_p+1] : missing[f_p+1])) f_says[8*f_p +: 8] <= forward && !tells || all ? f_phase + 8'd1 : f_phase;
        always @* if (f_run && f_ours) assert (f_said[3:0] == s_word[3:0] && f_members[f_p+1]);
        genvar f_o;
        for (f_o = 0; f_o < N; f_o = f_o + 1) begin : f_rest
            always @* if (f_run && f_ours && f_members[f_o] && f_o != f_p + 1) assert (f_side[8*f_o +: 8] >= f_said);
        end
    end
endgenerate

// What the node reads, and so may leave, all members have entered.
always @(posedge clk) if (step == LOOK) {f_read, f_read_lives} <= {f_phase, f_lives && f_mine};
generate
    for (f_p = 0; f_p < N; f_p = f_p + 1) begin : f_reads
        always @* if (f_run && reg_done && f_read_lives && number == `LP_BARRIER_PHASE) begin
            assert (f_mine && reg_value == {24'd0, f_gen, f_read[3:0]} && f_read <= f_phase);
            if (f_members[f_p]) assert (f_side[8*f_p +: 8] >= f_read);
        end
    end
endgenerate

// Whom the next phase or the end of one concerns hears it: it is said by each of these links that lives, or it is owed, and what is owed is
// said in the first turn of the group in which that may be. None waits for a link that is down.
wire              f_ends = news && missing == 0, f_lacks = news && missing != 0 && (missing & (missing - 1'b1)) == 0;
reg               f_owes_phase, f_owes_next, f_spoke;
reg  [PORTS-1:0]  f_to, f_alive, f_stood;
reg  [12:0]       f_said_word;
wire [N-1:0]      f_w_missing = f_w_ports & ~f_w_entered;
always @(posedge clk) begin
    {f_spoke, f_alive, f_stood} <= {says && f_run, alive, s_valid & ~s_take};
    if (f_mine && (news || walks) && !clearing) begin
        f_owes_phase <= (f_owes_phase || f_ends) && !(says && tells);
        f_owes_next  <= !f_ends && (f_owes_next || f_lacks) && !(says && !tells);
    end
    f_to <= tells ? ports[N-1:1] : missing[N-1:1];
    f_said_word <= {group, generation, tells && !all ? phase : next};
    if (rst || f_renews) {f_owes_phase, f_owes_next} <= 2'b00;
end
always @* if (f_run) begin
    if (f_spoke) assert (s_valid == ((f_to | f_stood) & f_alive) && s_word == f_said_word);
    assert ((s_valid & ~f_alive) == 0);
    if (f_lives) begin
        assert ({f_w_phase_owed, f_w_next_owed} == {f_owes_phase, f_owes_next});
        assert (f_w_missing != 0 && (!f_owes_next || (f_w_missing & (f_w_missing - 1'b1)) == 0));
    end
    if (f_mine && f_lives && free && !clearing) begin
        if (f_ends || (walks && f_owes_phase)) assert (says && tells && (f_ends || !all));
        if ((f_lacks || (walks && f_owes_next)) && !f_owes_phase && !f_ends) assert (says);
    end
end

// Of two words that differ, the second is said 64 clocks at least after all links have taken the first, unless that was only said again.
reg [6:0] f_quiet;
reg       f_news;
always @(posedge clk) begin
    if (says) f_news <= !again || owes_phase || owes_next;
    f_quiet <= rst || (s_valid != 0 && f_news) ? 7'd0 : f_quiet[6] ? f_quiet : f_quiet + 7'd1;
end
always @* if (f_run) begin
    if (s_valid != 0) assert (repeated == !f_news);
    assert (f_quiet[5:0] == 0 || !f_quiet[6]);
    assert (space == f_quiet);
    if (f_judges && free) assert (f_quiet == 7'd64);
    if (says && {group, generation, tells && !all ? phase : next} != s_word) assert (f_quiet == 7'd64);
end

// The turn of a word that waits begins within LOOKED clocks, and until then it waits. A group's turn comes within two rounds, whatever the
// host asks.
localparam [9:0] LOOKED = 3 * N;
(* anyconst *) wire [$clog2(N)-1:0] f_one;
always @* assume (f_one < N);
reg  [9:0] f_age, f_ahead;
wire [9:0] f_in_turn = step == FETCH ? 10'd2 : step == LOOK ? 10'd1 : 10'd0;
wire       f_wanted = f_one == 0 || waits[f_one-1];
wire       f_now = f_one != 0 ? chooses && first[f_one] : step == FETCH && at[0] && !asks;
always @* begin
    f_ahead = left[f_one] ? 10'd0 : 10'd3 * f_one + 10'd1;     // clocks of turns before its own; in one a round begins
    for (f_i = 0; f_i < N; f_i = f_i + 1) if (left[f_i] && (f_i < f_one || !left[f_one])) f_ahead = f_ahead + 10'd3;
end
always @(posedge clk) f_age <= rst || clearing || f_now || !f_wanted ? 10'd0 : f_age + 10'd1;
reg        f_waited;
always @(posedge clk) f_waited <= f_wanted && !f_now && !rst;
always @* if (f_run) assert (f_age < 10'd256 && (!f_waited || f_wanted));
always @* if (f_run && f_wanted) begin
    if (f_one != 0 && !clearing) assert (f_age + f_ahead + f_in_turn <= LOOKED);
    if (f_one == 0 && !f_now) assert (f_age + f_ahead + f_in_turn + (asks ? 10'd0 : LOOKED + 10'd1) <= 2 * LOOKED + 10'd2);
end
