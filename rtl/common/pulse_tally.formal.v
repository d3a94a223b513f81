// Properties of pulse_tally, included in it: as many pulses as bits, as long as no more than 2^BITS-1 wait.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

reg  [7:0] f_due;                       // bits that have come, less pulses that were given
wire [8:0] f_sum = f_due + $countones(events) - event_out;
always @(posedge clk) f_due <= rst ? 8'd0 : f_sum[7:0];
always @* if (f_run && !rst) assume (f_sum < 1 << BITS);
always @* if (f_run) begin
    assert (waits == f_due);
    assert (event_out == (f_due != 0));
end
