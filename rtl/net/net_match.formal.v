// Properties of net_match, included in it. One input and one output, whichever the solver likes, are followed: how many packets of others
// the output has while the input waits for it.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

(* anyconst *) wire [NW-1:0] f_in, f_out;
always @* assume (f_in < N && f_out < N);

// The contract's other side: a wish stands until it is granted, room until a packet begins, and only what has begun ends.
reg [N*N-1:0] f_want;
reg [N-1:0]   f_room, f_underway;
reg           f_was_rst;
always @(posedge clk) begin
    f_want     <= want;
    f_room     <= room;
    f_underway <= rst ? {N{1'b0}} : (f_underway & ~done) | start;
    f_was_rst  <= rst;
end
wire [N*N-1:0] f_granted = {{(N*N-N){1'b0}}, outs} << (N * number(start));
wire [N-1:0]   f_given   = outs;
reg  [N*N-1:0] f_many;
always @(posedge clk) f_many <= many;
wire [N-1:0]   f_joins   = f_many >> (N * number(start));
always @* begin
    assume ((done & ~f_underway) == 0);
    assume ((many & ~want) == 0);
    if (f_run && !f_was_rst) begin
        assume ((f_want & ~f_granted & ~want) == 0);
        assume ((f_room & ~f_given & ~room) == 0);
    end
end

// Which output each input has, as told.
reg [N*N-1:0] f_has;
reg [N-1:0]   f_taken;
integer f_i;
always @(posedge clk) begin
    for (f_i = 0; f_i < N; f_i = f_i + 1)
        if (rst || done[f_i]) f_has[N*f_i +: N] <= 0;
        else if (start[f_i])  f_has[N*f_i +: N] <= f_given;
end
always @* begin
    f_taken = 0;
    for (f_i = 0; f_i < N; f_i = f_i + 1) f_taken = f_taken | f_has[N*f_i +: N];
end

// What stands behind that: who has begun is busy until it is done, and has what it was told; no two have the same output.
always @* if (f_run) begin
    assert (busy == (f_underway | start) && (start & f_underway) == 0);
    for (f_i = 0; f_i < N; f_i = f_i + 1) begin
        assert (f_underway[f_i] || f_has[N*f_i +: N] == 0);
        if (f_underway[f_i]) assert (has[N*f_i +: N] == f_has[N*f_i +: N]);
        if (start[f_i])      assert (has[N*f_i +: N] == outs);
    end
end
reg [N-1:0] f_held, f_twice;
always @* begin
    {f_held, f_twice} = 0;
    for (f_i = 0; f_i < N; f_i = f_i + 1)
        if (busy[f_i]) begin
            f_twice = f_twice | (f_held & has[N*f_i +: N]);
            f_held  = f_held | has[N*f_i +: N];
        end
    if (f_run) assert (f_held == taken && f_twice == 0);
end

// None is given away again before its inputs' turns are counted.
always @* if (f_run && !f_was_rst && !rst) assert ((outs_now & due) == 0);
always @* if (f_run && !f_was_rst && !rst) begin
    assert ((start & (start - 1)) == 0);
    assert ((start == 0) == (outs == 0));
    if (start != 0) begin
        assert (cast ? (outs & ~f_joins) == 0 : outs == {{(N-1){1'b0}}, 1'b1} << to && to < N && (outs & f_joins) == 0);
        assert ((f_granted & ~f_want) == 0);
        assert ((f_given & ~f_room) == 0);
        assert ((start & f_underway) == 0);
        assert ((f_given & f_taken) == 0);
        for (f_i = 0; f_i < N; f_i = f_i + 1) if (outs[f_i]) assert (taken[f_i] && start[from[NW*f_i +: NW]]);
    end
end

// Packets of others that the output has begun since the input began to wait for it, with PATIENCE 1. What is above is proven with any.
localparam [7:0] MOST = N * (PATIENCE + 2);
reg [7:0] f_passed;
always @(posedge clk)
    if (rst || !want[N*f_in + f_out] || (f_given[f_out] && start[f_in])) f_passed <= 0;
    else if (f_given[f_out] && f_passed != 8'hFF) f_passed <= f_passed + 1;
always @* if (f_run && PATIENCE == 1) assert (f_passed <= MOST);
