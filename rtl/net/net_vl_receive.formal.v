// Properties of net_vl_receive, included in it: what is said of a ROUTE is what its bytes are; it is good only if its length and CRC are
// right, and it is of the peer and of a state that there is. Of those alone that count the packet goes out, each byte once and in order,
// the last one when it counts; of others nothing stays, and each that has come is counted as bad or is good. Who is not taken waits for
// nobody that takes packets.
//
// The CRC is a small one (crc32c_small.formal.v), with the key from the start, for the key that the solver likes, so for all.

localparam [16:0] F_HEAD = `LP_ROUTE_FIELDS, F_EXTRA = `LP_ROUTE_EXTRA;
reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

function [31:0] f_after(input [31:0] state, input [7:0] x);     // the register after eight bits more, bit 0 first
    integer b;
    begin
        f_after = state;
        for (b = 0; b < 8; b = b + 1) f_after = f_after >> 1 ^ (f_after[0] ^ x[b] ? `LP_CRC32C_POLY : 32'd0);
    end
endfunction

// The ROUTE as it comes: bytes, fields, what was said of it; and of its packet what has gone.
(* anyconst *) wire [31:0] f_key;
reg  [16:0]  f_at, f_out;
reg  [8*`LP_ROUTE_FIELDS-1:0] f_head;
reg  [7:0]   f_first, f_low, f_high, f_final;           // bytes of the packet: type, length, the last one
reg          f_ended, f_asked, f_open, f_ours, f_takes, f_keyed, f_counts;
reg  [31:0]  f_crc;
wire [15:0]  f_length = f_head[23:8], f_size = f_length - (F_EXTRA - 17'd3);
wire [7:0]   f_state  = f_head[87:80];
wire [16:0]  f_in     = f_at - F_HEAD;                  // place in the packet
wire         f_all    = f_at >= F_HEAD;
wire         f_here   = f_head[39:24] == node && node != 16'd0 && f_head[79:64] < 1 << VIRTUAL && f_length >= F_EXTRA - 17'd3 &&
                        f_state != 8'hC1 && f_state[7:6] != 2'd2;
wire         f_formed = (f_state & 8'h9E) == 8'd0 && (f_state[0] || (f_size == 16'd0 && f_head[103:96] == 8'd0));
wire         f_exact  = f_at == f_size + F_EXTRA;
wire         f_good   = f_ours && f_formed && f_exact && f_crc == `LP_CRC32C_RESIDUE;
wire         f_over   = f_ended && (!f_asked || !f_open || (heard && !delivers) || (m_valid && m_last && m_ready));
wire         f_gone   = s_void && !f_ended;
wire         f_asks   = look && looked && there && f_all && !f_ended;
wire         f_moves  = m_valid && m_ready;
wire         f_needs  = f_at != 17'd`LP_ROUTE_PATH;
wire [7:0]   f_byte   = f_at == 17'd0 ? {3'd0, s_data[4:0]} : s_data;
always @(posedge clk) begin
    if (accept) begin
        f_at <= f_at + 17'd1;
        if (!f_all) f_head <= f_head | {96'd0, s_data} << 8 * f_at[3:0];
        if (f_needs) f_crc <= f_after(f_at == 17'd0 ? ~f_key : f_crc, f_byte);
        if (f_all && f_in == 17'd1) f_low  <= s_data;
        if (f_all && f_in == 17'd2) f_high <= s_data;
        if (f_all && f_in + 17'd1 == f_size) f_final <= s_data;
        f_ended <= s_last;
    end
    if (f_asks) begin
        f_first <= s_data;
        {f_asked, f_open, f_ours, f_takes, f_keyed} <= {1'b1, opened, ours, takes, key == f_key};
    end
    if (f_moves) f_out <= f_out + 17'd1;
    if (heard && delivers) f_counts <= 1'b1;
    if (f_over || f_gone || rst) begin
        {f_at, f_out, f_head} <= 0;
        {f_ended, f_asked, f_open, f_ours, f_takes, f_keyed, f_counts} <= 7'd0;
    end
end

// What callers keep to.
reg        f_waits;
reg [8:0]  f_byte_q;
always @(posedge clk) begin
    f_waits  <= s_valid && !s_ready && !rst;
    f_byte_q <= {s_last, s_data};
end
reg [15:0] f_node;
always @(posedge clk) f_node <= node;
always @* begin
    if (s_void) assume (!s_valid);
    if (f_waits && s_valid) assume ({s_last, s_data} == f_byte_q);
    if (f_waits && !s_void) assume (s_valid);
    if (f_run && f_at != 17'd0) assume (node == f_node);
    assume (f_at < 17'd65552);
    if (looked) assume (there);
    if (heard) assume (hear && there && !f_counts);
    if (heard && delivers) assume (r_good && r_packet && r_fits && f_takes);
end

reg        f_bad, f_void, f_stands;
reg [8:0]  f_shown;
always @(posedge clk) begin
    f_bad    <= f_over && !(f_open && r_good) && !rst;
    f_void   <= (f_over || f_gone) && f_out != 17'd0 && !f_counts && !rst;
    f_stands <= m_valid && !m_ready && !rst && !f_gone;
    f_shown  <= {m_last, m_data};
end
always @* if (f_run && !rst) begin
    // What is said.
    if (look) assert (f_at >= `LP_ROUTE_VL + 2 && r_vl == f_head[64 +: VIRTUAL]);
    if (look && there && !f_ended) begin
        assert (f_here && f_at == F_HEAD && (s_valid || !f_state[0]));
        if (f_state[0]) assert (r_message == (s_data == `LP_TYPE_MESSAGE && f_size >= 16'd3 + `LP_MESSAGE_MIN_LENGTH));
        if (f_state[0]) assert (r_host == (s_data == `LP_TYPE_MESSAGE || s_data == `LP_TYPE_PAGE || s_data == `LP_TYPE_CONNECT));
    end
    if ((look && there && f_all) || hear) begin
        assert (r_src == f_head[55:40] && r_next == f_head[95:88] && r_seq == f_head[103:96]);
        assert (r_stop == f_state[5] && r_lost == (f_state[7:6] == 2'd1) && r_packet == f_state[0]);
    end
    if (hear) assert (f_open && f_here && f_all);
    if (hear && there) begin
        assert (f_ended);
        if (f_keyed) assert (r_good == f_good);
        else if (r_good) assert (f_ours && f_formed && f_exact);
        if (f_exact && f_size >= 16'd3) assert (r_fits == (f_size == {f_high, f_low} + 17'd3 && f_size <= MAX_PACKET));
        if (f_exact && f_size < 16'd3)  assert (!r_fits);
    end
    // What goes.
    if (m_valid) begin
        assert (f_takes && f_ours && f_formed && f_open && f_out < f_size && f_size <= MAX_PACKET);
        assert (m_last == f_counts && m_last == (f_out + 17'd1 == f_size));
        assert (m_host == (f_first == `LP_TYPE_MESSAGE || f_first == `LP_TYPE_PAGE || f_first == `LP_TYPE_CONNECT));
        if (m_last) assert (m_data == f_final);
        else        assert (s_valid && s_ready == m_ready && m_data == s_data && f_out == f_in);
    end
    if (accept && f_takes && f_ours && f_formed && f_open && f_all && f_size <= MAX_PACKET && f_in + 17'd1 < f_size) assert (f_moves);
    if (f_stands && !s_void) assert (m_valid && {m_last, m_data} == f_shown);
    if (f_counts) assert (m_valid && m_last && settles);
    assert (m_void == f_void && ev_bad == f_bad && settles == f_counts);
    if (m_void) assert (!m_valid);
    // Who waits: for the end to be looked up, for what the packet is given to, or for what is said of the whole.
    if (!s_ready) assert (f_ended || f_at == F_HEAD || (m_valid && !m_ready) || (f_takes && !s_valid));
    if (f_asked && !f_ended && !f_takes) assert (s_ready);
    if (f_ended && !f_counts && f_open) assert (hear && there);
end

// What ties the registers together; induction needs it.
reg  [31:0] f_share;                    // what the key has to do with the CRC so far
integer     f_i;
always @* begin
    f_share = f_key;
    for (f_i = 0; f_i < `LP_ROUTE_FIELDS; f_i = f_i + 1)
        if (f_i < f_at && f_i != `LP_ROUTE_PATH) f_share = f_after(f_share, 8'd0);
end
always @* if (f_run && !rst) begin
    assert (closing == f_ended && final_due == f_counts && at == (f_all ? F_HEAD : f_at) && (f_at != 17'd0 || !f_ended));
    assert (known == f_open && (!known || !drops) && (!f_asked || known || drops) && (!drops || f_all) && (f_asked || !f_open));
    assert (head >> 8 * (F_HEAD - f_at[3:0]) == f_head || f_all);
    if (f_all) begin
        assert (head == f_head && full_head);
        if (f_length >= F_EXTRA - 17'd3 && (f_here || drops || known))
            assert (left == (f_size + F_EXTRA > f_at ? f_size + F_EXTRA - f_at : 17'd0));
    end else assert (!known && !drops);
    if (f_at >= 17'd`LP_ROUTE_VL + 2) assert (r_vl == f_head[64 +: VIRTUAL]);
    if (f_at > F_HEAD && !drops) assert (known);
    if (known) begin
        assert (f_here && sound == (f_ours && f_formed) && taken == (sound && f_takes && f_size <= MAX_PACKET));
        if (f_keyed) assert (crc == f_crc);
        if (f_state[0]) assert (m_host == (f_first == `LP_TYPE_MESSAGE || f_first == `LP_TYPE_PAGE || f_first == `LP_TYPE_CONNECT));
    end
    if (drops && f_asked) assert (!known);
    if (!f_all || !(known || drops)) assert (f_at == 17'd0 || (crc ^ f_crc) == f_share);
    assert (begun == (f_out != 17'd0) && (known || (f_out == 17'd0 && !taken)));
    assert (lead == (!f_all ? 2'd0 : f_size == 16'd0 || f_length < F_EXTRA - 17'd3 ? lead : f_in < f_size ? (f_in > 3 ? 2'd3 : f_in[1:0]) :
        f_size > 16'd3 ? 2'd3 : f_size[1:0]));
    if (known && f_in > 17'd1 && f_size > 16'd1) assert (inner[7:0] == f_low);
    if (known && f_in > 17'd2 && f_size > 16'd2) assert (inner[15:8] == f_high);
    if (known && f_size != 16'd0 && f_in >= f_size) assert (final_byte == f_final);
    if (f_ended && known) assert (exact == f_exact);
    if (taken) assert (f_out == (f_in + 17'd1 < f_size ? f_in : f_size == 16'd0 ? 17'd0 : f_size - 17'd1));
    else       assert (f_out == 17'd0);
    if (f_counts) assert (f_ended && known && taken && f_exact && r_good && f_size >= 16'd3);
end
