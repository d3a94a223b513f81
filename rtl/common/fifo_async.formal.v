// Properties of fifo_async, included in it. The two clocks are free inputs of a global time step; the
// proof starts in the state after reset. One word, whichever the solver likes, is followed by number.
// Numbers are as wide as the pointers: no more than DEPTH words are ever inside, so they tell all apart.

(* gclk *) reg f_time;
(* anyconst *) wire [AW:0] f_any;
assign f_me = f_any;
reg [AW:0]      f_written = 0, f_read = 0;      // words so far on each side
reg [WIDTH-1:0] f_data;
reg [AW:0]      f_wp_gray = 0, f_rp_gray = 0;   // a time step ago
reg             f_start = 1'b1;
reg             f_held = 1'b0;                  // the followed word was inside a time step ago, so it is in the memory

initial assume (wp == 0 && wp_gray == 0 && rp == 0 && rp_gray == 0);
initial assume (!s_ready && !m_valid && !s_clk && !m_clk);
always @* assume (!s_rst && !m_rst);

wire [AW:0] f_inside = f_written - f_read;
wire [AW:0] f_ahead  = f_me - f_read;
wire        f_here   = f_ahead < f_inside;

always @(posedge s_clk) if (push) begin
    f_written <= f_written + 1;
    if (f_written == f_me) f_data <= s_data;
end
always @(posedge m_clk) if (pop) f_read <= f_read + 1;
always @(posedge f_time) begin
    f_start   <= 1'b0;
    f_wp_gray <= wp_gray;
    f_rp_gray <= rp_gray;
    f_held    <= f_here;
end

wire [AW:0]   f_wp_flip = wp_gray ^ f_wp_gray;
wire [AW:0]   f_rp_flip = rp_gray ^ f_rp_gray;
always @* if (!f_start) begin
    assert (f_inside <= DEPTH);
    if (m_valid) assert (f_inside != 0);
    if (m_valid && f_read == f_me) assert (m_data == f_data);
    // What crosses changes in one bit at a time.
    assert ((f_wp_flip & (f_wp_flip - 1)) == 0);
    assert ((f_rp_flip & (f_rp_flip - 1)) == 0);
end

// What ties the registers together; induction needs it. From the pointer that the writer sees to its own, none overtakes the next.
function [AW:0] binary(input [AW:0] g);
    integer k;
    begin
        binary = g;
        for (k = 1; k <= AW; k = k + 1) binary = binary ^ (g >> k);
    end
endfunction
wire [AW:0] f_oldest = binary(rp_seen);
wire [AW:0] f_r1 = binary(f_rp_first) - f_oldest;
wire [AW:0] f_r  = rp - f_oldest;
wire [AW:0] f_w2 = binary(wp_seen) - f_oldest;
wire [AW:0] f_w1 = binary(f_wp_first) - f_oldest;
wire [AW:0] f_w  = wp - f_oldest;
always @* begin
    assert (wp == f_written && wp_gray == gray(wp));
    assert (rp == f_read && rp_gray == gray(rp));
    assert (f_r1 <= f_r && f_r <= f_w2 && f_w2 <= f_w1 && f_w1 <= f_w && f_w <= DEPTH);
    if (m_valid) assert (f_r != f_w2);
    if (s_ready) assert (f_w != DEPTH);
    if (f_here && f_held) assert (f_word == f_data);
    if (f_ahead < f_w1 - f_r) assert (f_held);
end
