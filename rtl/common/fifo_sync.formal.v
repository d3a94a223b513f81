// Properties of fifo_sync, included in it. One word, whichever the solver likes, is followed from its
// writing to its reading.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

wire f_write = s_valid && s_ready;
wire f_read  = m_valid && m_ready;

reg [AW:0] f_used;
reg        f_fresh;                     // a word was written in the last clock
(* anyseq *) wire f_pick;
reg             f_here;
reg [AW:0]      f_ahead;                // words to be read before the followed one
reg [WIDTH-1:0] f_data;

always @(posedge clk)
    if (rst) begin
        f_used  <= 0;
        f_fresh <= 1'b0;
        f_here  <= 1'b0;
    end else begin
        f_used  <= f_used + f_write - f_read;
        f_fresh <= f_write;
        if (!f_here) begin
            if (f_pick && f_write) begin
                f_here  <= 1'b1;
                f_ahead <= f_used - f_read;
                f_data  <= s_data;
            end
        end else if (f_read) begin
            f_ahead <= f_ahead - 1;
            if (f_ahead == 0) f_here <= 1'b0;
        end
    end

always @* if (f_run) begin
    assert (used == f_used);
    assert (s_ready == (f_used != DEPTH));
    assert (m_valid == (f_used != f_fresh));
    if (f_here && f_ahead == 0 && m_valid) assert (m_data == f_data);
end

// What ties the registers together; induction needs it.
assign f_at = rp + f_ahead[AW-1:0];
wire [AW-1:0] f_wp = rp + used[AW-1:0];
always @* if (f_run) begin
    assert (used <= DEPTH);
    assert (wp == f_wp);
    if (f_fresh) assert (used != 0);
    if (f_here) begin
        assert (f_ahead < used);
        assert (f_word == f_data);
    end
end
