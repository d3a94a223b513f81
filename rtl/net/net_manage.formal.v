// Properties of net_manage, included in it: a register is accessed for a request alone whose datagram is for this node, whole and right,
// once for each, and as it says; each packet has one outcome; each request one answer, which goes to who has sent it and tells what its
// access came to, or is counted as late. The check sum is a small one (crc32c_byte.formal.v); whether a packet's is right is taken from
// it.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// The router's side: a packet begins while has_room; nothing is taken back but what has begun. This node's number changes by an access
// only.
reg        f_waits, f_rst;
reg [8:0]  f_was;
reg [15:0] f_node;
reg        f_accessed;
reg [7:0]  f_at;                        // bytes of the request that have come
reg        f_whole;                     // all of it, and it is underway
always @(posedge clk) begin
    f_rst      <= rst;
    f_waits    <= s_valid && !s_ready && !rst;
    f_was      <= {s_last, s_data};
    f_node     <= node;
    f_accessed <= reg_en;
end
always @* begin
    assume (s_keep == 1'b1);
    if (s_valid && f_at == 0)    assume (has_room || f_waits);
    if (s_cancel)                assume (!s_valid && f_at != 0 && !f_whole);
    if (f_waits && !s_cancel)    assume (s_valid && {s_last, s_data} == f_was);
    if (f_run && !f_rst && !f_accessed) assume (node == f_node);
    if (s_valid && f_whole)      assume (1'b0);
    if (reg_done)                assume (reg_en);
end

// The request, read byte by byte.
reg         f_datagram, f_mine;
reg  [15:0] f_length, f_src, f_inner, f_reg;
reg  [7:0]  f_low, f_tag;
reg  [4:0]  f_kind;
reg  [31:0] f_value;
reg         f_spent;
reg  [NW-1:0] f_came;
wire        f_good = crc_ok && f_mine && f_datagram && f_inner == f_length - EXTRA && !f_inner[15] && f_at >= 14
    && f_src != 0 && f_src <= `LP_MAX_NODE && f_src != node && f_kind >= `LP_TYPE_REG_READ && f_kind <= `LP_TYPE_RETRAP;
wire        f_byte = s_valid && s_ready;
wire        f_ends = (state == JUDGE && !f_good) || (state == WAIT && !m_ready && patience == 0) || (state == ANSWER && give && ends);
always @(posedge clk) begin
    if (f_byte) begin
        if (f_at != 255) f_at <= f_at + 8'd1;
        if (s_last) f_whole <= 1'b1;
        case (f_at)
            0: {f_datagram, f_came} <= {1'b1, from};
            1: f_length[7:0]  <= s_data;
            2: f_length[15:8] <= s_data;
            3: f_low <= s_data;
            4: f_mine <= node == 0 || {s_data, f_low} == node;
            5: f_src[7:0]  <= s_data;
            6: f_src[15:8] <= s_data;
            7: f_spent <= s_data[`LP_HOPS_WIDTH-1:0] == 0;
            8, 9, 11, 12: if (s_data != 0) f_datagram <= 1'b0;
            10: if (s_data != `LP_ROUTE_DATAGRAM) f_datagram <= 1'b0;
            13: f_kind <= s_data[4:0];
            14: f_inner[7:0]  <= s_data;
            15: f_inner[15:8] <= s_data;
            16: f_tag <= s_data;
            17: f_reg[7:0]  <= s_data;
            18: f_reg[15:8] <= s_data;
            19: f_value[7:0]   <= s_data;
            20: f_value[15:8]  <= s_data;
            21: f_value[23:16] <= s_data;
            22: f_value[31:24] <= s_data;
            default: ;
        endcase
    end
    if (s_cancel || f_ends) {f_at, f_whole} <= 9'd0;
    if (rst) {f_at, f_whole} <= 9'd0;
end

wire        f_reads  = f_kind == `LP_TYPE_REG_READ && f_inner == `LP_REG_READ_MIN_LENGTH;
wire        f_writes = f_kind == `LP_TYPE_REG_WRITE && f_inner == `LP_REG_WRITE_MIN_LENGTH
    && (node != 0 || (f_reg == `LP_REG_NODE_ID && f_spent) || f_reg == `LP_REG_SCRATCH);
always @* if (f_run && !rst && f_byte) begin        // link_rx has compared its length
    if (s_last) assume (f_at >= 16 && f_at + 1 == f_length + `LP_HEADER_BYTES);
    else        assume (f_at < 60 && (f_at < 3 || f_at + 1 < f_length + `LP_HEADER_BYTES));
end

// What becomes of it.
reg         f_asked, f_ok, f_refused;       // its access has been carried out, and how
reg  [31:0] f_got;
reg  [5:0]  f_out;                          // bytes of the answer that have gone
reg         f_e_taken, f_e_answered, f_e_bad, f_e_late;
reg         f_judged;
reg         f_wrote;                        // it was a write that may be carried out, before `node` changed
wire        f_tells = f_asked && f_ok && f_reads;
wire [7:0]  f_says  = (f_tells ? `LP_REG_DATA_MIN_LENGTH : `LP_DONE_MIN_LENGTH);
wire [7:0]  f_why   = f_asked ? (f_ok ? `LP_STATUS_OK : `LP_STATUS_BAD_ADDRESS)
    : f_kind != `LP_TYPE_REG_READ && f_kind != `LP_TYPE_REG_WRITE ? `LP_STATUS_BAD_TYPE
    : f_inner != (f_kind == `LP_TYPE_REG_READ ? `LP_REG_READ_MIN_LENGTH : `LP_REG_WRITE_MIN_LENGTH) ? `LP_STATUS_BAD_LENGTH
    : `LP_STATUS_BAD_ADDRESS;
reg  [7:0]  f_answer;
always @*
    case (f_out)
        0: f_answer = `LP_TYPE_ROUTE;
        1: f_answer = f_says + EXTRA[7:0];
        3: f_answer = f_src[7:0];
        4: f_answer = f_src[15:8];
        5: f_answer = node[7:0];
        6: f_answer = node[15:8];
        7: f_answer = (1 << `LP_HOPS_WIDTH) - 2;
        10: f_answer = `LP_ROUTE_DATAGRAM;
        13: f_answer = f_tells ? `LP_TYPE_REG_DATA : `LP_TYPE_DONE;
        14: f_answer = f_says;
        16: f_answer = f_inner == 0 ? `LP_TAG_NONE : f_tag;
        17: f_answer = f_tells ? f_reg[7:0] : f_why;
        18: f_answer = f_reg[15:8];
        19: f_answer = f_got[7:0];
        20: f_answer = f_got[15:8];
        21: f_answer = f_got[23:16];
        22: f_answer = f_got[31:24];
        default: f_answer = 8'd0;
    endcase
wire [7:0]  f_all = f_says + EXTRA[7:0] + `LP_HEADER_BYTES;     // bytes of the answer
always @(posedge clk) begin
    if (reg_en && reg_done) {f_asked, f_ok, f_got} <= {1'b1, reg_ok, reg_value};
    f_judged <= f_whole && !f_ends && (f_judged || state == JUDGE);
    if (m_valid && m_ready) f_out <= f_out + 6'd1;
    if (!f_whole || f_ends) {f_asked, f_out} <= 7'd0;
    {f_e_taken, f_e_bad} <= {f_good, !f_good} & {2{f_whole && !f_judged && !rst}};
    f_e_answered <= m_valid && m_ready && m_last && !rst;
    f_e_late     <= state == WAIT && !m_ready && patience == 0 && !rst;
    if (rst) {f_asked, f_judged, f_out} <= 8'd0;
end
always @* if (f_run && !rst) begin
    assert ({ev_taken, ev_answered, ev_bad, ev_late} == {f_e_taken, f_e_answered, f_e_bad, f_e_late});
    if (has_room) assert (f_at == 0);
    assert (s_ready == !f_whole);
    if (reg_en) begin
        assert (f_judged && !f_asked && (f_reads || f_wrote));
        assert (reg_write == (f_kind == `LP_TYPE_REG_WRITE) && reg_addr == f_reg);
        if (reg_write) assert (reg_wdata == f_value);
    end
    if (m_valid) begin
        assert (f_judged && f_asked == (f_reads || f_wrote) && back == f_came);
        assert (m_last == (f_out + 1 == f_all));
        if (f_out + 4 < f_all) assert (m_data == f_answer);
    end
end

// What ties the registers together; induction needs it.
always @(posedge clk) if (state == JUDGE) f_wrote <= f_writes;
always @* if (f_run && !rst) begin
    assert (f_at <= (f_whole ? 61 : 60) && state <= ANSWER);
    assert (f_whole == (state != TAKE) && f_judged == (f_whole && state != JUDGE));
    if (f_whole) assert (f_at == f_length + `LP_HEADER_BYTES && f_at >= 17);
    if (state == TAKE)   assert (at == (f_at < BEYOND ? f_at : BEYOND));
    if (state == ACCESS || state == WAIT) assert (at == 0);
    if (state == ANSWER) assert (at == f_out && f_out < f_all);
    else                 assert (f_out == 0);
    if (state == ACCESS) assert (!f_asked && (f_reads || f_wrote));
    if (f_asked) assert (state == WAIT || state == ANSWER);
    if (state == WAIT || state == ANSWER) begin
        assert (f_asked == (f_reads || f_wrote));
        assert (has_value == f_tells && (has_value || status == f_why) && (!has_value || value == f_got));
    end
    if (f_judged) assert (tag == (f_inner == 0 ? `LP_TAG_NONE : f_tag));
    if ((state == ACCESS || state == JUDGE) && f_at > 22) assert (value == f_value);
    if (f_wrote && f_judged) assert (f_kind == `LP_TYPE_REG_WRITE && f_inner == `LP_REG_WRITE_MIN_LENGTH);
    if (f_judged) assert (f_inner == f_length - EXTRA && !f_inner[15]);
    if (state == ANSWER) assert (back == f_came);
    if (f_at > 0)  assert (came == f_came && (f_judged || wrong == (!f_datagram
        || (f_at == 4 && node != 0 && f_low != node[7:0]) || (f_at > 4 && !f_mine))));
    if (f_at > 1)  assert (length[7:0] == f_length[7:0]);
    if (f_at > 2)  assert (length == f_length);
    if (f_at > 5)  assert (src[7:0] == f_src[7:0]);
    if (f_at > 6)  assert (src == f_src);
    if (f_at > 7)  assert (spent == f_spent);
    if (f_at > 13) assert (kind == f_kind);
    if (f_at > 14) assert (inner[7:0] == f_inner[7:0]);
    if (f_at > 15) assert (inner == f_inner);
    if (f_at > 16 && !f_judged) assert (tag == f_tag);
    if (f_at > 17) assert (number[7:0] == f_reg[7:0]);
    if (f_at > 18) assert (number == f_reg);
    if (f_at > 19 && !f_judged) assert (value[7:0] == f_value[7:0]);
    if (f_at > 20 && !f_judged) assert (value[15:8] == f_value[15:8]);
    if (f_at > 21 && !f_judged) assert (value[23:16] == f_value[23:16]);
    if (f_at > 22 && !f_judged) assert (value[31:24] == f_value[31:24]);
end
