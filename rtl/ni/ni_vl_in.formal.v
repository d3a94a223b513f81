// Properties of ni_vl_in, included in it. What becomes of each packet is told from its bytes alone.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// The callers' side: a packet has as many bytes as it says, and stands, or is taken back while none is valid.
reg         f_waits;
reg  [8:0]  f_was;
reg  [16:0] f_n;                        // bytes of the packet that have moved
reg  [63:0] f_head;                     // the first ones of it
reg         f_virtual;                  // it is a VIRTUAL
wire        f_moves = s_valid && s_ready;
wire [15:0] f_length = f_n == 17'd2 ? {s_data, f_head[15:8]} : f_head[23:8];
wire        f_is = f_n == 17'd0 ? s_data == {3'd0, `LP_TYPE_VIRTUAL} : f_virtual;
always @* begin
    if (s_void) assume (!s_valid);
    if (f_run && f_waits && !s_void) assume (s_valid && {s_last, s_data} == f_was);
    if (s_valid) assume (s_last == (f_n >= 17'd2 && f_n + 17'd1 == {1'b0, f_length} + 17'd3));
end
always @(posedge clk) begin
    f_waits <= s_valid && !s_ready && !rst;
    f_was   <= {s_last, s_data};
    if (f_moves) begin
        f_n <= s_last ? 17'd0 : f_n + 17'd1;
        f_virtual <= f_is;
    end
    if (rst || s_void) f_n <= 17'd0;
end

// A VIRTUAL: f_c of its bytes are in f_head, and f_whole says that all have come.
reg  [3:0]  f_c;
reg         f_whole;
reg  [7:0]  f_end;                      // its last byte
wire [15:0] f_says = f_head[23:8], f_vl = f_head[39:24], f_inner = f_head[63:48];
wire [4:0]  f_type = f_head[44:40];
wire        f_sends = f_type == `LP_TYPE_WRITE || f_type == `LP_TYPE_PAGE || f_type == `LP_TYPE_CONNECT || f_type == `LP_TYPE_MESSAGE;
wire        f_resume = f_type == `LP_TYPE_RESUME, f_space = f_type == `LP_TYPE_SPACE;
wire        f_fits = f_c == 4'd8 && {1'b0, f_says} == {1'b0, f_inner} + 17'd5 && {1'b0, f_inner} + 17'd3 <= MAX_PACKET &&
                     (!f_resume || f_inner == 16'd1) && (!f_space || f_inner == 16'd3);
wire [7:0]  f_status = f_c < 4'd6 ? `LP_STATUS_BAD_LENGTH :
                       !f_sends && !f_resume && !f_space ? `LP_STATUS_BAD_TYPE : !f_fits ? `LP_STATUS_BAD_LENGTH :
                       f_head[47:45] != 3'd0 || f_vl >= 1 << VIRTUAL ? `LP_STATUS_BAD_LINK : `LP_STATUS_OK;
