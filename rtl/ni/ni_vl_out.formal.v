// Properties of ni_vl_out, included in it. The two queues are proven by themselves: what goes in is what comes out. So here is shown what
// goes in, and what becomes of what
// comes out; of the latter a byte with a number that the solver likes is followed.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// A packet stands, or is taken back while none is valid; one that has begun keeps its link, and where it goes.
reg        f_waits, f_to;
reg [8:0]  f_byte;
reg [VIRTUAL-1:0] f_vl;
reg        f_told_ready, f_told;        // told_ready may have fallen in the clock before
wire [8:0] f_at_s = {s_last, s_data};
always @(posedge clk) begin
    f_waits <= s_valid && !s_ready && !rst;
    f_byte  <= f_at_s;
    {f_told_ready, f_told} <= {told_ready, told} & {2{!rst}};
    if (state == IDLE) {f_to, f_vl} <= {s_host, s_vl};
end
always @* begin
    if (s_void) assume (!s_valid);
    if (f_waits && s_valid) assume (f_at_s == f_byte);
    if (s_valid && (state == NUMBER || state == BODY)) assume (s_host == f_to && s_vl == f_vl);
    if (told) assume ((told_ready || f_told_ready) && !f_told);
end

// What goes in: f_in bytes of the packet have, as far as two; f_spaces of a SPACE.
reg [1:0]  f_in;
reg [3:0]  f_spaces;
reg [8*SPACE_BYTES-1:0] f_space;        // as it was told
reg        f_owed;
wire       f_saves = state == SPACE;
always @(posedge clk) begin
    if (f_saves)     f_in <= 2'd0;
    else if (undone) f_in <= 2'd0;
    else if (writes) f_in <= ends ? 2'd0 : f_in == 2'd2 ? 2'd2 : f_in + 2'd1;
    f_spaces <= f_saves ? f_spaces + 4'd1 : 4'd0;
    if (f_saves && ends) {f_spaces, f_owed} <= 5'd0;
    if (told) begin
        f_space <= {told_freed, told_status, 16'd`LP_SPACE_MIN_LENGTH, 3'd0, `LP_TYPE_SPACE, {16-VIRTUAL{1'b0}}, told_vl};
        f_owed  <= 1'b1;
    end
    if (rst) {f_in, f_spaces, f_owed} <= 7'd0;
end
always @* if (f_run && !rst) begin
    // A packet's number stands in front of it; then each byte that is taken goes in, once, and nothing besides.
    if (!f_saves && writes) begin
        if (f_in != 2'd0 && !undone) assert (to_host == f_to);
        if (f_in == 2'd0) assert (!take && data == vl[7:0] && !ends && to_host == s_host);
        if (f_in == 2'd1 && !undone) assert (!take && data == vl[15:8] && !ends);
        if (f_in == 2'd2) assert (take && data == s_data && ends == s_last);
    end
    if (take) assert (writes && f_in == 2'd2);
    if (s_void && !f_saves) assert (undone);
    // Nobody waits for the host, or for the trap of another: a packet that has begun waits for its queue to the receive buffer, or as a
    // trap for what is before it.
    if (state == BODY) assert (s_ready == (s_host ? !(s_last && traps && !idles) : !i_full));
    assert (begins == (state == IDLE && !held && s_valid && (s_host || i_roomy)));
    // A SPACE goes in whole, as it was told, and before the next packet.
    if (f_saves) begin
        assert (f_owed && to_host && writes && !undone && data == f_space[8*f_spaces +: 8]);
        assert (ends == (f_spaces == SPACE_BYTES - 1));
    end
    if (state == IDLE && f_owed) assert (!writes);
end

// What is for the host is judged by what it says itself, its last byte too. A packet has as many bytes as it says.
reg [39:0] f_head;                      // its first five bytes
reg [2:0]  f_at;                        // how many of them have come
wire [39:0] f_whole = {f_at == 3'd4 ? s_data : f_head[39:32], f_at == 3'd3 ? s_data : f_head[31:24], f_at == 3'd2 ? s_data : f_head[23:16],
                       f_at == 3'd1 ? s_data : f_head[15:8], f_at == 3'd0 ? s_data : f_head[7:0]};      // with that of this clock
wire [4:0]  f_type = f_whole[4:0];
wire [15:0] f_says = f_whole[23:8], f_frame = f_whole[39:24];
always @(posedge clk) begin
    if (take) f_head <= f_whole;
    if (take && f_at != 3'd5) f_at <= f_at + 3'd1;
    if (state == IDLE) f_at <= 3'd0;
end
always @* if (take && s_last) assume (f_at == 3'd5 ? f_says >= 16'd3 : f_at >= 3'd2 && f_says == {13'd0, f_at} - 16'd2);
always @* if (f_run && !rst) begin
    if (take && s_last && s_host)
        assert (good == (f_type == `LP_TYPE_MESSAGE ? f_says >= `LP_MESSAGE_MIN_LENGTH :
                         f_type == `LP_TYPE_PAGE ? f_says == `LP_PAGE_MIN_LENGTH && f_frame < FRAMES :
                         f_type == `LP_TYPE_CONNECT && f_says >= `LP_CONNECT_MIN_LENGTH && f_says <= `LP_CONNECT_MAX_LENGTH));
    // What ties the registers together; induction needs it.
    if (state == NUMBER || state == BODY) begin
        assert (at == f_at && at <= (state == BODY ? 3'd5 : 3'd0));
        if (at > 3'd0) assert (kind == f_head[4:0]);
        if (at > 3'd1) assert (length[7:0] == f_head[15:8]);
        assert (length[15:8] == (at > 3'd2 ? f_head[23:16] : 8'd0));
        if (at > 3'd3) assert (frame[7:0] == f_head[31:24]);
        if (at > 3'd4) assert (frame[15:8] == f_head[39:32]);
    end
end

// What comes out for the host: f_got bytes of the packet, of which f_gave have gone to the composer, behind the head.
(* anyconst *) wire [16:0] f_which;
reg [16:0] f_got, f_gave;
reg [7:0]  f_seen;
reg [15:0] f_length;
wire       f_takes = f_valid && f_ready;
wire       f_moves = m_valid && m_ready;
always @* if (f_valid && f_got < 17'd5) assume (!f_last);
always @* if (f_got > 17'd70000) assume (!f_valid);
always @(posedge clk) begin
    if (f_takes) begin
        f_got <= f_got + 17'd1;
        if (f_got == f_which) f_seen <= f_data;
        if (f_got == 17'd3) f_length[7:0]  <= f_data;
        if (f_got == 17'd4) f_length[15:8] <= f_data;
    end
    if (f_moves && headed) f_gave <= f_gave + 17'd1;
    if (rst || (f_moves && m_last)) {f_got, f_gave} <= 34'd0;
end
always @* if (f_run && !rst) begin
    if (f_moves) begin
        assert (m_kind == {3'd0, `LP_TYPE_VIRTUAL});
        if (!headed) assert (m_length == f_length + 16'd5 && f_gave == 17'd0);
        else if (f_gave >= 17'd5) assert (f_takes && f_got == f_gave && m_data == f_data && m_last == f_last);
        else begin
            assert (!m_last);
            if (f_gave == f_which) assert (m_data == f_seen);
        end
    end
    if (f_takes && f_got >= 17'd5) assert (f_moves && headed);
    // What ties the registers together; induction needs it.
    assert (have == (f_got < 17'd5 ? f_got[2:0] : 3'd5));
    assert (gives == (f_gave < 17'd5 ? f_gave[2:0] : 3'd5));
    if (have != 3'd5) assert (!headed && f_gave == 17'd0);
    if (!headed) assert (f_gave == 17'd0 && f_got <= 17'd5);
    if (f_gave < 17'd5) assert (f_got <= 17'd5);
    else                assert (f_got == f_gave && headed);
    if (f_which < f_got && f_which >= f_gave && f_which < 17'd5)
        assert (f_seen == ahead[8*(f_which - f_gave + (17'd5 - f_got) * (f_gave == 17'd0)) +: 8]);
    if (f_got == 17'd4 || (f_got == 17'd5 && f_gave == 17'd0))
        assert (f_length[7:0] == (f_got == 17'd4 ? ahead[39:32] : ahead[31:24]));
    if (f_got == 17'd5 && f_gave == 17'd0) assert (f_length[15:8] == ahead[39:32]);
end

// What comes out for the receive buffer: behind the number each byte, in the clock in which it leaves the queue; the number changes only
// when all before is done.
reg [1:0] f_part;
reg [7:0] f_first;
reg [VIRTUAL-1:0] f_vl_was;
reg       f_quiet, f_changes;
always @(posedge clk) begin
    if (p_valid && p_ready) begin
        f_part <= f_part != 2'd2 ? f_part + 2'd1 : p_last ? 2'd0 : 2'd2;
        if (f_part == 2'd0) f_first <= p_data;
    end
    if (i_void || rst) f_part <= 2'd0;
    if (p_valid && p_ready && part == 2'd0) f_quiet <= quiet;
    f_changes <= p_valid && p_ready && f_part == 2'd1;
    f_vl_was  <= i_vl;
end
wire [15:0] f_number = {p_data, f_first};
always @* if (f_run && !rst) begin
    assert (part == f_part);
    if (f_part != 2'd0) assert (low == f_first || f_part == 2'd2);
    if (p_valid && p_ready && f_part == 2'd0) assert (quiet && !i_valid);
    if (p_valid && p_ready && f_part == 2'd1) assert (!i_valid);
    if (i_valid && i_ready) assert (f_part == 2'd2 && p_valid && p_ready && i_data == p_data && i_last == p_last);
    if (p_valid && p_ready && f_part == 2'd2) assert (i_valid && i_ready);
end

// What ties the registers together; induction needs it.
always @* if (f_run && !rst) begin
    assert (f_in == (state == NUMBER ? 2'd1 : state == BODY ? 2'd2 : 2'd0));
    assert (f_owed == held);
    assert (f_saves || f_spaces == 4'd0);
    if (f_saves) assert (held && at == f_spaces[2:0] && f_spaces < SPACE_BYTES);
    if (state == IDLE || state == NUMBER || state == BODY) if (held) assert (space == f_space);
    if (f_saves) assert (space == f_space >> 8 * f_spaces);
end
