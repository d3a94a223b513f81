// Properties of ni_msg_table, included in it: of each context that is enabled, whichever the solver likes and whatever host and units ask,
// the region is frames that there are, the rings fit in it, and no head passes its tail, nor is it more than a ring behind it. So each
// descriptor that is posted is taken once, and one that is not posted is never taken. Context 0 is never enabled.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

wire        f_enabled;
wire [2:0]  f_queues;
wire [3:0]  f_fault, f_size;
wire [7:0]  f_first, f_last;
wire [15:0] f_send_tail, f_receive_tail, f_send_head, f_receive_head, f_completions;
assign {f_queues, f_enabled, f_fault, f_size, f_last, f_first, f_send_tail, f_receive_tail, f_send_head, f_receive_head, f_completions} =
    f_word;
// What is so of an entry, in the memory and while it is carried out.
wire [15:0] f_sends = f_send_tail - f_send_head, f_receives = f_receive_tail - f_receive_head;
wire [15:0] f_ring  = 16'd1 << f_size;
wire        f_right = !f_enabled || (f_context != {CONTEXTS{1'b0}} && f_first <= f_last && f_last < FRAMES && f_size <= `LP_RING_SIZE_MAX &&
    (22'd`LP_RINGS << f_size) <= ({13'd0, f_last} - {13'd0, f_first} + 21'd1) * PAGE_BYTES && f_sends <= f_ring && f_receives <= f_ring);
wire [15:0] f_e_sends = send_tail - e_send_head, f_e_receives = receive_tail - e_receive_head;
wire        f_e_right = !e_enabled || (ctx != {CONTEXTS{1'b0}} && e_first <= e_last && e_last < FRAMES && e_size <= `LP_RING_SIZE_MAX &&
    rings <= bytes && f_e_sends <= entries && f_e_receives <= entries);
wire        f_mine  = ctx == f_context;
reg  [15:0] f_head;                     // SEND_HEAD a clock before
reg  [15:0] f_posted;
reg         f_was;                      // the entry is at hand, then and now
always @(posedge clk) begin
    f_was <= f_run && !rst && at == APPLY && f_mine;
    {f_head, f_posted} <= {e_send_head, f_e_sends};
end
always @* if (f_run) begin
    assert (cleared || at == IDLE);
    if (!cleared && f_context < ctx) assert (f_word == {ENTRY{1'b0}});
    if (cleared) assert (f_right);
    if (at == READ && f_mine) assert (entry == f_word);
    if (at == APPLY || at == WRITE) assert (!f_mine || f_e_right);
    if (f_was && e_enabled && e_send_head != f_head && e_send_head != 16'd0) assert (e_send_head == f_head + 16'd1 && f_posted != 16'd0);
end
