// Properties of fifo_async, included in it. The two clocks are free inputs of a global time step; the
// proof starts in the state after reset. One word, whichever the solver likes, is followed by number.

(* gclk *) reg f_time;
(* anyconst *) wire [AW+1:0] f_me;
reg [AW+1:0]    f_written = 0, f_read = 0;      // words so far on each side
reg [WIDTH-1:0] f_data;
reg [AW:0]      f_wp_gray = 0, f_rp_gray = 0;   // a time step ago
reg             f_start = 1'b1;

initial assume (wp == 0 && wp_gray == 0 && rp == 0 && rp_gray == 0);
initial assume (!s_ready && !m_valid && !s_clk && !m_clk);
always @* assume (!s_rst && !m_rst);

always @(posedge s_clk) if (push) begin
    f_written <= f_written + 1;
    if (f_written == f_me) f_data <= s_data;
end
always @(posedge m_clk) if (pop) f_read <= f_read + 1;
always @(posedge f_time) begin
    f_start   <= 1'b0;
    f_wp_gray <= wp_gray;
    f_rp_gray <= rp_gray;
end

wire [AW+1:0] f_inside = f_written - f_read;
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
