// Properties of lane_framer, included in it: each packet that is given becomes one frame, whole, with its number, its bytes from the
// first to the last and their check sum, in the order in which they were given. The replay buffer is any; it is read at the places that
// were given alone. It says which frames it holds, each until its EOP has been taken. While a lane has its turn in each clock, no more than
// four pass without a symbol.
//
// The check sum is a small one (crc32c_byte.formal.v); a receiver's computes it here too.

reg        f_run = 1'b0;
reg [31:0] f_key;
always @(posedge clk) {f_run, f_key} <= {1'b1, key};
wire [POINTER-1:0] f_span = given_last - given_first;
always @* begin
    if (!f_run) assume (rst);
    if (f_run)  assume (key == f_key);
    if (give)   assume (ready && f_span >= 2 && f_span < 5 && !rst);
end

// Packets whose frames have not gone, the oldest first; one is followed, and of it byte f_k.
localparam P = POINTER;
(* anyseq *)   wire f_pick;
(* anyconst *) wire [P-1:0] f_k;
reg  [1:0]     f_held, f_mine;
reg  [15:0]    f_seqs;
reg  [2*P-1:0] f_firsts, f_spans;
reg  [P-1:0]   f_read;                  // bytes of the newest one that have been asked for
reg            f_asked, f_known;
reg  [7:0]     f_value;
reg  [P:0]     f_at;                    // symbols of the oldest one's frame that have gone
wire [P:0]     f_data = f_at - 2'd2, f_size = {1'b0, f_spans[P-1:0]} + 1'b1;
wire           f_goes = f_valid && f_take;
wire           f_end  = f_goes && f_at == f_size + 6;
wire           f_new  = f_held == 2;    // the newest is the second
wire           f_other = f_end ? f_mine[1] : f_mine != 0;   // another one is followed already
wire [P-1:0]   f_first_new = f_firsts[P*f_new +: P], f_span_new = f_spans[P*f_new +: P];
wire [P-1:0]   f_got = f_read - (f_asked ? came_n : {CW{1'b0}});    // of the newest, bytes that have come
wire           f_next = f_held != f_end;        // what is given now is the second
reg            f_stands;
reg  [8:0]     f_sym_q;
integer        f_i;
always @(posedge clk) begin
    f_stands <= f_valid && !f_take && !rst;
    f_sym_q  <= f_sym;
    f_asked  <= rd_en && !rst;
    if (rd_en) f_read <= f_read + (f_span_new - f_read < WIDTH ? f_span_new - f_read + 1'b1 : WIDTH);
    if (f_asked && f_mine[f_new] && f_k >= f_got && f_k < f_read) {f_known, f_value} <= {1'b1, rd_data[8*(f_k - f_got) +: 8]};
    if (f_goes) f_at <= f_end ? 0 : f_at + 1'b1;
    if (f_end) begin
        f_held   <= f_held - 1'b1;
        f_mine   <= {1'b0, f_mine[1]};
        {f_seqs[7:0], f_firsts[P-1:0], f_spans[P-1:0]} <= {f_seqs[15:8], f_firsts[P +: P], f_spans[P +: P]};
        if (f_mine[0]) f_known <= 1'b0;
    end
    if (give) begin
        f_held <= f_held + 1'b1 - f_end;
        f_read <= 0;
        for (f_i = 0; f_i < 2; f_i = f_i + 1) if (f_i == f_next) begin
            f_mine[f_i]          <= f_pick && !f_other;
            f_seqs[8*f_i +: 8]   <= given_seq;
            f_firsts[P*f_i +: P] <= given_first;
            f_spans[P*f_i +: P]  <= f_span;
        end
    end
    if (rst) {f_held, f_mine, f_at, f_known} <= 0;
end
reg  [2:0] f_quiet;                     // turns in a row without a symbol of what is held
always @(posedge clk) f_quiet <= rst || f_held == 0 || f_valid || !turn ? 0 : f_quiet + 1'b1;
wire [31:0] f_crc;
wire        f_ok;
crc32c_byte f_check (.clk(clk), .init(f_at == 0), .key(key), .en(f_goes), .shift(1'b0), .data(f_sym[7:0]), .crc(f_crc), .ok(f_ok));

wire [P-1:0] f_place = f_first_new + f_read;
always @* if (f_run && !rst) begin
    assert (f_held <= 2 && (ready || f_held != 0) && !(ready && f_held == 2));
    if (!f_valid) assert (f_quiet < 5);
    if (f_stands) assert (f_valid && f_sym == f_sym_q);
    if (rd_en)    assert (turn && f_held != 0 && f_read <= f_span_new && rd_addr == f_place[P-2:0]);
    if (f_valid) begin
        assert (f_held != 0);
        if (f_at == 0)               assert (f_sym == `LP_SYM_SOP);
        else if (f_at == f_size + 6) assert (f_sym == `LP_SYM_EOP && f_ok);
        else                         assert (!f_sym[8]);
        if (f_at == 1)               assert (f_sym[7:0] == f_seqs[7:0]);
        if (f_mine[0] && f_data == f_k && f_data < f_size) assert (f_known && f_sym[7:0] == f_value);
    end
    if (sends)   assert (f_held != 0 && seq == f_seqs[7:0]);
    if (fetches) assert (f_held != 0 && next_seq == f_seqs[8*f_new +: 8]);
    assert ((sends || fetches) == (f_held != 0) && (f_held != 2 || (sends && fetches)));
    assert (done == f_end);
end

// What ties the registers together; induction needs it. First where the frame is.
wire [P:0] f_put  = f_at + f_valid;     // symbols of it that were made
wire [P:0] f_sent = f_put - 2'd2;       // bytes of its packet
wire [1:0] f_sum  = {f_crc[0], f_crc[31]}, f_sum_out = {crc_byte[0], unused_crc[23]};
wire       f_x    = f_sum[1] ^ ^f_sym[7:0];
wire [1:0] f_sum_put = !f_valid ? f_sum : f_at == 0 ? ~key[1:0] : {f_sum[0], 1'b0} ^ {f_x, f_x};
always @* if (f_run && !rst) begin
    assert (state == 1 || state == 2 || state == 4 || state == 8 || state == 16);
    assert (f_held == 0 || f_spans[P-1:0] >= 2 && f_spans[P-1:0] < 5);
    assert (f_held != 2 || f_spans[P +: P] >= 2 && f_spans[P +: P] < 5);
    assert (f_mine != 3 && (f_held != 0 || f_mine == 0) && (f_held == 2 || !f_mine[1]));
    if (!begun) assert (f_held != 0);
    if (begun)  assert (f_held != 2 && (f_held != 0) == sends);
    if (f_held == 0) assert (!sends && !reading);
    if (!begun) assert (sends == (f_held == 2));
    if (state[IDLE]) assert (f_valid ? f_at == f_size + 6 && f_ok : f_at == 0);
    if (state[SEQ])  assert (f_put == 1 && f_valid);
    if (state[DATA]) assert (f_put >= 2 && f_sent < f_size);
    if (state[CRC])  assert (f_sent == f_size + 3 - crc_left);
    if (state[END])  assert (f_sent == f_size + 4);
    if (!state[CRC]) assert (crc_left == 3);
    if (!state[IDLE]) assert (f_sum_put == f_sum_out);
    if (state[CRC] && crc_left == 2) assert (!f_sum_out[0]);
    if (state[END] || (state[CRC] && crc_left < 2)) assert (f_sum_out == 0);
end

// Then the bytes on their way: what is left of the packet whose frame is being sent, and behind it what has come of the newest, if that is
// another one.
wire [P:0] f_rest = !(state[SEQ] || state[DATA]) ? 0 : state[SEQ] ? f_size : f_size - f_sent;
wire [P:0] f_here = cur_n + nxt_n + far_n;
wire [P:0] f_left = begun ? (state[SEQ] ? f_got : state[DATA] ? f_got - f_sent : 0) : f_rest + f_got;
wire [P:0] f_size_new = f_span_new + 1'b1;
wire       f_waits = !begun && f_mine[f_new];       // the followed packet's frame has not begun
wire [P:0] f_gone  = state[DATA] ? f_sent : 0;
wire       f_there = f_waits ? f_k < f_got : f_mine[0] && (state[SEQ] || state[DATA]) && f_k >= f_gone && f_k < f_size;
wire [P:0] f_spot  = f_waits ? f_rest + f_k : f_k - f_gone;     // of the followed byte
wire [P:0] f_stop1 = cur_n, f_stop2 = cur_n + nxt_n;
wire [8*WIDTH-1:0] f_cur = cur >> 8 * f_spot, f_nxt = nxt >> 8 * (f_spot - f_stop1), f_far = far >> 8 * (f_spot - f_stop2);
wire [P:0] f_ends  = begun ? f_rest : f_rest + f_size_new;
wire [2:0]  f_away = !state[DATA] || cur_n != 0 ? 1 : nxt_n != 0 ? 2 : far_n != 0 ? 3 : came ? 4 : 5;     // clocks to the next symbol
always @* if (f_run && !rst) begin
    if (!f_valid && f_held != 0) assert (f_quiet + f_away <= 5);
    assert (came == f_asked && (!came || far_n == 0));
    assert (cur_n <= WIDTH && nxt_n <= WIDTH && far_n <= WIDTH);
    assert (f_here == f_left);
    if (came) assert (f_held != 0 && came_n != 0 && came_n <= WIDTH && came_n <= f_read && came_end == (f_read == f_size_new));
    if (f_held != 0) begin
        assert (f_read <= f_size_new && reading == (f_read < f_size_new));
        if (reading) assert (at == f_place && last == f_first_new + f_span_new && (f_got & (WIDTH - 1)) == 0);
    end
    if (begun && !(state[SEQ] || state[DATA])) assert (!reading && !came);
    if (!begun || sends) assert (next_seq == f_seqs[8*f_new +: 8]);
    // Beats end where their packet does, and no other does.
    if (cur_n != 0) assert (cur_end == (f_stop1 == f_rest || f_stop1 == f_ends));
    if (nxt_n != 0) assert (nxt_end == (f_stop2 == f_rest || f_stop2 == f_ends));
    if (far_n != 0) assert (far_end == (f_here == f_rest || f_here == f_ends));
    if (!begun && f_rest != 0) assert (f_stop1 <= f_rest || cur_n == 0);
    if (!begun && f_rest != 0) assert (f_stop1 >= f_rest || f_stop2 <= f_rest || nxt_n == 0);
    // The followed byte.
    if (f_known) assert (f_mine != 0);
    if (f_mine[f_new] && f_k < f_got)          assert (f_known);
    if (f_mine[f_new] && f_k >= f_got)         assert (!f_known);
    if (f_held == 2 && f_mine[0] && f_k < f_size) assert (f_known);
    if (f_there && f_known && f_spot < f_here) begin
        if (f_spot < f_stop1)      assert (f_cur[7:0] == f_value);
        else if (f_spot < f_stop2) assert (f_nxt[7:0] == f_value);
        else                       assert (f_far[7:0] == f_value);
    end
end