wire        f_over;                     // it has had its outcome
wire        f_gone = s_void && !f_whole;
always @(posedge clk) begin
    if (f_moves && f_n < 17'd8) f_head[8*f_n[2:0] +: 8] <= s_data;
    if (f_moves && f_is) begin
        if (f_n < 17'd8) f_c <= f_n[3:0] + 4'd1;
        {f_whole, f_end} <= {s_last, s_data};
    end
    if (rst || f_over || f_gone) {f_c, f_whole} <= 5'd0;
end

// What is no VIRTUAL passes; what is goes nowhere else, and nothing overtakes it.
always @* if (f_run && !rst) begin
    assert (h_valid == (s_valid && !f_whole && !f_is));
    if (s_valid && !f_is && !f_whole) assert (s_ready == h_ready);
    if (f_whole) assert (!f_moves);
    if (s_void && !f_whole && f_n != 17'd0) assert (h_void == !f_virtual);
end

// The packet inside is sent: of its bytes f_sent have gone.
reg  [16:0] f_sent;
reg         f_all, f_begins, f_refused;     // all have; it has been said to come; and was refused
reg  [VIRTUAL+15:0] f_begun;
wire        f_goes = v_valid && v_ready;
always @(posedge clk) begin
    if (f_goes) {f_sent, f_all} <= {f_sent + 17'd1, v_last};
    f_begins <= v_begins && !(f_goes && v_last) && !rst;
    f_begun  <= {v_vl, v_size};
    if (rst || f_over || f_gone) {f_sent, f_all} <= 18'd0;
end
always @* begin
    if (sent) assume (f_all && !f_refused);
    if (refused) assume (sent);
    if (q_done) assume (q_valid);
end
always @* if (f_run && !rst) begin
    if (v_valid) begin
        assert (f_status == `LP_STATUS_OK && f_sends && !f_all && v_begins);
        if (f_sent < 17'd3) begin
            assert (!f_moves && v_data == f_head[40 + 8*f_sent[1:0] +: 8]);
            assert (v_last == (f_sent == 17'd2 && f_inner == 16'd0));
        end else begin
            assert (s_valid && v_data == s_data && v_last == s_last && f_n == f_sent + 17'd5);
            assert (f_moves == v_ready);
        end
    end
    if (f_moves && f_is && f_n >= 17'd8 && f_sends && f_status == `LP_STATUS_OK) assert (f_goes);
    if (v_begins) begin
        assert (f_c >= 4'd5 && f_vl < 1 << VIRTUAL && v_vl == f_vl[VIRTUAL-1:0] && v_size == f_says - 16'd2 && !f_all);
        if (f_begins) assert (f_begun == {v_vl, v_size});
    end
    // It is taken back where it has begun and goes no further.
    if (f_sent != 17'd0) assert (v_cancel == f_gone);
    if (v_cancel) assert (f_gone && !v_begins && !v_valid);
    if (f_begins && !v_begins && f_sent != 17'd0) assert (v_cancel);
end

// What is asked, and answered.
reg         f_asked, f_ok, f_counted;
reg  [1:0]  f_place;                    // of the answer
wire        f_says_m = m_valid && m_ready;
wire        f_bad = f_status != `LP_STATUS_OK;
assign f_over = f_whole && ((sent && !refused) || (q_done && !f_resume) || (f_says_m && f_place == 2'd2));
always @(posedge clk) begin
    if (q_done) {f_asked, f_ok} <= {1'b1, q_ok};
    if (sent)   f_refused <= refused;
    if (ev_bad) f_counted <= 1'b1;
    if (f_says_m) f_place <= f_place + 2'd1;
    if (rst || f_over || f_gone) {f_asked, f_refused, f_counted, f_place} <= 5'd0;
end
always @* if (f_run && !rst) begin
    if (q_valid) begin
        assert (f_whole && !f_bad && !f_sends && !f_asked);
        assert (q_resume == f_resume && q_vl == f_vl[VIRTUAL-1:0] && q_value == f_end);
    end
    if (ev_bad) assert (f_whole && f_bad && !f_counted);
    if (m_valid) begin
        assert (f_whole && (f_bad || f_refused || (f_resume && f_asked)));
        assert (m_kind == {3'd0, `LP_TYPE_DONE} && m_length == 16'd2);
        if (f_place != 2'd0) assert (m_last == (f_place == 2'd2));
        if (f_place == 2'd1) assert (m_data == (f_bad || f_sends ? `LP_TAG_NONE : f_end));
        if (f_place == 2'd2)
            assert (m_data == (f_bad ? f_status : f_sends ? `LP_STATUS_NO_SPACE : f_ok ? `LP_STATUS_OK : `LP_STATUS_NOT_TRAPPED));
        if (f_bad) assert (f_counted || ev_bad);
    end
    // Each that has come whole has an outcome: somebody is asked for it, but for a clock.
    if (f_whole) assert (state == JUDGE || v_valid || (f_all && !f_refused) || q_valid || m_valid);
end

// What ties the registers together; induction needs it.
reg     f_shown;                        // the first byte of another packet
integer f_i;
always @(posedge clk) f_shown <= h_valid && !h_ready && !rst;
always @* if (f_run && !rst) begin
    assert (count == f_c && f_c <= 4'd8 && ended == f_whole);
    for (f_i = 0; f_i < 8; f_i = f_i + 1) if (f_i < f_c) assert (head[8*f_i +: 8] == f_head[8*f_i +: 8]);
    if (f_n >= 17'd3) assert (f_n <= {1'b0, f_head[23:8]} + 17'd2);
    if (f_whole) assert (f_n == 17'd0 && value == f_end && (f_c == 4'd8 ? f_says >= 16'd5 : f_c >= 4'd3 && {12'd0, f_c} == f_says + 16'd3));
    else if (f_n != 17'd0 && f_virtual) assert (f_c == (f_n > 17'd8 ? 4'd8 : f_n[3:0]));
    else assert (f_c == 4'd0);
    assert (other == (f_n != 17'd0 ? !f_virtual : f_shown));
    if (f_shown && f_n == 17'd0) assert (f_waits && f_was[7:0] != {3'd0, `LP_TYPE_VIRTUAL} && f_c == 4'd0);
    if (state == HEAD) assert (!f_whole && f_c < 4'd8);
    if (state == HEAD || state == JUDGE) assert (tag == `LP_TAG_NONE || f_c == 4'd0);
    if (state == JUDGE) assert ((f_whole || f_c == 4'd8) && place == 2'd0);
    if (state == AGAIN || state == BODY || state == SENT) assert (f_c == 4'd8 && !f_bad && f_sends && tag == `LP_TAG_NONE);
    if (state == AGAIN) assert (f_sent == {15'd0, place} && place < 2'd3 && (f_whole == (f_inner == 16'd0)) && (f_whole || f_n == 17'd8));
    if (state == BODY)  assert (!f_whole && f_n >= 17'd8 && f_n == f_sent + 17'd5);
    if (state == TAIL)  assert (!f_whole && f_c == 4'd8 && drops == f_bad && (f_bad ? status == f_status : !f_sends) && place == 2'd0);
    if (state == TAIL)  assert (tag == `LP_TAG_NONE);
    if (state == SENT || state == ASK || state == ANSWER) assert (f_whole);
    if (state == ASK)   assert (!f_bad && !f_sends && !f_asked && place == 2'd0);
    if (state == ANSWER) begin
        assert (place == f_place && f_place < 2'd3 && tag == (f_bad || f_sends ? `LP_TAG_NONE : f_end));
        assert (status == (f_bad ? f_status : f_sends ? `LP_STATUS_NO_SPACE : f_ok ? `LP_STATUS_OK : `LP_STATUS_NOT_TRAPPED));
        assert (f_bad ? f_counted != ev_bad : !f_counted && !ev_bad && (f_sends ? f_refused : f_asked && f_resume));
    end else assert (!f_counted && !ev_bad && f_place == 2'd0 && !f_asked && !f_refused);
    assert (f_all == (state == SENT || (state == ANSWER && !f_bad && f_sends)));
    if (state != AGAIN && state != BODY && !f_all) assert (f_sent == 17'd0);
    if (f_begins && f_c != 4'd0) assert (f_c >= 4'd5 && f_begun == {f_vl[VIRTUAL-1:0], f_says - 16'd2});
end
