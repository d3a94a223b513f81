// Properties of ni_msg_receive, included in it, together with ni_page_writer. The specification reads the packets at s_* in full width and
// follows the messages of one link, whichever the solver likes, and one byte of the memory, wherever it likes.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* assume (rst == !f_run);

(* anyconst *) wire [VIRTUAL-1:0] f_vl;
(* anyconst *) wire [AW-1:0]      f_where;

// The packet: how many of its bytes have come, or that it has come whole; whose it is; its context has ended since.
reg  [16:0]         f_in;
reg                 f_whole, f_cancelled;
reg  [87:0]         f_head;
reg  [VIRTUAL-1:0]  f_of;
reg  [CONTEXTS-1:0] f_ctx;
reg  [3:0]          f_life;
wire                f_comes = f_in != 17'd0 || f_whole, f_mine = f_of == f_vl;
always @(posedge clk) begin
    if (take) begin
        f_in    <= s_last ? 17'd0 : f_in + 17'd1;
        f_whole <= s_last;
        if (f_in < 17'd11) f_head[8*f_in[3:0] +: 8] <= s_data;
        if (f_in == 17'd0) {f_of, f_ctx, f_life} <= {s_vl, s_context, s_life};
    end
    if (s_void)  f_in    <= 17'd0;
    if (settles) f_whole <= 1'b0;
    f_cancelled <= f_comes && (f_cancelled || (forget && forget_context == f_ctx));
    if (rst) {f_in, f_whole, f_cancelled} <= 19'd0;
end

// The callers' side. The last byte comes of a packet alone that has the length that it says, the others of any.
reg                 f_tells, f_told_open, f_forgets, f_forgot;
reg  [VIRTUAL-1:0]  f_told_vl;
reg  [3:0]          f_told_life;
reg  [CONTEXTS-1:0] f_forget_context;
wire [16:0]         f_end = {1'b0, f_head[23:8]} + 17'd2;       // number of the last byte
always @(posedge clk) begin
    f_tells <= told_valid && !told_ready && !rst;
    {f_told_vl, f_told_open, f_told_life} <= {told_vl, told_open, told_life};
    {f_forgets, f_forgot, f_forget_context} <= {forget && !rst, forgotten, forget_context};
end
always @* begin
    if (s_valid && s_last) assume (f_in >= 17'd10 && f_in == f_end);
    if (s_valid)           assume (f_in <= 17'd65538);
    if (s_void)            assume (f_in != 17'd0 && !s_valid);
    if (w_take)            assume (w_valid);
    if (f_tells)           assume (told_valid && {told_vl, told_open, told_life} == {f_told_vl, f_told_open, f_told_life});
    if (f_forgets && !f_forgot) assume (forget);
    if (f_forgets && forget)    assume (forget_context == f_forget_context);
end

// What has been found for the packet.
reg                 f_asks, f_blind, f_ready;
reg  [CONTEXTS-1:0] f_asked;
reg  [AW-1:0]       f_address;
reg  [AW:0]         f_space;
reg  [15:0]         f_new_cookie;
always @(posedge clk) begin
    f_asks  <= look && !x_look && !rst;
    f_asked <= look_context;
    f_blind <= blind;
    if (f_asks) {f_ready, f_address, f_space, f_new_cookie} <= {p_ready, p_address, p_length, p_cookie};
end

// The link's message: it is underway to the receive at f_start, of f_room bytes, or is dropped; f_sum bytes of it have been handed on.
reg                 f_active, f_drops;
reg  [3:0]          f_link_life;
reg  [CONTEXTS-1:0] f_link_ctx;
reg  [15:0]         f_cookie;
reg  [31:0]         f_tag, f_length, f_rest, f_sum;
reg  [AW-1:0]       f_start;
reg  [AW:0]         f_room;
wire [15:0] f_bytes    = f_head[23:8] - 16'd8;
wire [31:0] f_says_tag = f_head[55:24], f_says_rest = f_head[87:56];
wire        f_sound    = f_says_rest >= {16'd0, f_bytes} && (f_bytes != 16'd0 || f_says_rest == 32'd0);
wire        f_follows  = f_says_tag == f_tag && f_says_rest == f_rest;
wire        f_fresh    = !f_active && !f_drops;
wire        f_bad      = !f_drops && (!f_sound || (f_active && !f_follows));
wire        f_fits     = f_ready && f_says_rest <= {{31-AW{1'b0}}, f_space};
wire        f_takes    = !f_drops && !f_bad && (f_active || f_fits);
wire        f_ends     = f_says_rest == {16'd0, f_bytes};
wire        f_told     = told_ready && told_vl == f_vl;
wire        f_finds    = state == FOUND && !for_told && f_mine;
wire        f_judged   = settles && f_mine && !f_cancelled;
wire        f_struck   = strikes && sweep == f_vl;
wire        f_breaks   = (f_active || f_drops) && ((f_told && (!told_open || told_life != f_link_life)) ||
                                                   (f_finds && (f_life != f_link_life || f_ctx != f_link_ctx)));

// Its bytes in this packet, and where they go.
reg  [31:0]   f_got;
wire [16:0]   f_n      = f_in - 17'd11;
wire          f_gives  = take && f_mine && f_in >= 17'd11 && !f_cancelled && f_takes && f_n < {1'b0, f_bytes};
wire [31:0]   f_offset = (f_active ? f_length - f_rest : 32'd0) + {15'd0, f_n};
wire [AW-1:0] f_place  = (f_active ? f_start : f_address) + f_offset[AW-1:0];
always @(posedge clk) begin
    f_got <= f_in == 17'd0 && !f_whole ? 32'd0 : f_got + {31'd0, f_gives};
    if (f_judged) begin
        {f_active, f_drops} <= {!f_ends && f_takes, !f_ends && !f_takes};
        {f_link_life, f_link_ctx, f_rest} <= {f_life, f_ctx, f_says_rest - {16'd0, f_bytes}};
        f_sum <= (f_active ? f_sum : 32'd0) + f_got;
        if (!f_active) {f_cookie, f_tag, f_length, f_start, f_room} <= {f_new_cookie, f_says_tag, f_says_rest, f_address, f_space};
    end
    if (f_breaks || f_struck || rst) {f_active, f_drops} <= 2'b00;
end

// The receive that is to be completed.
reg                 f_due, f_was_bad;
reg  [6:0]          f_status;
reg  [CONTEXTS-1:0] f_due_ctx;
wire f_completes = (f_breaks && f_active) || (f_judged && (f_takes ? f_ends : f_bad ? f_active : f_fresh && f_ready));
always @(posedge clk) begin
    f_was_bad <= f_judged && f_bad;
    if (f_due && d_valid && d_ready) f_due <= 1'b0;
    if (f_completes) begin
        f_due     <= 1'b1;
        f_status  <= f_judged && f_takes ? `LP_COMPLETION_OK : f_judged && !f_bad ? `LP_COMPLETION_TOO_LONG : `LP_COMPLETION_BROKEN;
        f_due_ctx <= f_link_ctx;
        if (f_judged) f_due_ctx <= f_ctx;
    end
    if (rst) {f_due, f_was_bad} <= 2'b00;
end

// The byte followed: in a word that is not full yet, or that the packet has left short, or in one that waits for w_take; and whose packet's
// bytes the writer has.
wire f_begins = state == JUDGE && idle;
wire f_byte   = f_gives && f_place == f_where;
wire f_there  = f_gives && f_place[AW-1:2] == f_where[AW-1:2];
wire f_closes = f_there && f_place[1:0] == 2'd3;
reg                 f_part, f_short, f_full, f_w_mine;
reg  [CONTEXTS-1:0] f_w_ctx;
reg  [7:0]          f_part_value, f_full_value;
wire f_here = f_w_mine && w_valid && w_addr == f_where[AW-1:2] && w_mask[f_where[1:0]];
always @(posedge clk) begin
    if (f_begins) {f_w_mine, f_w_ctx} <= {f_mine, f_ctx};
    if (f_byte) {f_part, f_part_value} <= {1'b1, s_data};
    if (w_take) f_full <= 1'b0;
    if (f_closes) {f_full, f_full_value} <= {f_part || f_byte, f_byte ? s_data : f_part_value};
    if (f_short)  {f_full, f_full_value} <= {f_part, f_part_value};
    if (f_closes || f_begins) f_part <= 1'b0;
    f_short <= f_there && !f_closes && f_n + 17'd1 == {1'b0, f_bytes};
    if (rst) {f_part, f_short, f_full, f_w_mine} <= 4'd0;
end

// What is said of the link to net_vl.
reg                 f_x, f_x_goes_on;
reg  [3:0]          f_x_life;
reg  [CONTEXTS-1:0] f_x_ctx;
always @(posedge clk) begin
    f_x         <= x_look && x_vl == f_vl && !rst;
    f_x_goes_on <= (f_active || f_drops) && x_life == f_link_life && x_context == f_link_ctx;
    {f_x_life, f_x_ctx} <= {x_life, x_context};
end
always @* if (f_x) assume ({x_life, x_context} == {f_x_life, f_x_ctx});

(* hierconn *) wire [1:0]  \u_writer.lane ;
(* hierconn *) wire [23:0] \u_writer.data ;
(* hierconn *) wire [2:0]  \u_writer.mask ;
(* hierconn *) wire        \u_writer.short ;

always @* if (f_run && !rst) begin
    // Isolation: what is written are the bytes of a message, each once, in order, with their values, and no others. They lie in the receive
    // that the message has taken, or is to take by this packet, which is of the context by which the packet came.
    if (f_gives) begin
        assert (f_head[23:8] >= 16'd8 && f_offset < {{31-AW{1'b0}}, f_active ? f_room : f_space});
        assert (f_active ? f_link_ctx == f_ctx && f_link_life == f_life : f_ready);
    end
    if (f_asks && !for_told) assert (f_asked == f_ctx && !f_blind);
    assert (f_here == f_full);
    if (f_full) assert (w_data[8*f_where[1:0] +: 8] == f_full_value);

    // A receive is taken by the first packet of a message, whole and sound, of the context by which it came.
    if (consume) assert (f_whole && f_ready && !f_cancelled && posted_idle && consume_context == f_ctx);
    if (consume) assert (!(f_forgets && forget && forget_context == f_ctx));
    if (f_mine)  assert (consume == (f_judged && f_fresh && !f_bad && f_ready));

    // It is completed once, when the message is over, behind the last byte.
    assert (!(f_completes && f_due));
    assert ((d_valid && d_vl == {{16-VIRTUAL{1'b0}}, f_vl}) == (f_due && idle));
    if (f_due) begin
        assert (d_status == f_status && d_context == f_due_ctx && {d_cookie, d_tag, d_length} == {f_cookie, f_tag, f_length});
        if (f_status == `LP_COMPLETION_OK) assert (f_sum == f_length && f_rest == 32'd0 && f_length <= {{31-AW{1'b0}}, f_room});
    end
    if (d_valid) assert (!w_valid && !\u_writer.short );
    if (f_mine) assert (ev_bad == f_was_bad);

    // Nothing is kept of a context that has been forgotten, nothing written for it, and nothing of it is on its way to be.
    if (f_struck)  assert (forget && (f_active || f_drops) && f_link_ctx == forget_context);
    if (forgotten) begin
        assert (!((f_active || f_drops) && f_link_ctx == forget_context));
        assert (!((w_valid || \u_writer.short ) && f_w_ctx == forget_context));
        assert (!(f_comes && f_ctx == forget_context) || f_cancelled);
        assert (!f_due);
    end

    if (f_x && !x_blind) assert (x_credit == (p_ready || f_x_goes_on));
end

// What ties the registers together; induction needs it.
wire [87:0] f_known = count >= 4'd11 ? ~88'd0 : (88'd1 << 8*count) - 88'd1;
wire [87:0] f_have  = head >> 8*(4'd11 - count);
wire f_whose  = state == SETTLE || (state != IDLE && !for_told);        // a packet is underway, or has been taken back
wire f_copied = f_whose && state != FIND && state != FOUND && f_mine && f_comes && !f_cancelled;
wire f_opened = state == BODY && f_copied && f_takes && left != {LW{1'b0}};
assign f_at = f_vl;
wire [AW-1:0]    f_next  = f_start + f_length[AW-1:0] - f_rest[AW-1:0];
wire [WIDTH-1:0] f_entry = {f_active, f_drops, f_link_life, f_link_ctx, f_cookie, f_tag, f_length[AW:0], f_rest[AW:0], f_next};
localparam HW = 2 + 4 + CONTEXTS;       // bits that count in the entry of a message that is dropped
always @* if (f_run && !rst && state == CLEAR) begin
    assert (!f_comes && !f_active && !f_drops && !f_due);
    assert (!w_valid && !\u_writer.short && !sweeping && !swept && !ended && !f_full && !f_short && !f_was_bad && !ev_bad && !f_asks);
    if (f_vl < sweep) assert (f_word[WIDTH-1 -: 2] == 2'b00);
end
always @* if (f_run && !rst && state != CLEAR) begin
    assert (state <= COMPLETE);
    // The link's entry.
    assert (f_word[WIDTH-1 -: 2] == {f_active, f_drops} && !(f_active && f_drops));
    if (f_drops)  assert (f_word[WIDTH-1 -: HW] == f_entry[WIDTH-1 -: HW]);
    if (f_active) begin
        assert (f_word == f_entry);
        assert (f_rest <= f_length && f_length <= {{31-AW{1'b0}}, f_room} && f_sum == f_length - f_rest);
    end
    if ((state == FOUND && vl == f_vl) || (sweeping && sweep == f_vl)) begin
        assert (joined[WIDTH-1 -: 2] == {f_active, f_drops});
        if (f_active || f_drops) assert (joined == f_word);
    end
    // The packet, or what is told.
    assert (ended == f_whole && f_asks == (state == FOUND));
    if (f_whole) assert (f_in == 17'd0 && (state == SETTLE ? f_end >= 17'd10 : f_end == 17'd10));
    if (state == IDLE || (state != SETTLE && for_told)) assert (!f_comes);
    if (state == SETTLE) assert (f_whole);
    if (f_whole) assert (state == SETTLE || state == JUDGE || (state == HEAD && count == 4'd11));
    if (f_whose && state != SETTLE) assert (gone == !f_comes);
    if (f_whose) assert ({vl, new_context, new_life} == {f_of, f_ctx, f_life});
    if (f_whose && f_comes) begin
        assert (cancelled == f_cancelled && count <= 4'd11 && ((f_have ^ f_head) & f_known) == 88'd0);
        if (!f_whole && state != BODY) assert (f_in == {13'd0, count});
        if (state == FIND || state == FOUND || state == COMPLETE) assert (count == 4'd1);
        if (state == JUDGE || state == BODY || state == SETTLE) assert (count == 4'd11);
        if (state == BODY) assert (f_in >= 17'd11);
        if (state != BODY && state != SETTLE) assert (f_got == 32'd0);
    end
    if (state == HEAD || state == JUDGE || state == BODY) assert (!for_told);
    if (for_told && (state == FIND || state == FOUND)) assert (f_tells && {vl, new_life} == {told_vl, told_life});
    // What is known of the link while its packet comes.
    if (f_whose && f_comes && state != FIND && state != FOUND)
        assert ({ready, address, space, new_cookie} == {f_ready, f_address, f_space, f_new_cookie});
    if (f_copied) begin
        assert ({active, drops} == {f_active, f_drops});
        if (f_active) assert ({cookie, tag, length, rest, place} == {f_cookie, f_tag, f_length, f_rest[AW:0], f_next});
        if (f_active || f_drops) assert ({f_link_life, f_link_ctx} == {f_life, f_ctx});
        if (state == BODY || state == SETTLE) assert (malformed == f_bad && fits == f_fits);
        if (state == BODY) begin
            assert (writes == f_takes);
            if (writes) assert ({{32-LW{1'b0}}, left} + f_got == {16'd0, f_bytes} && (left == 0 || f_got == {15'd0, f_n}));
            if (writes && left == 0) assert (f_n >= {1'b0, f_bytes});
        end
        if (state == SETTLE && f_takes) assert (f_got == {16'd0, f_bytes});
    end
    // Completions.
    assert (f_due == (state == COMPLETE && vl == f_vl));
    // What is forgotten.
    if (sweeping) assert (f_forgets && forget);
    if (swept)    assert (!sweeping && sweep == {VIRTUAL{1'b0}});
    if (!f_forgets) assert (!swept && !sweeping && sweep == {VIRTUAL{1'b0}});
    if (f_forgets && (swept || sweep > f_vl)) assert (!((f_active || f_drops) && f_link_ctx == f_forget_context));
    if (f_forgets && f_comes && f_ctx == f_forget_context && state != FIND) assert (f_cancelled);
    if (sweeping) assert (state != FOUND);
    // The writer.
    if (\u_writer.short ) assert (!w_valid);
    if (state == BODY || state == SETTLE) assert ({f_w_mine, f_w_ctx} == {f_mine, f_ctx});
    assert (f_short == (\u_writer.short && f_w_mine && w_addr == f_where[AW-1:2]));
    if (f_opened) begin
        assert (w_addr == f_place[AW-1:2] - w_valid && \u_writer.lane == f_place[1:0] && !\u_writer.short );
        assert (\u_writer.mask >> f_place[1:0] == 3'd0);
    end
    if (f_opened || f_short) begin
        if ((f_short || f_place[AW-1:2] == f_where[AW-1:2]) && f_where[1:0] != 2'd3) assert (f_part == \u_writer.mask [f_where[1:0]]);
        else assert (!f_part);
        if (f_part) assert (\u_writer.data [8*f_where[1:0] +: 8] == f_part_value);
    end
end
