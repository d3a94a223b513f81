// Properties of net_vl_queues, included in it: a link that is put into a queue is shown, behind those that were put before and once, and
// in the last queue no sooner than DELAY paces after. What a queue does with its words is proven of fifo_sync.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

localparam QW = QUEUES > 1 ? $clog2(QUEUES) : 1, LAST = QUEUES - 1;
(* anyconst *) wire [QW-1:0]      f_queue;      // the followed queue, and link
(* anyconst *) wire [VIRTUAL-1:0] f_vl;
always @* assume (f_queue < QUEUES);
wire               f_shows = valid[f_queue];
wire [VIRTUAL-1:0] f_first = first[VIRTUAL*f_queue +: VIRTUAL];
wire               f_puts  = put[f_queue] && vl == f_vl;
wire               f_takes = take[f_queue] && f_shows;

reg                f_in;                        // it waits in the queue
reg  [VIRTUAL+2:0] f_held, f_ahead;             // links in the queue; those before it
reg  [7:0]         f_paces;                     // since it came, no more than 127
always @* begin
    if ((take & ~valid) != 0) assume (0);
    if (f_in) assume (!f_puts);                 // at most once in each
    if (put[f_queue]) assume (f_held < DEPTH);
end
always @(posedge clk) begin
    f_held  <= f_held + put[f_queue] - f_takes;
    f_ahead <= f_puts ? f_held - f_takes : f_ahead - f_takes;
    f_paces <= f_puts ? pace : f_paces + (pace && f_paces != 127);
    if (f_puts)                        f_in <= 1'b1;
    else if (f_takes && f_ahead == 0)  f_in <= 1'b0;
    if (rst) {f_in, f_held} <= 0;
end
always @* if (f_run && !rst) begin
    if (f_shows) assert (f_held != 0);
    if (f_shows && f_in) assert (f_first == f_vl || f_ahead != 0);
    if (f_shows && !f_in) assert (f_first != f_vl);
    if (f_in) assert (f_ahead < f_held);
    if (f_shows && f_in && f_ahead == 0 && f_queue == LAST) assert (f_paces >= DELAY);
end
