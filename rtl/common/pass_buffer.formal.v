// Properties of pass_buffer, included in it. One word, whichever the solver likes, is followed through.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

wire f_write = s_valid && s_ready;
wire f_read  = m_valid && m_ready;

reg             f_used, f_stalled, f_here;
reg [WIDTH-1:0] f_data;                 // the followed word
reg [WIDTH-1:0] f_shown;                // what stood at m_data in the last clock
(* anyseq *) wire f_pick;

always @(posedge clk) begin
    f_shown   <= m_data;
    f_stalled <= m_valid && !m_ready && !rst;
    f_used    <= f_used + f_write - f_read;
    if (f_here) f_here <= !f_read;
    else if (f_pick && f_write && !f_read) begin
        f_here <= 1'b1;
        f_data <= s_data;
    end
    if (rst) {f_used, f_here} <= 2'b00;
end

always @* if (f_run) begin
    assert (s_ready == !f_used);
    assert (m_valid == (f_used || s_valid));
    if (f_stalled) assert (m_valid && m_data == f_shown);
    if (f_here) assert (f_used && m_data == f_data);
    if (!f_used && s_valid) assert (m_data == s_data);
    // For induction.
    if (f_stalled) assert (full && aside == f_shown);
end
