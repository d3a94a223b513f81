// Properties of net_vl_bytes, included in it: of packets that are no datagrams each beat goes into the queue once, and shows byte by byte
// before it leaves; of datagrams, and of what is taken back, nothing stays. The queue is its contract (fifo_commit_queue.formal.v), which
// keeps order.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// A packet's beats stand, and are full but for its last; there are MOST at most.
localparam MOST = (MAX_PACKET + WIDTH - 1) / WIDTH;
reg             f_waits;
reg  [9*WIDTH:0] f_was;
wire [9*WIDTH:0] f_beat = {s_last, s_keep, s_data};
function whole(input [9*WIDTH:0] x);            // as a beat may be
    whole = x[8*WIDTH] && (x[9*WIDTH-1 -: WIDTH] & (x[9*WIDTH-1 -: WIDTH] + 1'b1)) == 0 && (x[9*WIDTH] || (&x[9*WIDTH-1 -: WIDTH]));
endfunction
always @* begin
    if (s_void) assume (!s_valid);
    if (f_waits && s_valid) assume (f_beat == f_was);
    assume (whole(f_beat));
end

// What comes: beats of the packet, as far as its state; whether it is a datagram. Beats that are kept of it, and those that have been read.
reg  [2:0] f_in;
reg        f_gram;
reg  [7:0] f_kept, f_read;
wire       f_moves = s_valid && s_ready;
wire       f_turns = f_in == STATE[2:0] && s_data[8*(`LP_ROUTE_STATE % WIDTH) +: 8] == `LP_ROUTE_DATAGRAM;
wire       f_undone = s_void || (f_moves && f_turns);
always @* if (f_kept + 8'd1 == MOST) assume (s_last);
wire       f_pops = f_valid && m_ready && done;
always @(posedge clk) begin
    f_waits <= s_valid && !s_ready && !rst;
    f_was   <= f_beat;
    if (f_moves) begin
        f_in   <= s_last ? 3'd0 : f_in + {2'd0, f_in <= STATE[2:0]};
        f_gram <= !s_last && (f_gram || f_turns);
    end
    f_kept <= f_undone || (f_moves && s_last) ? 8'd0 : f_kept + {7'd0, f_moves && !f_gram};
    f_read <= f_undone || (f_moves && s_last) ? 8'd0 : f_read + {7'd0, f_pops && f_firm == 0};
    if (s_void || rst) {f_in, f_gram} <= 4'd0;
    if (rst) {f_kept, f_read} <= 16'd0;
end
always @* if (f_run && !rst) begin
    assert (s_ready == (f_gram || !full));      // a datagram waits for nobody once it shows to be one
    assert (!overflow && !f_hole);
    assert (keeps == (f_moves && !f_gram && !f_turns));
    assert (f_held - f_firm + f_read == f_kept);
    assert (f_kept < MOST && f_read <= f_kept);
    if (f_gram) assert (f_kept == 0);
end

// What goes: the bytes of a beat, each once.
reg  [3:0] f_at;
integer    f_k;
reg  [3:0] f_bytes;
always @* begin
    f_bytes = 4'd0;
    for (f_k = 0; f_k < WIDTH; f_k = f_k + 1) f_bytes = f_bytes + {3'd0, f_keep[f_k]};
end
wire f_final = f_at + 4'd1 == f_bytes;
always @(posedge clk) begin
    if (m_valid && m_ready) f_at <= f_final ? 4'd0 : f_at + 4'd1;
    if (m_void || rst) f_at <= 4'd0;
end
always @* if (f_run && !rst) begin
    if (m_void) assert (!m_valid);
    assert (m_valid == f_valid && f_pops == (m_valid && m_ready && f_final));
    if (m_valid) assert (m_data == f_data[8*f_at[1:0] +: 8] && m_last == (f_last && f_final));
end

// What ties the registers together; induction needs it.
localparam FN = DEPTH < 16 ? DEPTH : 16;        // loops are unrolled before parameters are set
always @* if (f_run && !rst) begin
    assert (at == f_in && skips == f_gram && f_lane == f_at);
    if (f_gram) assert (f_in > STATE[2:0]);
    if (f_at != 0) assert (m_valid ? f_at < f_bytes : m_void);
    for (f_k = 0; f_k < FN; f_k = f_k + 1)
        if (f_k < f_held) begin
            assert (whole(f_words[(9*WIDTH+1)*f_k +: 9*WIDTH+1]));
            if (f_k >= f_firm) assert (!f_words[(9*WIDTH+1)*f_k + 9*WIDTH]);
        end
    if (f_firm != 0) assert (f_read == 0);
    if (f_read != 0) assert (f_loose || f_firm == 0);
end
