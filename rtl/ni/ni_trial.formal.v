// What s_* promises of packets on trial, as fifo_commit does of what link_rx writes into it; included where f_in counts the bytes of the
// packet that have gone in, and f_waits says that a byte was not taken a clock ago.
reg f_doubt;                            // what stood at s_* a clock ago, or was taken last, was on trial
always @(posedge clk) f_doubt <= !s_sure && !rst;
always @* if (!rst) begin
    if (!f_doubt && !s_sure)       assume (s_valid && f_in == 0 && !f_waits);   // a packet is on trial from its beginning
    if (s_void)                    assume (f_doubt && s_sure && !s_valid);
    if (s_valid && s_last)         assume (s_sure);
    if (f_waits && !s_void)        assume (s_valid && s_data == f_wait_data && s_last == f_wait_last);
end
