// Properties of ni_trap, included in it. The specification counts the bytes of the packet at s_* and keeps its first nine; the byte with
// a number that the solver likes is followed into the TRAP. Lengths are as wide as ever.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

wire f_m_move = m_valid && m_ready;
wire f_t_move = t_valid && t_ready;

// A trap is told again only while it stands, and not in the clock in which it is resumed.
always @* if (retrap) assume (hold && !resume);

// The packet at s_*: what has gone in of it. The length field of a sure one is right.
reg [16:0] f_in;
reg [7:0]  f_b [0:8];
reg        f_waits, f_wait_last;
reg [7:0]  f_wait_data;
always @(posedge clk) begin
    f_waits     <= s_valid && !s_ready && !rst;
    f_wait_data <= s_data;
    f_wait_last <= s_last;
    if (take) begin
        f_in <= s_last ? 17'd0 : f_in + 17'd1;
        if (f_in < 9) f_b[f_in[3:0]] <= s_data;
    end
    if (rst || s_void) f_in <= 17'd0;
end
`include "ni_trial.formal.v"
wire [15:0] f_length = {f_b[2], f_b[1]};
wire [15:0] f_frame  = {f_b[4], f_b[3]};
wire [16:0] f_end    = {1'b0, f_length} + 17'd2;    // number of the last byte
always @* begin
    if (s_valid && f_in < 2)            assume (!s_last);
    if (s_valid && s_sure && f_in == 2) assume (s_last == ({s_data, f_b[1]} == 16'd0));
    if (s_valid && s_sure && f_in > 2)  assume (s_last == (f_in == f_end));
    if (s_sure && !s_void && f_in > 2)  assume (f_in <= f_end);
    if (s_valid)                        assume (f_in <= 17'd65538);
end
wire f_is_page   = f_b[0] == `LP_TYPE_PAGE;
wire f_trap_type = f_in == 0 ? s_data == `LP_TYPE_PAGE || s_data == `LP_TYPE_CONNECT : f_is_page || f_b[0] == `LP_TYPE_CONNECT;
wire f_good      = f_is_page ? f_length == 16'd6 && f_frame < FRAMES
                             : f_length >= 16'd4 && f_length <= 16'd68 && f_length + 6 <= MAX_PACKET;

// The carrying-out side says that it is quiet only between packets. f_done: it has been since the last byte that passed.
reg f_out, f_done;
always @* if (f_out) assume (!quiet);
always @(posedge clk) begin
    if (f_m_move) f_out <= !m_last;
    f_done <= !f_m_move && (f_done || quiet);
    if (s_void) f_out <= 1'b0;
    if (rst) {f_out, f_done} <= 2'b00;
end

// The TRAP: how much of it has gone out, its head first, and the followed byte. f_owed: the packet is in, and its TRAP is not yet out.
// f_again: the one that stands is to be told again.
(* anyconst *) wire [16:0] f_which;
reg [16:0] f_told;
reg [7:0]  f_byte;
reg        f_owed, f_owed_q, f_again, f_hold;
wire       f_ends  = f_t_move && t_last;
wire       f_whole = take && s_last && f_in > 4 && f_trap_type && f_good;
always @(posedge clk) begin
    if (f_t_move) f_told <= t_last ? 17'd0 : f_told + 17'd1;
    if (take && f_in == f_which) f_byte <= s_data;
    f_owed   <= (f_owed || f_whole) && (!f_ends || f_again);
    f_owed_q <= f_owed;
    f_again  <= (f_again || retrap) && !(f_again && f_ends);
    if (f_ends && !f_again) f_hold <= 1'b1;
    else if (resume)        f_hold <= 1'b0;
    if (rst) {f_owed, f_owed_q, f_again, f_hold} <= 4'd0;
    if (rst) f_told <= 17'd0;
end
wire [15:0] f_trap_length = f_length + 16'd3;

// What stands: a PAGE or a CONNECT, and its fields.
reg        f_kept_page;
reg [47:0] f_kept;
wire [47:0] f_fields = f_is_page ? {f_b[8], f_b[7], f_b[6], f_b[5], f_b[4], f_b[3]} : {16'd0, f_b[6], f_b[5], f_b[4], f_b[3]};
always @(posedge clk) if (f_ends && !f_again) {f_kept_page, f_kept} <= {f_is_page, f_fields};
wire [7:0]  f_kept_length = f_kept_page ? 8'd6 : 8'd4;
wire [2:0]  f_nth  = f_told[2:0] - 3'd4;                    // of the fields
reg  [7:0]  f_retold;           // byte f_told of it, from 1 on
always @* case (f_told)
    17'd1:   f_retold = f_kept_page ? `LP_TYPE_PAGE : `LP_TYPE_CONNECT;
    17'd2:   f_retold = f_kept_length;
    17'd3:   f_retold = 8'd0;
    default: f_retold = f_kept[8*f_nth +: 8];
endcase

always @* if (f_run && !rst) begin
    // Held from the end of the report to RESUME, and nothing passes between the beginning of a packet that traps and its end.
    assert (hold == f_hold);
    if (m_valid) assert (!f_trap_type && !f_owed);
    // What passes is what came, at once; the rest goes nowhere else.
    assert (f_m_move == (take && !f_trap_type));
    if (m_valid) assert (m_data == s_data && m_last == s_last);
    // A report begins when all before it has been carried out and resumed.
    if (t_valid && !f_again) assert (f_good && !f_hold && f_done && !f_out && (f_owed || (f_trap_type && f_in > 4)));
    // It is the packet, whole, behind its head.
    if (t_valid && f_told == 0) assert (t_kind == {LINK[2:0], `LP_TYPE_TRAP});
    if (t_valid && !f_again) begin
        if (f_told == 0) assert (t_length == f_trap_length);
        if (f_told == f_which + 1) assert (t_data == (f_in == f_which && !f_owed ? s_data : f_byte));
        assert (t_last == (f_told == f_end + 1));
    end
    // Once: when the packet is in, its TRAP comes before anything else is taken, and there is none without a packet.
    if (f_owed) assert (!take);
    if (f_owed && f_owed_q) assert (t_valid);
    if (f_ends && !f_again) assert (f_owed || f_whole);
    // A trap that is told again is the one that stands, whole but for a CONNECT's params; it comes at once, and nobody else's.
    assert (!(f_again && f_owed));
    if (f_again) begin
        assert (t_valid && t_last == (f_told == f_kept_length + 8'd3));
        if (f_told == 0) assert (t_length == f_kept_length + 16'd3);
        else             assert (t_data == f_retold);
    end
end

// What ties the registers together; induction needs it.
wire [2:0]  f_turns  = telling && place > 3 ? place - 4'd3 : 3'd0;     // of the fields
wire [47:0] f_stands = f_hold || f_again ? f_kept : f_fields;
wire        f_page   = f_hold || f_again ? f_kept_page : f_is_page;
wire [95:0] f_twice  = f_page ? {f_stands, f_stands} : {32'd0, f_stands[31:0], f_stands[31:0]};
wire [47:0] f_turned = f_twice[8*f_turns +: 48];
wire        f_fields_ok = f_page ? fields == f_turned : fields[47:16] == f_turned[31:0];
always @* if (f_run && !rst) begin
    assert (state <= PASS);
    if (state == LOOK) assert (f_in == 0 && (f_again || f_told == 0));
    assert (f_out == (f_in != 0 && !f_trap_type));
    if (state == COLLECT || state == CHECK || state == DROP || (state == TELL && !ended)) assert (!f_doubt);
    if (state == PASS) begin
        assert (f_again || f_told == 0);
        if (f_in == 0) assert (f_waits);
        if (!s_void)   assert (!f_trap_type);
    end
    if (state != PASS && state != LOOK) assert (!f_hold && f_done && !f_out && !f_again);
    else                                assert (telling == f_again);
    if (f_hold || f_again) begin
        assert (is_page == f_kept_page && ended && length == f_kept_length);
        if (!telling) assert (f_page ? fields == f_kept : fields[47:16] == f_kept[31:0]);
    end
    if (telling) begin
        assert (f_told == place && place < 4 + (is_page ? 6 : 4) && f_fields_ok);
        if (f_again && place != 0) assert (out == f_retold);
    end
    if (state == COLLECT) begin
        assert (place == f_in && f_in < (f_in != 0 && f_is_page ? 9 : 7) && f_told == 0 && !telling && !f_owed);
        if (f_in == 0) assert (f_waits && f_trap_type);
        else           assert (f_trap_type);
        if (f_in > 0)  assert (is_page == f_is_page);
        if (f_in > 1)  assert (length == f_b[1]);
        if (f_in > 2)  assert (too_long == (f_b[2] != 0));
        case (f_in)
            17'd1: assert (fields[47:40] == f_b[0]);
            17'd2: assert (fields[47:32] == {f_b[1], f_b[0]});
            17'd3: assert (fields[47:24] == {f_b[2], f_b[1], f_b[0]});
            17'd4: assert (fields[47:16] == {f_b[3], f_b[2], f_b[1], f_b[0]});
            17'd5: assert (fields[47:8] == {f_b[4], f_b[3], f_b[2], f_b[1], f_b[0]});
            17'd6: assert (fields == {f_b[5], f_b[4], f_b[3], f_b[2], f_b[1], f_b[0]});
            17'd7: assert (fields == {f_b[6], f_b[5], f_b[4], f_b[3], f_b[2], f_b[1]});
            17'd8: assert (fields == {f_b[7], f_b[6], f_b[5], f_b[4], f_b[3], f_b[2]});
            default: ;
        endcase
    end
    if (state == CHECK || state == TELL) begin
        assert (is_page == f_is_page && (f_is_page || f_b[0] == `LP_TYPE_CONNECT));
        assert (f_in == 0 || f_trap_type);
        if (ended) assert (f_in == 0 && f_end == (is_page ? 8 : 6) && f_owed == f_good);
        else       assert (f_in >= (is_page ? 9 : 7) && f_in <= f_end && !f_owed);
    end
    if (state == COLLECT && f_in == 4) assert (near == (f_b[3] < FRAMES));
    if ((state == COLLECT && f_in > 4) || state == CHECK) assert (exists == ({f_b[4], f_b[3]} < FRAMES));
    if (state == CHECK) begin
        assert (!telling && f_told == 0 && f_fields_ok && place == (is_page ? 9 : 7));
    end
    if (state == LOOK || state == PASS || state == DROP) assert (!f_owed);
    if (state == TELL) begin
        assert (f_good && f_fields_ok);
        if (is_page) assert (ended);
        if (telling) begin
            assert (f_in == 0 || f_in == 7);
            assert (length == (place < 3 ? f_b[1] : is_page ? 8'd6 : 8'd4));
            case (place)
                4'd0: ;
                4'd1:    assert (out == f_b[0]);
                4'd2:    assert (out == f_b[1]);
                4'd3:    assert (out == f_b[2]);
                default: assert (out == f_fields[8*f_nth +: 8]);
            endcase
        end else
            assert (!ended && f_told == f_in + 1 && length == 8'd4);
    end
    if (state == DROP) assert (f_told == 0 && !f_good && !telling && f_trap_type && f_in >= (f_is_page ? 9 : 7));
    if ((f_in > f_which || f_owed) && f_which < 9 && (f_owed ? f_which <= f_end : 1'b1)) assert (f_byte == f_b[f_which[3:0]]);
end
