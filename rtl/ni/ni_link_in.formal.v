// Properties of ni_link_in, included in it: between quiet and the end of hold nothing is written or reported, whatever arrives.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

reg f_shut;         // held without a break since the module was quiet
always @(posedge clk) f_shut <= !rst && hold && (quiet || f_shut);

always @* if (f_run && !rst) begin
    if (f_shut && hold) assert (!w_valid && !n_valid);
    if (quiet) assert (!w_valid && !n_valid);
    // Induction needs it.
    if (f_shut) assert (state != DATA && !note && !cut && writer_idle);
    if (cut)    assert (state == DROP);
end
