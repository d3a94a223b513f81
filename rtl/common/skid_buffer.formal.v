// Properties of skid_buffer, included in it. One word, whichever the solver likes, is followed through.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

wire f_write = s_valid && s_ready;
wire f_read  = m_valid && m_ready;

reg [1:0] f_used;
reg       f_room;                       // the output was free or taken in the last clock
(* anyseq *) wire f_pick;
reg             f_here;
reg [1:0]       f_ahead;                // words to be read before the followed one
reg [WIDTH-1:0] f_data;

always @(posedge clk)
    if (rst) begin
        f_used <= 0;
        f_room <= 1'b1;
        f_here <= 1'b0;
    end else begin
        f_used <= f_used + f_write - f_read;
        f_room <= !m_valid || m_ready;
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
    assert (f_used <= 2);
    assert (m_valid == (f_used != 0));
    assert (s_ready == (f_used != 2));
    if (f_room) assert (s_ready);       // full throughput: a taken word leaves room
    if (f_here) begin
        assert (f_ahead < f_used);
        if (f_ahead == 0) assert (m_data == f_data);
        if (f_ahead == 1) assert (aside == f_data);     // for induction
    end
end
