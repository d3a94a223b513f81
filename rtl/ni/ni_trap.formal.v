// Properties of ni_trap, included in it. The specification counts the bytes of the packet at s_* and keeps its first five; the byte with
// a number that the solver likes is followed into the TRAP. Lengths are as wide as ever.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

wire f_m_move = m_valid && m_ready;
wire f_t_move = t_valid && t_ready;

// The packet at s_*: what has gone in of it. It waits unchanged, and its length field is right.
reg [16:0] f_in;
reg [7:0]  f_b0, f_b1, f_b2, f_b3, f_b4;
reg        f_waits, f_wait_last;
reg [7:0]  f_wait_data;
always @(posedge clk) begin
    f_waits     <= s_valid && !s_ready && !rst;
    f_wait_data <= s_data;
    f_wait_last <= s_last;
    if (take) begin
        f_in <= s_last ? 17'd0 : f_in + 17'd1;
        case (f_in)
            17'd0: f_b0 <= s_data;
            17'd1: f_b1 <= s_data;
            17'd2: f_b2 <= s_data;
            17'd3: f_b3 <= s_data;
            17'd4: f_b4 <= s_data;
            default: ;
        endcase
    end
    if (rst) f_in <= 17'd0;
end
wire [15:0] f_length = {f_b2, f_b1};
wire [15:0] f_frame  = {f_b4, f_b3};
wire [16:0] f_end    = {1'b0, f_length} + 17'd2;    // number of the last byte
always @* begin
    if (f_waits && !rst) assume (s_valid && s_data == f_wait_data && s_last == f_wait_last);
    if (s_valid && f_in < 2)  assume (!s_last);
    if (s_valid && f_in == 2) assume (s_last == ({s_data, f_b1} == 16'd0));
    if (s_valid && f_in > 2)  assume (s_last == (f_in == f_end));
end
wire f_trap_type = f_in == 0 ? s_data == `LP_TYPE_PAGE || s_data == `LP_TYPE_CONNECT : f_b0 == `LP_TYPE_PAGE || f_b0 == `LP_TYPE_CONNECT;
wire f_good = f_b0 == `LP_TYPE_PAGE ? f_length == 16'd6 && f_frame < FRAMES
                                    : f_length >= 16'd4 && f_length <= 16'd68 && f_length + 6 <= MAX_PACKET;

// The carrying-out side says that it is quiet only between packets. f_done: it has been since the last byte that passed.
reg f_out, f_done;
always @* if (f_out) assume (!quiet);
always @(posedge clk) begin
    if (f_m_move) f_out <= !m_last;
    f_done <= !f_m_move && (f_done || quiet);
    if (rst) {f_out, f_done} <= 2'b00;
end

// What must be held.
reg f_hold;
always @(posedge clk)
    if (rst)                     f_hold <= 1'b0;
    else if (f_t_move && t_last) f_hold <= 1'b1;
    else if (resume)             f_hold <= 1'b0;

// The TRAP: how much of it has gone out, and the followed byte.
(* anyconst *) wire [16:0] f_which;
reg [16:0] f_told;
reg [7:0]  f_byte;
always @(posedge clk) begin
    if (f_t_move) f_told <= t_last ? 17'd0 : f_told + 17'd1;
    if (take && f_in == f_which) f_byte <= s_data;
    if (rst) f_told <= 17'd0;
end
wire [15:0] f_trap_length = f_length + 16'd3;

always @* if (f_run && !rst) begin
    // Held from the end of the report to RESUME, and nothing passes between the beginning of a packet that traps and its end.
    assert (hold == f_hold);
    if (m_valid) assert (!f_trap_type);
    // What passes is what came, at once; the rest goes nowhere else.
    assert (f_m_move == (take && !f_trap_type));
    if (m_valid) assert (m_data == s_data && m_last == s_last);
    // A report begins when all before it has been carried out and resumed.
    if (t_valid) assert (f_trap_type && f_good && !f_hold && f_done && !f_out);
    // It is the packet, whole, behind its header.
    if (t_valid && f_told == 0) assert (t_data == {LINK[2:0], `LP_TYPE_TRAP});
    if (t_valid && f_told == 1) assert (t_data == f_trap_length[7:0]);
    if (t_valid && f_told == 2) assert (t_data == f_trap_length[15:8]);
    if (t_valid && f_told == f_which + 3) assert (t_data == (f_in == f_which ? s_data : f_byte));
    if (t_valid) assert (t_last == (f_told == f_end + 3));
    // Once: its last byte goes out when the packet's goes in.
    assert ((f_t_move && t_last) == (take && s_last && f_in > 4 && f_trap_type && f_good));
end

// What ties the registers together; induction needs it.
always @* if (f_run && !rst) begin
    assert (state <= PASS);
    if (state == LOOK) assert (f_in == 0 && f_told == 0);
    assert (f_out == (f_in != 0 && !f_trap_type));
    if (f_in > 2) assert (f_in <= f_end);
    if (state == PASS) begin
        assert (f_told == 0 && !f_trap_type);
        if (f_in == 0) assert (f_waits);
    end
    if (state != PASS && state != LOOK) assert (!f_hold && f_done && !f_out);
    if (state == COLLECT) begin
        assert (index == f_in && f_in < 5 && f_told == 0);
        if (f_in == 0) assert (f_waits && f_trap_type);
        else           assert (f_trap_type);
        if (f_in == 1) assert (head[39:32] == f_b0);
        if (f_in == 2) assert (head[39:24] == {f_b1, f_b0});
        if (f_in == 3) assert (head[39:16] == {f_b2, f_b1, f_b0});
        if (f_in == 4) assert (head[39:8] == {f_b3, f_b2, f_b1, f_b0});
    end
    if (state == CHECK || state == REPORT || state == REST || state == DROP) begin
        assert (head == {f_b4, f_b3, f_b2, f_b1, f_b0} && f_trap_type);
        assert (f_in >= 5 && f_in <= f_end);
    end
    if (state == CHECK)  assert (f_in == 5 && f_told == 0 && index == 0);
    if (state == REPORT) assert (f_in == 5 && f_told == index && f_good && out == report[8*index +: 8] && trap_length == f_trap_length);
    if (state == REST)   assert (f_told == f_in + 3 && f_good);
    if (state == DROP)   assert (f_told == 0 && !f_good);
    if (f_in > f_which) case (f_which)
        17'd0: assert (f_byte == f_b0);
        17'd1: assert (f_byte == f_b1);
        17'd2: assert (f_byte == f_b2);
        17'd3: assert (f_byte == f_b3);
        17'd4: assert (f_byte == f_b4);
        default: ;
    endcase
end
