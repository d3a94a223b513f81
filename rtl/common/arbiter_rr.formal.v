// Properties of arbiter_rr, included in it. One source, whichever the solver likes, is followed: how
// many packets of others pass while it waits.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

(* anyconst *) wire [IW-1:0] f_me;
always @* assume (f_me < N);

reg [N-1:0] f_request, f_grant;         // as they were in the last clock
reg         f_last, f_was_rst;
always @(posedge clk) begin
    f_request <= request;
    f_grant   <= grant;
    f_last    <= last;
    f_was_rst <= rst;
end
wire f_decided = f_grant == 0 || f_last;

always @* if (f_run) begin
    if (f_was_rst) assert (grant == 0);
    else if (!f_decided) assert (grant == f_grant);
    else begin
        assert ((grant & ~(f_request & ~f_grant)) == 0);
        assert ((grant != 0) == ((f_request & ~f_grant) != 0));
    end
    // One-hot: whoever else is followed would be granted too.
    if (grant[f_me]) assert (grant == (1 << f_me) && index == f_me);
end

// Packets of others granted since the followed source began to request without a grant.
reg [IW:0] f_passed;
always @(posedge clk)
    if (rst || !request[f_me] || grant[f_me]) f_passed <= 0;
    else if ((grant == 0 || last) && !pick[f_me]) f_passed <= f_passed + 1;

// Places between the last holder and the followed source: each grant to another source brings it
// nearer. For induction: f_passed and f_places together never exceed N-1.
wire [N-1:0] f_start  = behind & ~below(behind);
wire [IW:0]  f_first  = behind == 0 ? 0 : lowest(f_start);
wire [IW:0]  f_places = f_me >= f_first ? f_me - f_first : f_me + N - f_first;
always @* if (f_run && !rst) begin
    assert (f_passed <= N - 1);
    assert (behind == (behind | below(behind)));        // a run of ones down from the top
    if (request[f_me] && !grant[f_me]) assert (f_passed + f_places <= N - 1);
end
