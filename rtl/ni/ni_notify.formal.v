// Properties of ni_notify, included in it. One frame and one link, whichever the solver likes, are followed: what writes to the frame the
// host has not been told of, and for how long the link waits.

reg f_run = 1'b0, f_was_rst;
always @(posedge clk) {f_run, f_was_rst} <= {1'b1, rst};
always @* if (!f_run) assume (rst);

(* anyconst *) wire [FW-1:0] f_frame;
(* anyconst *) wire [LW-1:0] f_link;
always @* assume (f_frame < FRAMES && f_link < LINKS);

// A write stands until it is taken.
reg  [LINKS-1:0]    f_waits;
reg  [16*LINKS-1:0] f_frame_was;
reg  [PW*LINKS-1:0] f_first_was, f_last_was;
always @(posedge clk) begin
    f_waits <= rst ? {LINKS{1'b0}} : n_valid & ~n_ready;
    {f_frame_was, f_first_was, f_last_was} <= {n_frame, n_first, n_last};
end
genvar f_l;
generate
    for (f_l = 0; f_l < LINKS; f_l = f_l + 1) begin : f_writer
        always @* begin
            assume (n_frame[16*f_l +: 16] < FRAMES);
            if (f_run && f_waits[f_l]) begin
                assume (n_valid[f_l] && n_frame[16*f_l +: 16] == f_frame_was[16*f_l +: 16]);
                assume (n_first[PW*f_l +: PW] == f_first_was[PW*f_l +: PW] && n_last[PW*f_l +: PW] == f_last_was[PW*f_l +: PW]);
            end
        end
    end
endgenerate

// The specification: the bytes from f_first to f_last have been written, of which the host has not been told, if f_some.
reg          f_some;
reg [PW-1:0] f_first, f_last;
reg          f_hit;                     // a write of the frame is taken
reg [PW-1:0] f_w_first, f_w_last;
integer      f_i;
always @* begin
    {f_hit, f_w_first, f_w_last} = 0;
    for (f_i = 0; f_i < LINKS; f_i = f_i + 1)
        if (n_valid[f_i] && n_ready[f_i]) begin
            f_hit     = n_frame[16*f_i +: 16] == f_frame;
            f_w_first = n_first[PW*f_i +: PW];
            f_w_last  = n_last[PW*f_i +: PW];
        end
    if (f_run && !rst) assert ((n_ready & ~n_valid) == 0 && (n_ready & (n_ready - 1'b1)) == 0);
end
wire f_fetch = state == IDLE && fetch;  // the range of frame `scan` is to be told
wire f_reads = telling && (state == FIRST || state == LAST);
wire f_mine  = frame == f_frame;
wire [PW-1:0] f_low  = f_some && f_first < f_w_first ? f_first : f_w_first;
wire [PW-1:0] f_high = f_some && f_last > f_w_last ? f_last : f_w_last;
always @(posedge clk) begin
    if (f_reads && state == LAST && f_mine) f_some <= 1'b0;
    if (f_hit) {f_some, f_first, f_last} <= {1'b1, f_low, f_high};
    if (rst || !enable) f_some <= 1'b0;
end

// The packet: it is of frame f_p_frame, and says what was to be told when its range was fetched.
reg          f_busy;
reg [2:0]    f_place;                   // of what stands at m_*: 0 is the head
reg [15:0]   f_p_frame, f_p_first, f_p_last;
wire         f_moves = m_valid && m_ready;
wire         f_p_mine = f_p_frame == f_frame;
always @(posedge clk) begin
    if (f_moves) f_place <= f_place == 3'd6 ? 3'd0 : f_place + 3'd1;
    if (f_moves && f_place == 3'd6) f_busy <= 1'b0;
    if (f_fetch) {f_busy, f_p_frame, f_p_first, f_p_last} <= {1'b1, {16-FW{1'b0}}, scan, {16-PW{1'b0}}, f_first, {16-PW{1'b0}}, f_last};
    if (rst) {f_busy, f_place} <= 4'd0;
end
wire [55:0] f_says = {f_p_last, f_p_first, f_p_frame, 8'd0};
always @* if (f_run && !rst) begin
    if (m_valid) begin
        assert (f_busy && m_kind == {3'd0, `LP_TYPE_NOTIFY} && m_length == 16'd6);
        assert (m_last == (f_place == 3'd6));
        if (f_place != 3'd0 && (f_place < 3'd3 || f_p_mine)) assert (m_data == f_says[8*f_place +: 8]);
    end
    if (f_fetch) assert (!f_busy && (scan != f_frame || f_some));      // there are news
    assert (f_busy == (f_reads || busy || m_valid));
end

// Frames take turns: no other is told of twice while this one waits. And the host has its turn behind each write.
reg [FW:0] f_passed;
reg        f_done;
always @(posedge clk) begin
    f_done <= done && !rst;
    if (rst || !f_some || (f_fetch && scan == f_frame)) f_passed <= 0;
    else if (f_fetch)                                   f_passed <= f_passed + 1'b1;
end
wire [FW:0] f_places = f_frame >= scan ? f_frame - scan : f_frame + FRAMES - scan;
always @* if (f_run && !rst) begin
    if (f_some) assert (f_passed + f_places <= FRAMES - 1);
    if (state == IDLE && f_done && found) assert (fetch);
end

// A link waits for 6 clocks a link, and 3. f_work: clocks until it has been served, if the host is not; before that can be, f_free clocks
// pass, and it takes three.
reg [7:0] f_age;
always @(posedge clk)
    f_age <= rst || !enable || forgot || !n_valid[f_link] || n_ready[f_link] ? 8'd0 : f_age + 8'd1;
wire [7:0] f_turns = f_link >= link ? f_link - link : f_link + LINKS - link;
wire [7:0] f_own   = state == FIRST ? 8'd2 : state == LAST ? 8'd1 : 8'd0;
wire [7:0] f_work  = state == IDLE || f_reads ? 8'd4 * f_turns + 8'd3 :
                     f_turns == 0 ? f_own : f_own + 8'd1 + 8'd4 * (f_turns - 8'd1) + 8'd3;
wire [7:0] f_free  = f_reads || (busy && !m_valid) ? 8'd8 : m_valid ? 8'd7 - f_place : 8'd0;
wire [7:0] f_told  = f_work > f_free ? 8'd1 + ((f_work - f_free - 8'd1) >> 3) : 8'd0;
always @* if (f_run && !rst && n_valid[f_link])
    assert (f_age + (f_reads ? f_own : 8'd0) + f_work + 8'd3 * f_told <= 6 * LINKS + 3);

// What ties the registers together; induction needs it.
assign f_at = {f_frame, 1'b1, f_frame, 1'b0};
wire [PW-1:0] f_word_first = f_words[PW-1:0], f_word_last = f_words[2*PW-1:PW];
always @* if (f_run && !rst) begin
    assert (link < LINKS && scan < FRAMES && frame < FRAMES || state == IDLE);
    assert (link < LINKS && scan < FRAMES);
    assert (pending[f_frame] == f_some);
    if (f_was_rst) assert (state == IDLE && pending == 0 && !busy && !m_valid);
    if (state == END) assert (!telling);
    if (state != IDLE && !telling) assert (n_valid[link] && {{16-FW{1'b0}}, frame} == n_frame[16*link +: 16]);
    if (merged) assert (state == IDLE);
    // Of the range in the memory.
    if (f_some) begin
        if (state == END && f_mine) assert (f_word_first == ~(f_first < in_first ? f_first : in_first));
        else                        assert (f_word_first == ~f_first);
        assert (f_word_last == ~f_last);
    end
    if (state != IDLE && forgot) assert (pending == 0);
    if (state != IDLE && !telling && f_mine && !forgot) begin
        if (state == FIRST && f_some) assert (not_old == ~f_first);
        if (state == LAST) begin
            assert (known == f_some);
            if (f_some) assert (not_old == ~f_last && below == (in_first > f_first));
        end
        if (state == END) begin
            assert (known == f_some);
            if (f_some) assert (below == (in_last > f_last));
            else        assert (f_word_first == ~in_first);
        end
    end
    // Of the packet.
    if (f_reads) begin
        assert (!busy && !m_valid && f_place == 0 && index == 0 && {{16-FW{1'b0}}, frame} == f_p_frame);
        if (f_mine && state == FIRST) assert ({not_old, f_word_last} == {~f_p_first[PW-1:0], ~f_p_last[PW-1:0]});
        if (f_mine && state == LAST)  assert ({of_first, not_old} == {f_p_first[PW-1:0], ~f_p_last[PW-1:0]});
    end
    if (!busy && !m_valid) assert (f_place == 0 && (index == 0 || f_was_rst));
    if (busy && !m_valid)  assert (f_place == 0 && index == 0);
    if (busy && m_valid)   assert (f_place < 3'd6 && index == f_place + 3'd1);
    if (!busy && m_valid)  assert (f_place == 3'd6 && index == 3'd7);
    if (f_busy) assert (f_p_first[15:PW] == 0 && f_p_last[15:PW] == 0 && f_p_frame < FRAMES);
    if (busy || m_valid) begin
        assert (frame_16 == f_p_frame);
        if (f_p_mine) assert (first_16 == f_p_first && last_16 == f_p_last);
    end
    assert (f_place < 3'd7);
end
