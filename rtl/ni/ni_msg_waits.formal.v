// Properties of ni_msg_waits, included in it. One link, whichever the solver likes, is followed from where it is refused to where it is
// woken.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* assume (rst == !f_run);

(* anyconst *) wire [VIRTUAL-1:0] f_vl;

// The callers' side: no link is refused while the tables are cleared, or twice within five clocks; who asks waits.
reg [2:0] f_since;                      // clocks since one was refused
reg       f_wakes, f_tells;
reg [CONTEXTS-1:0] f_wake_context, f_told_context;
reg [VIRTUAL-1:0]  f_told_vl;
always @(posedge clk) begin
    f_since <= put ? 3'd0 : f_since == 3'd5 ? 3'd5 : f_since + 3'd1;
    if (rst) f_since <= 3'd5;
    {f_wakes, f_tells} <= {wake && !woken, told_valid && !told_ready} & {2{!rst}};
    {f_wake_context, f_told_context, f_told_vl} <= {wake_context, told_context, told_vl};
end
always @* begin
    if (clears || f_since < 3'd4) assume (!put);
    if (f_run && f_wakes) assume (wake && wake_context == f_wake_context);
    if (f_run && f_tells) assume (told_valid && told_context == f_told_context && told_vl == f_told_vl);
    if (asked) assume (ask);
end

// It waits, since f_of has refused it, until its turn has come; then it is asked for.
reg                f_waits, f_going, f_by_wake, f_by_told;
reg [CONTEXTS-1:0] f_of;
wire               f_taken = takes && vl == f_vl, f_woken = asked && ask_vl == f_vl;
always @(posedge clk) begin
    if (f_taken) {f_waits, f_going} <= 2'b01;
    if (f_woken) f_going <= 1'b0;
    if (put && put_vl == f_vl && !f_waits) {f_waits, f_of} <= {1'b1, put_context};
    // It is to be woken before the request is answered.
    f_by_wake <= wake && !woken && !f_woken && (f_wakes ? f_by_wake : f_waits && wake_context == f_of);
    f_by_told <= told_valid && !told_ready && !f_woken && (f_tells ? f_by_told : f_waits && told_vl == f_vl && told_context != f_of);
    if (!f_run) {f_waits, f_going, f_by_wake, f_by_told} <= 4'd0;
end
always @* if (f_run) begin
    if (woken)      assert (f_wakes && !f_by_wake);
    if (told_ready) assert (f_tells && !f_by_told);
    if (f_taken) assert (f_waits && !f_going);
    assert (!(ask && ask_vl == f_vl) || f_going);
end

// What ties the registers together; induction needs it. Of two links: each that is listed is in the list of the context that refused it,
// or in what is left of that which is being woken, from f_rest on.
assign f_links_at = 2'b10;
assign f_heads_at = 2'b10;
wire [1:0] f_listed = {f_links[7], f_links[3]}, f_more = {f_links[6], f_links[2]};
wire [1:0] f_in = {f_links[5], f_links[1]}, f_next = {f_links[4], f_links[0]};
wire [1:0] f_some = {f_heads[3], f_heads[1]}, f_head = {f_heads[2], f_heads[0]};
wire       f_runs = state == STEP || state == STEPPED || state == ASK;
wire       f_left = state == STEP || (state == STEPPED ? more : state == ASK && !last);
wire       f_rest = state == STEP ? vl : state == STEPPED ? next : after;
wire [1:0] f_gone = state == STEPPED ? 2'd1 << vl : 2'd0;       // is to be written yet
reg  [1:0] f_heads_it, f_walks_it;      // a list begins with the link, or has it second
integer    f_l, f_k;
always @* begin
    {f_heads_it, f_walks_it} = 4'd0;
    for (f_l = 0; f_l < 2; f_l = f_l + 1) begin
        for (f_k = 0; f_k < 2; f_k = f_k + 1)
            if (f_some[f_k] && (f_head[f_k] == f_l || (f_more[!f_l] && f_head[f_k] != f_l))) f_heads_it[f_l] = 1'b1;
        if (f_left && (f_rest == f_l || f_more[!f_l])) f_walks_it[f_l] = 1'b1;
    end
end
wire f_new = (finds || puts) && new_vl == f_vl;                 // it is being listed
always @* if (f_run && clears) begin
    assert (!put && !finds && !puts && !over && !f_waits && !f_going && !f_by_wake && !f_by_told);
    if (cleared != 0) assert (!f_listed[0] && !f_some[0]);
end
always @* if (f_run && !clears) begin
    for (f_l = 0; f_l < 2; f_l = f_l + 1) begin
        assert ((f_listed[f_l] && !f_gone[f_l]) == (f_heads_it[f_l] || f_walks_it[f_l]) && !(f_heads_it[f_l] && f_walks_it[f_l]));
        if (f_some[f_l]) assert (f_in[f_head[f_l]] == f_l && !(f_some[!f_l] && f_head[!f_l] == f_head[f_l]));
        if (f_listed[f_l] && f_more[f_l] && !f_gone[f_l])
            assert (f_next[f_l] == !f_l && f_listed[!f_l] && !f_more[!f_l] && f_in[!f_l] == f_in[f_l] && !f_gone[!f_l]);
        if (!f_listed[f_l]) assert (!f_more[f_l]);
        if (f_walks_it[f_l] || f_gone[f_l]) assert (f_listed[f_l] && f_in[f_l] == ctx);
    end
    if (f_gone != 0) assert (f_listed[vl] && {more, next} == {f_more[vl], f_next[vl]} && (!more || next == !vl));
    if (state == ASK && !last) assert (after == !vl && !f_more[after]);
    if (finds || puts) assert (f_since == (finds ? 3'd0 : 3'd1) && !f_gone[0] && !f_gone[1]);
    else assert (f_since >= 3'd2);
    if (finds) assert (!puts && state != HEAD);
    if (puts) assert (listed == f_listed[new_vl] && {some, head} == {f_some[new_context], f_head[new_context]} && state != HEAD);
    if (state == HEAD) assert ({some, head} == {f_some[ctx], f_head[ctx]});
    if (state == LOOKED) assert ({listed, of_context} == {f_listed[told_vl], f_in[told_vl]});
    // Of the one that is followed.
    assert (f_waits == ((f_listed[f_vl] && !f_gone[f_vl]) || f_new));
    if (f_listed[f_vl] && !f_gone[f_vl]) assert (f_of == f_in[f_vl]);
    else if (f_new) assert (f_of == new_context);
    assert (f_going == ((state == STEPPED || state == ASK) && vl == f_vl));
    // Of who asks.
    if (over) assert (state == IDLE && (for_told ? f_tells && !f_by_told : f_wakes && !f_by_wake));
    if (state == LOOK || state == LOOKED) assert (for_told && f_tells);
    if (state == HEAD || f_runs) assert (for_told ? f_tells : f_wakes && ctx == wake_context);
    if (f_wakes && f_by_wake) assert ((f_waits && f_of == wake_context) || f_going);
    if (f_wakes && f_by_wake && !for_told && f_runs) assert (f_going || (f_waits && f_walks_it[f_vl]));
    if (f_wakes && f_by_wake && !for_told && state == HEAD) assert (f_waits && f_heads_it[f_vl]);
    if (f_tells && f_by_told) assert ((f_waits && told_vl == f_vl && f_of != told_context) || f_going);
    if (f_tells && f_by_told && for_told && f_runs) assert (f_going || (f_waits && f_walks_it[f_vl]));
    if (f_tells && f_by_told && for_told && state == HEAD) assert (f_waits && f_heads_it[f_vl] && f_of == ctx);
end
