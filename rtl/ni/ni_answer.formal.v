// Properties of ni_answer, included in it: TRAPs and ROUTEs go out whole, one at a time, as they came; of a ROUTE its length as the head
// and then each byte behind the header once. The queue is its contract (fifo_commit_queue.formal.v), which keeps order.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// A ROUTE has more bytes than its header; behind its last it is committed or taken back, before another begins. What is offered waits.
reg  [2:0]  f_in;                       // bytes that have come, up to 4
reg         f_whole;
reg         f_t_waits, f_t_inside;
reg  [32:0] f_t_was;
wire [32:0] f_t = {t_kind, t_length, t_last, t_data};
always @* begin
    assume (s_keep == 1'b1);
    if (s_put)    assume (!f_whole && !pause);
    if (commit)   assume (f_whole && f_in == 4 && !s_put);
    if (rollback) assume (!s_put);
    if (f_t_waits && f_t_inside)  assume (t_valid && f_t[8:0] == f_t_was[8:0]);
    if (f_t_waits && !f_t_inside) assume (t_valid && f_t[32:9] == f_t_was[32:9]);
end
always @(posedge clk) begin
    f_in    <= commit || rollback ? 3'd0 : f_in + (s_put && f_in < 4);
    f_whole <= !commit && !rollback && (f_whole || (s_put && s_last));
    f_t_waits <= t_valid && !t_ready;
    f_t_was   <= f_t;
    if (t_valid && t_ready) f_t_inside <= !f_t_inside || !t_last;
    if (rst) {f_in, f_whole, f_t_waits, f_t_inside} <= 6'd0;
end

// What goes out: heads and bytes, of whom.
reg         f_inside, f_of_route, f_refused;
reg  [1:0]  f_ended;                    // a ROUTE has, one and two clocks ago
reg  [1:0]  f_read;                     // bytes of the header that have left the queue
reg  [15:0] f_length;
wire        f_move = m_valid && m_ready;
wire        f_pops = f_valid && f_ready;
reg         f_stood;
reg  [24:0] f_stood_head;
reg  [8:0]  f_stood_byte;
always @(posedge clk) begin
    if (f_move) {f_inside, f_of_route} <= {!f_inside || !m_last, own};
    if (f_pops && !own) begin
        f_read   <= f_read + 2'd1;
        f_length <= {f_data, f_length[15:8]};
    end
    if (f_pops && own && f_last) f_read <= 2'd0;
    f_stood      <= m_valid && !m_ready;
    f_stood_head <= {own, m_kind, m_length};
    f_stood_byte <= {m_last, m_data};
    f_refused <= commit && overflow && !rst;
    f_ended   <= {f_ended[0], commit || rollback};
    if (rst) {f_inside, f_of_route, f_read, f_stood} <= 5'd0;
end
always @* if (f_run && !rst) begin
    assert (ev_lost == f_refused);
    // What is taken back costs the next ROUTE no room, and at most two clocks.
    if (f_ended != 0 && s_put) assert (!overflow);
    if (f_ended == 0) assert (!pause);
    if (f_inside) assert (own == f_of_route);
    // A TRAP passes as it is.
    assert (t_ready == (m_ready && !own));
    if (!own) assert (m_valid == t_valid && {m_kind, m_length, m_last, m_data} == f_t);
    assert (f_t_inside == (f_inside && !f_of_route));
    // A ROUTE's head has the length that its header says, and no byte goes besides those that leave the queue.
    if (own && !f_inside) assert (m_valid && f_read == 3 && m_kind == {LINK[2:0], `LP_TYPE_ROUTE} && m_length == f_length);
    if (own && f_inside)  assert (m_valid == f_valid && f_read == 3 && {m_last, m_data} == {f_last, f_data});
    if (own)              assert (f_pops == (f_move && f_inside));
    else                  assert (!f_pops || (f_read < 3 && !f_last));
    // What is offered waits unchanged.
    if (f_stood) begin
        assert (m_valid && own == f_stood_head[24]);
        if (f_inside)  assert ({m_last, m_data} == f_stood_byte);
        if (!f_inside) assert ({m_kind, m_length} == f_stood_head[23:0]);
    end
end

// What ties the registers together; induction needs it. Each ROUTE in the queue has more than its header, and the last one is whole.
localparam FN = DEPTH < 16 ? DEPTH : 16;    // loops are unrolled before parameters are set
reg [FN-1:0] f_ends;                 // words that end a ROUTE
integer f_k;
always @* for (f_k = 0; f_k < FN; f_k = f_k + 1) f_ends[f_k] = f_words[10*f_k + 9];
wire [7:0] f_final = f_firm - 8'd1, f_newest = f_held - 8'd1;
localparam FW = $clog2(FN);
always @* if (f_run && !rst) begin
    assert (place == f_read && told == (f_inside && own) && begun == f_t_inside);
    if (own) assert (place == HEADED);
    if (place != 0) assert (length[15:16 - 8] == f_length[15:8] && (place == 1 || length == f_length));
    if (f_firm != 0) assert (f_ends[f_final[FW-1:0]]);
    if (place != 0)  assert (f_firm != 0);
    for (f_k = 0; f_k < FN; f_k = f_k + 1) begin
        if (f_k < f_firm && f_ends[f_k]) assert (f_k + place >= 3);
        if (f_k + 1 < f_firm && f_ends[f_k]) assert (!f_ends[f_k + 1]);
        if (f_k + 2 < f_firm && f_ends[f_k]) assert (!f_ends[f_k + 2]);
        if (f_k + 3 < f_firm && f_ends[f_k]) assert (!f_ends[f_k + 3]);
        if (f_k >= f_firm && f_k < f_held && f_ends[f_k]) assert (f_whole && f_k + 1 == f_held);
    end
    if (!f_hole && f_in < 4) assert (f_held - f_firm == f_in);
    if (!f_hole && f_in == 4) assert (f_held - f_firm >= 4);
    assert (f_in <= 4 && (!f_whole || f_in != 0));
    if (f_whole && !f_hole) assert (f_ends[f_newest[FW-1:0]]);
    assert (!f_hole || f_in != 0);
end
