// Properties of net_vl_slots, included in it: of each slot, whichever the solver likes, what was last said of it is told. Which slots are
// free is a queue, proven as fifo_sync.

reg f_run = 1'b0;


reg            f_linked, f_kept, f_sent;        // something has been said of it
reg [SW-1:0]   f_link;
reg [15:0]     f_size;
reg            f_again;
reg [TIME-1:0] f_at;
reg            f_shows;                         // it was looked at last
reg [2:0]      f_said;                          // what had been said then
reg [SW+16+TIME:0] f_told;
// What is looked at and written in the same clock is undefined, so callers do not.
always @* if (look) assume (!(chain && last == at) && !(keep && slot == at) && !(sent && sent_slot == at));
always @(posedge clk) begin
    f_run <= 1'b1;
    if (chain && last == f_slot)     {f_linked, f_link} <= {1'b1, slot};
    if (keep && slot == f_slot)      {f_kept, f_size} <= {1'b1, length};
    if (sent && sent_slot == f_slot) {f_sent, f_again, f_at} <= {1'b1, repeats, now};
    if (look) begin
        f_shows <= at == f_slot;
        f_said  <= {f_linked, f_kept, f_sent};
        f_told  <= {f_link, f_size, f_again, f_at};
    end
    if (!f_run) {f_linked, f_kept, f_sent, f_shows} <= 4'd0;
end
always @* if (f_run && f_shows) begin
    if (f_said[2]) assert (link == f_told[SW+16+TIME -: SW]);
    if (f_said[1]) assert (size == f_told[TIME+1 +: 16]);
    if (f_said[0]) assert ({sent_again, sent_at} == f_told[TIME:0]);
end
// What ties them to the memories; induction needs it.
always @* if (f_run) begin
    if (f_linked) assert (f_link_word == f_link);
    if (f_kept)   assert (f_size_word == f_size);
    if (f_sent)   assert (f_sent_word == {f_again, f_at});
end
