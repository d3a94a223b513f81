// Properties of ni_host_in, included in it. What becomes of each packet is told from its bytes, and from what its link says, by the rules
// of the protocol. What leaves is held against the packet beat by beat.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// The packet that comes, or has come and has had no outcome yet: f_n of its bytes have gone in, and f_head has the first ten; f_now has
// those of the beat at s_* too.
localparam F_BYTE = WIDTH == 1;        // beats are bytes
reg  [16:0] f_n;
reg  [79:0] f_head, f_now;
reg         f_whole;                    // all have
reg         f_waits, f_wait_last, f_moved;
reg  [8*WIDTH-1:0] f_wait_data;         // of the clock before
reg  [WIDTH-1:0]   f_wait_keep;
reg  [3:0]  f_some, f_sent;             // bytes of the beats at s_* and f_*
wire        f_moves = s_valid && s_ready;
wire        f_goes  = f_valid != 0;
wire        f_over  = f_whole && ((f_goes && f_last) || (req_valid && req_done));       // it has its outcome
wire [16:0] f_in    = f_whole ? 17'd0 : f_n;
wire        f_gone  = s_void && f_in != 17'd0;
integer     f_k;
always @* begin
    {f_some, f_sent, f_now} = {8'd0, f_head};
    for (f_k = 0; f_k < WIDTH; f_k = f_k + 1) begin
        f_some = f_some + (F_BYTE || s_keep[f_k]);
        f_sent = f_sent + (F_BYTE || f_keep[f_k]);
        if (s_valid && (!f_whole || (f_goes && f_last)) && f_in + f_k < 10) f_now[8*(f_in[3:0] + f_k) +: 8] = s_data[8*f_k +: 8];
    end
end
always @(posedge clk) begin
    f_waits     <= s_valid && !s_ready && !rst;
    f_moved     <= f_moves && !rst;
    {f_wait_data, f_wait_keep, f_wait_last} <= {s_data, s_keep, s_last};
    if (f_moves) f_head <= f_now;
    if (rst || f_over || f_gone) {f_n, f_whole} <= 18'd0;
    if (f_moves && !rst) {f_n, f_whole} <= {f_in + {13'd0, f_some}, s_last};
end
`include "ni_trial.formal.v"
wire [15:0] f_length = f_now[23:8];
wire [16:0] f_all    = {1'b0, f_length} + 17'd3;        // bytes
wire [16:0] f_reach  = f_in + {13'd0, f_some};
always @* begin
    if (s_valid)                              assume (s_keep[0] && (s_keep & (s_keep + 1'b1)) == 0 && (s_last || (&s_keep)));
    if (f_waits && !s_void)                   assume (s_keep == f_wait_keep);
    if (s_valid && f_reach < 17'd3)           assume (!s_last);
    if (s_valid && s_sure && f_reach > 17'd2) assume (f_reach <= f_all && s_last == (f_reach == f_all));
    if (s_sure && !s_void && f_in > 17'd2)    assume (f_in < f_all);
    if (s_valid)                              assume (f_reach < 17'd65539);
    // The others' side.
    if (w_take)               assume (w_valid);
    if (req_done)             assume (req_valid);
    if (turn || load || next) assume (req_valid);
end

// What the protocol says of it.
wire [4:0]  f_kind  = f_now[4:0];
wire [2:0]  f_via   = f_now[7:5];
wire [31:0] f_addr  = f_now[63:32];
wire [15:0] f_count = f_now[79:64];
wire        f_there  = f_via != 3'd0 && f_via <= LINKS;
wire        f_linked = f_kind != 5'd0 && f_kind < 5'h10 && f_via != 3'd0;
wire        f_write  = f_kind == `LP_TYPE_BUF_WRITE, f_read = f_kind == `LP_TYPE_BUF_READ;
wire        f_trap   = f_kind == `LP_TYPE_RESUME || f_kind == `LP_TYPE_RETRAP;
wire [15:0] f_least  = f_kind == `LP_TYPE_REG_READ ? `LP_REG_READ_MIN_LENGTH : f_kind == `LP_TYPE_REG_WRITE ? `LP_REG_WRITE_MIN_LENGTH :
                       f_read ? `LP_BUF_READ_MIN_LENGTH : f_write ? `LP_BUF_WRITE_MIN_LENGTH : f_trap ? `LP_RESUME_MIN_LENGTH : 16'd0;
wire        f_fits   = f_write ? f_length >= f_least : f_length == f_least;
wire [15:0] f_bytes  = f_write ? f_length - f_least : f_count;
wire        f_inside = f_addr < BUFFER_BYTES && {1'b0, f_bytes} + f_addr[PW-1:0] <= PAGE_BYTES;
wire [7:0]  f_status = f_linked ? (f_there ? `LP_STATUS_NO_SPACE : `LP_STATUS_BAD_LINK) :
                       f_least == 16'd0 ? `LP_STATUS_BAD_TYPE : !f_fits ? `LP_STATUS_BAD_LENGTH :
                       f_trap && !f_there ? `LP_STATUS_BAD_LINK :
                       (f_read || f_write) && !f_inside ? `LP_STATUS_BAD_ADDRESS : `LP_STATUS_OK;
wire [7:0]  f_tag    = f_linked || f_least == 16'd0 || f_length == 16'd0 ? `LP_TAG_NONE : f_now[31:24];
wire        f_bad    = f_status == `LP_STATUS_BAD_TYPE || f_status == `LP_STATUS_BAD_LENGTH || f_status == `LP_STATUS_BAD_LINK;
wire        f_fine   = f_status == `LP_STATUS_OK;

// What its link has said: that there is room, at its first byte, or else that it takes it, a clock after it was asked its size.
wire [7:0]  f_one   = 8'd1 << f_via, f_one_head = 8'd1 << f_head[7:5];
wire [LINKS-1:0] f_link = f_one[LINKS:1], f_to = f_one_head[LINKS:1];
wire        f_for   = f_linked && f_there;
wire        f_leads = f_head[4:0] != 5'd0 && f_head[4:0] < 5'h10 && f_to != 0 && f_n != 17'd0;   // it is for a link, and has begun to go in
reg         f_begun, f_asked, f_takes;
reg  [3:0]  f_roomy;                    // whether there was room, of the last four clocks
wire        f_room = F_BYTE && f_begun;
reg  [15:0] f_size;
reg  [2:0]  f_since;                    // clocks behind the last byte of a packet that went, up to four
reg         f_long;                     // which had five beats or more
reg  [16:0] f_out;                      // bytes that have gone
always @(posedge clk) begin
    if (f_moves && f_in == 17'd0) f_begun <= (has_room & f_link) != 0;
    f_asked <= f_size == f_length + 16'd2;
    f_takes <= (takes & f_link) != 0;
    f_size  <= size;
    f_roomy <= {f_roomy[2:0], (has_room & f_link) != 0};
    f_since <= f_goes && f_last ? 3'd1 : f_since[2] ? 3'd4 : f_since + 3'd1;
    if (f_goes && f_last) f_long <= !F_BYTE && f_out >= 4 * WIDTH;
    if (rst) f_since <= 3'd4;
    if (f_goes) f_out <= f_out + {13'd0, f_sent};
    if (rst || f_over || f_gone) f_out <= 17'd0;
end

// Other outcomes, what is counted, and bytes that have been written.
reg  f_refused, f_counted;
reg  [LINKS-1:0] f_voided;              // the link to which a packet went that has been taken back
reg  [PW:0] f_written;
wire f_no = f_refused || ev_no_space != 0;
always @(posedge clk) begin
    if (ev_no_space != 0) f_refused <= 1'b1;
    if (ev_bad)           f_counted <= 1'b1;
    f_voided <= f_to & {LINKS{f_gone && f_leads && (!F_BYTE || f_room || f_out != 17'd0) && !rst}};
    if (w_take) f_written <= f_written + 1'b1;
    if (rst || f_over || f_gone) {f_refused, f_counted, f_written} <= 0;
end

// Clocks for which a byte has waited, the first of a packet or a sure one, or a packet that has come whole.
localparam [5:0] F_IDLE = F_BYTE ? 6'd15 : 6'd20;
reg  [5:0] f_idle;
always @(posedge clk) begin
    f_idle <= (s_valid ? s_sure || (F_BYTE && f_in == 17'd0) : f_whole) && !s_ready && !req_valid && !w_valid ? f_idle + 6'd1 : 6'd0;
    if (rst) f_idle <= 6'd0;
end

wire f_direct = !F_BYTE || f_room || f_out > 17'd2;      // what goes are the beats that come, a clock later
always @* if (f_run && !rst) begin
    // A packet has one outcome before the next one begins.
    if (f_whole && !f_over) assert (!f_moves);
    // It is forwarded to the link that it names, each byte once, in order.
    if (f_goes) begin
        assert (f_leads && f_valid == f_to && !f_no && !req_valid);
        if (f_out == 17'd0) assert (f_n == {13'd0, f_moved ? f_sent : 4'd3} && (f_roomy[0] || (f_takes && f_asked)));
        if (f_direct) begin
            assert (f_moved && f_n == f_out + {13'd0, f_sent} && {f_keep, f_last} == {f_wait_keep, f_wait_last});
            if (f_out != 17'd0) assert (f_data == f_wait_data);
            else                assert (f_data[7:0] == {3'd0, f_head[4:0]} && f_data >> 8 == f_wait_data >> 8);
        end else begin
            assert (f_data == (f_out == 17'd0 ? {3'd0, f_head[4:0]} : f_head[8*f_out[1:0] +: 8]));
            assert (f_last == (f_out + 17'd1 == f_all));
        end
        // Between the ends of packets there are two clocks, but behind five beats.
        if (f_last) assert (f_since > 3'd2 || f_long);
    end
    // It is never held up.
    if (f_leads && !f_no && (!F_BYTE || f_room || f_n > 17'd3) && f_moved) assert (f_goes);
    if (f_leads && !f_room && f_out != 17'd0 && f_out < 17'd3)  assert (f_goes);
    if (f_leads && !f_whole && f_direct)                        assert (s_ready);
    // What is taken back is cancelled, and nothing else.
    assert (f_cancel == f_voided);
    if (f_voided != 0) assert (!f_goes);
    // It is refused if its link has no room, and takes it not either.
    if (ev_no_space != 0) begin
        assert (f_for && ev_no_space == f_link && !f_refused && f_out == 17'd0);
        assert (!(F_BYTE ? f_room : f_roomy[3]) && f_asked && !f_takes);
    end
    // has_room is not of the time before a packet's end.
    if (F_BYTE && f_moves && f_in == 17'd0) assert (f_since == 3'd4);
    // It is a request if it is for no link, or is refused.
    if (req_valid) begin
        assert (f_whole && (!f_for || f_refused) && f_out == 17'd0);
        assert ({req_type, req_via, req_tag, req_status} == {f_kind, f_via, f_tag, f_status});
        assert (f_counted == f_bad);
    end
    if (ev_bad) assert ((f_n != 17'd0 || s_valid) && f_bad && !f_counted);
    // Whoever waits is served.
    assert (f_idle < F_IDLE);
end

// A request stands, from a clock before req_valid on, but for what the others change.
reg        f_stood;
reg [23:0] f_said;
reg [47:0] f_fields;
reg [ADDR_WIDTH-LW-1:0] f_word;
wire [PW-1:0] f_last_at = f_addr[PW-1:0] + f_count[PW-1:0] - 1;
always @(posedge clk) begin
    f_stood  <= req_valid && !req_done && !rst;
    f_said   <= {req_type, req_via, req_tag, req_status};
    f_fields <= load ? {value, req_fields[15:0]} : turn ? {req_fields[7:0], req_fields[47:8]} : req_fields;
    f_word   <= w_addr + next;
end
wire f_ready = state == REQUEST && !req_valid;
always @* if (f_run && !rst) begin
    if (f_stood) assert (req_valid);
    if (req_valid) begin
        assert ({req_type, req_via, req_tag, req_status} == f_said && req_fields == f_fields);
        if (f_read) assert (w_addr == f_word);
        if (f_read && f_fine && f_count != 16'd0)
            assert (last_lane == f_last_at[LW-1:0] && at_last == (w_addr[PW-LW-1:0] == f_last_at[PW-1:LW]));
    end
    if ((f_ready || (req_valid && !f_stood)) && f_fine) begin
        if (f_kind == `LP_TYPE_REG_READ)            assert (req_fields[15:0] == f_now[47:32]);
        if (f_kind == `LP_TYPE_REG_WRITE || f_read) assert (req_fields == f_now[79:32]);
        if (f_read) assert (w_addr == f_addr[ADDR_WIDTH-1:LW]);
    end
end

// The data of a BUF_WRITE is written, each byte at its place, once, in order, and all of it, if it is in a page that there is.
wire [31:0] f_place = f_addr + {{31-PW{1'b0}}, f_written};
wire [16:0] f_next  = {{16-PW{1'b0}}, f_written} + 17'd8;       // number of the byte in the packet
wire [16:0] f_byte  = f_next - f_in;                            // and in the beat
always @* if (f_run && !rst) begin
    if (w_valid) begin
        assert (s_valid && !f_whole && f_write && f_fine && f_place < BUFFER_BYTES && f_next >= f_in && f_byte < f_some);
        assert (w_addr == f_place[ADDR_WIDTH-1:LW] && w_mask == 1 << f_place[LW-1:0]);
        assert (w_data[8*f_place[LW-1:0] +: 8] == (s_data >> 8*f_byte[1:0] & 8'hFF));
    end
    if (req_valid) assert (f_written == (f_write && f_fine ? f_bytes : 16'd0));
end

// What ties the registers together; induction needs it. hierconn: a register of an instance, by the name that flattening gives it.
(* hierconn *) wire [PW+1:0] \u_bounds.most , \u_bounds.ends ;
wire [4:0]  f_fixed = f_least == 16'd0 ? 5'd4 : f_least[4:0] + 5'd3;            // bytes up to the end of fixed fields
wire        f_marked = f_counted || ev_bad;
wire [16:0] f_seen  = f_in + {13'd0, f_lane};                                   // bytes that have been looked at
wire [16:0] f_looked = f_whole ? f_n : f_seen;
// The bytes that enter the fields, and how far these have gone round.
wire [71:0] f_entered = {f_now[79:32], f_now[23:0]};
wire [16:0] f_many = f_looked > 17'd3 ? f_looked - 17'd1 : f_looked;
wire [3:0]  f_round = state == CHECK ? (index == f_looked[3:0] ? 4'd0 : (index > 4'd11 ? 4'd11 : index) - f_looked[3:0] - 4'd1) :
                      state == ASK ? index - 4'd3 : 4'd0;
wire [3:0]  f_rounds = f_round > 4'd5 ? f_round - 4'd6 : f_round;
wire [95:0] f_back = {req_fields, req_fields} << 8 * f_rounds;
wire        f_open = state == HEAD && f_seen != 17'd0 && !s_void;               // a packet has begun to be looked at
wire        f_ends = f_goes && f_last && f_whole;
always @* if (f_run && !rst) begin
    assert (fixed_q < 4'd8 && f_n < 17'd65539);
    if (f_whole) assert (f_n == {1'b0, f_head[23:8]} + 17'd3);
    else if (f_n > 17'd2 && !f_doubt) assert (f_n < {1'b0, f_head[23:8]} + 17'd3);
    assert (f_lane < WIDTH);
    if (f_lane != 4'd0) begin
        assert (f_waits && !f_whole && (s_void || (s_valid && f_lane < f_some)));
        assert (state == HEAD || state == CHECK || state == DATA || state == DRAIN);
    end
    if (!F_BYTE && !f_whole) assert (f_n[1:0] == 2'd0);
    if (f_n == 17'd0) assert (f_out == 17'd0);
    if (state == HEAD ? f_seen > 17'd1 : state == FORWARD ? F_BYTE && !f_room : state != SETTLE && !f_whole) assert (!f_doubt);
    if (f_open || state == ASK || state == CHECK || state == DATA || state == DRAIN || state == REQUEST) begin
        assert (req_type == f_kind && req_via == f_via && fields_end > 4'd2);
        assert (f_n != 17'd0 || (!F_BYTE && s_valid && f_waits));
        assert (f_out == (state == ASK && index > 4'd6 ? {13'd0, index} - 17'd6 : 17'd0));
    end
    if (f_open || state == ASK) assert (link_q == f_link);
    if (f_open || state == CHECK || (F_BYTE && state == ASK))
        for (f_k = 0; f_k < 6; f_k = f_k + 1)
            if (f_many > f_k) assert (f_back[95 - 8*f_k -: 8] == f_entered[8*(f_many[3:0] - 1 - f_k) +: 8]);
    if (state != REQUEST) assert (!req_valid);
    if (state != FORWARD && state != ASK) assert (!f_goes || f_ends);
    assert (f_since != 3'd0 && (!f_ends || f_leads));
    if (f_ends) assert (state == SETTLE ? index == 4'd11 || (!F_BYTE && index == 4'd1) : state == HEAD && !F_BYTE && f_out >= 4 * WIDTH);
    if (state != SETTLE) assert ((f_since == 3'd4 || (!F_BYTE && (f_long || f_ends))) && f_voided == 0);
    if (state == DRAIN || state == REQUEST) begin
        assert (f_marked == f_bad && !(f_counted && ev_bad) && f_no == f_for && !(f_refused && ev_no_space != 0));
        assert (req_status == f_status && req_tag == f_tag);
    end else assert (!f_marked && !f_no);
    if (state != DATA && state != REQUEST) assert (f_written == 0);
    if (f_open || state == ASK || state == CHECK || state == DATA) assert (req_status == `LP_STATUS_OK);
    case (state)
        HEAD: begin
            assert ((!f_whole || f_ends) && index == f_seen && f_seen < 17'd10);
            assert (f_idle <= (F_BYTE ? 6'd10 : f_in == 17'd0 ? 6'd15 + index : {2'd0, f_lane}));
            if (f_open) begin
                assert (!(f_for && (f_room || !F_BYTE)) && asks == f_for);
                assert (no_way == (f_linked && !f_there) && lost == (f_trap && !f_there));
                assert (req_tag == (f_seen > 17'd3 ? f_now[31:24] : `LP_TAG_NONE));
                if (f_linked) assert (f_seen < 17'd3 && (f_there || f_seen < 17'd2));
            end
            if (f_open && f_seen > 17'd1) assert (fixed_q == f_least && is_write == f_write);
            if (f_open && f_seen > 17'd2) assert (fields_end + 5'd1 == f_fixed && f_seen < f_fixed);
        end
        ASK: begin
            assert (f_for && !f_room && (F_BYTE ? f_n == 17'd3 : f_n == 17'd0 && s_valid && f_waits && beats == 2'd0) && ended == f_whole);
            assert (index > 4'd2 && index < (F_BYTE ? 4'd8 : 4'd6) && f_idle <= index + (F_BYTE ? -6'd3 : 6'd13));
            assert (f_goes == (index > 4'd5) && req_tag == `LP_TAG_NONE);
            if (!F_BYTE) assert (!f_roomy[index - 4'd3]);
            if (index == 4'd4) assert (size == f_length + 16'd2);
            if (index == 4'd5) assert (f_size == f_length + 16'd2);
        end
        FORWARD: begin
            assert (f_leads && link_q == f_to && !f_whole && f_out + (f_goes ? f_sent : 0) == f_n);
            assert ((!F_BYTE || f_room || f_n > 17'd2) && f_idle < 6'd19);
            if (!F_BYTE) assert (beats == 2'd3 ? f_n >= 4 * WIDTH : f_n == WIDTH * (beats + 1));
        end
        SETTLE: begin
            assert (index > (F_BYTE ? 4'd10 : 4'd0) && (f_n == 17'd0 || f_ends) && f_idle <= index - (F_BYTE ? 4'd6 : 4'd1));
            if (index > 4'd11) assert (f_since >= index - 4'd11);
            if (F_BYTE && index == 4'd11) assert (f_since == 3'd4);
            if (f_voided != 0) assert (index == 4'd11);
        end
        CHECK: begin
            assert (!f_linked && f_looked > 17'd2 && f_looked <= f_fixed && (f_whole || f_looked == f_fixed) && ended == f_whole);
            assert (index >= f_looked && f_idle <= index - 6'd3 && f_n != 17'd0);
            assert (lost == (f_trap && !f_there) && fixed_q == f_least && is_write == f_write);
            assert (req_tag == (f_length == 16'd0 ? `LP_TAG_NONE : f_now[31:24]) && aligns == (index != f_looked && index < 4'd11));
            if (f_least != 16'd0) assert (bad_length == !f_fits);
            if (index > 4'd11) begin
                assert (\u_bounds.most == {1'b0, req_fields[32 +: PW + 1]} - (f_write ? WRITE_LESS : READ_LESS));
                assert (beyond == (req_fields[31:0] >= BUFFER_BYTES || req_fields[47:32] >> PW + 1 != 0));
                assert (word == req_fields[ADDR_WIDTH-1:LW] && lane == req_fields[LW-1:0]);
            end
            if (index > 4'd12) assert (\u_bounds.ends == {2'd0, req_fields[PW-1:0]} + \u_bounds.most );
            if (index > 4'd13) assert (outside == (beyond || !in_page));
            if (index > 4'd14) assert (bad_range == (outside && (f_read || f_write)));
        end
        DATA: begin
            assert (f_write && f_fine && !f_whole && f_seen == f_next && f_written < f_bytes && req_tag == f_tag);
            assert (word == f_place[ADDR_WIDTH-1:LW] && lane == f_place[LW-1:0]);
        end
        DRAIN: begin
            assert (!f_whole && !f_fine && (f_linked || f_seen >= f_fixed));
            if (F_BYTE && f_linked) assert (f_there ? !f_room && f_n > 17'd2 : f_n > 17'd1);
        end
        default: begin
            assert (f_whole && !(f_for && f_room));
            assert (f_written == (f_write && f_fine ? f_bytes : 16'd0));
            if (f_read && f_fine && f_count != 16'd0) assert (last == f_last_at);
        end
    endcase
    if (state == DATA || f_ready) assert (f_idle < F_IDLE - 6'd1);
end
