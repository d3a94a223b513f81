// Properties of net_patience, included in it: overdue begins only after PATIENCE clocks in a row without room and without a move, at once
// after one clock more, and lasts until the next move, whatever room there is meanwhile.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

reg [TW:0] f_still;                     // clocks without room or a move, up to PATIENCE + 1
reg        f_moved, f_overdue, f_rst;
always @(posedge clk) begin
    f_still   <= rst || room || moved ? 0 : f_still + (f_still <= PATIENCE);
    f_moved   <= moved;
    f_overdue <= overdue;
    f_rst     <= rst;
end
always @* if (f_run) begin
    if (f_rst || f_moved)           assert (!overdue);
    else if (f_overdue)             assert (overdue);
    if (f_still > PATIENCE)         assert (overdue);
    assert (waited == (f_still < PATIENCE ? f_still : PATIENCE));
end
reg f_long;                             // so it was in the clock before
always @(posedge clk) f_long <= !rst && f_still >= PATIENCE;
always @* if (f_run && overdue && !f_overdue) assert (f_long);
