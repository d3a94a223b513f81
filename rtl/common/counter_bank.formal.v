// Properties of counter_bank, included in it. One counter, whichever the solver likes, is followed.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

(* anyconst *) wire [AW-1:0] f_me;
always @* assume (f_me < N);
wire [IW-1:0] f_bit = f_me[IW-1:0];

// Clocks since the last event, up to 7; one that is slow comes then at the soonest.
wire      f_slow = SLOW[f_bit];
reg [2:0] f_gap;
always @(posedge clk)
    if (rst)                  f_gap <= 7;
    else if (event_in[f_bit]) f_gap <= 0;
    else                      f_gap <= f_gap + (f_gap != 7);
always @* assume (!f_slow || f_gap == 7 || !event_in[f_bit]);

// The specification: all events since reset, now and as they were k clocks ago.
reg [31:0] f_all, f_all1, f_all2, f_all3, f_all4;
reg [2:0]  f_since;                     // clocks since reset, up to 7
always @(posedge clk)
    if (rst) begin
        f_all   <= 0;
        f_since <= 0;
    end else begin
        f_all   <= f_all + event_in[f_bit];
        f_since <= f_since + (f_since != 7);
    end
always @(posedge clk) begin
    f_all1 <= f_all;
    f_all2 <= f_all1;
    f_all3 <= f_all2;
    f_all4 <= f_all3;
end

always @* if (f_run && rd_valid && {apart[5], addr5} == {1'b0, f_me}) assert (rd_data == f_all4);

// Another word, f_me of those if the solver follows one: it is what was last written.
(* anyconst *) wire f_apart;
reg [31:0] f_other;
reg        f_known, f_asked, f_wr, f_to;
reg [31:0] f_data;
reg [IW-1:0] f_addr;
always @(posedge clk) begin
    {f_asked, f_wr, f_to, f_data, f_addr} <= {rd_en && !rd_valid && !rst, wr_en, other, wr_data, rd_addr};
    if (rd_valid && !rst && apart[5] && addr5 == f_me) {f_known, f_other} <= {1'b1, rd_data};
    if (!f_run) f_known <= 1'b0;
end
always @* if (f_asked) assume (rd_en && {f_wr, f_to, f_data, f_addr} == {wr_en, other, wr_data, rd_addr});
wire f_mine = apart[5] && addr5 == f_me;
always @* if (f_run && f_apart) begin
    if (rd_valid && f_mine && f_wr) assert (rd_data == f_data);
    if (rd_valid && f_mine && !f_wr && f_known) assert (rd_data == f_other);
    if (f_known && !(write5 && f_mine)) assert (f_word == f_other);
end

// For induction: what each stage holds of the followed counter, and that memory is never so far
// behind that the small counter could wrap twice. That last fact is a matter of the schedule alone;
// induction over more clocks than a round of the walker takes finds it by itself.
assign f_at = {!f_apart, f_me};
reg [31:0] f_saved;                     // what memory holds for the followed counter; 0 before
reg        f_landed;
reg [5:0]  f_age;                       // clocks since the count was f_saved
always @(posedge clk)
    if (rst) begin
        f_saved  <= 0;
        f_landed <= 1'b0;
        f_age    <= 0;
    end else if (write5 && {apart[5], addr5} == {1'b0, f_me}) begin
        f_saved  <= word5;
        f_landed <= 1'b1;
        f_age    <= 5;
    end else f_age <= f_age + 1;

wire [ACC-1:0] f_bits = f_slow ? (1 << FEW) - 1 : (1 << ACC) - 1;   // those of its small counter
wire [ACC-1:0] f_tally = tally[ACC*f_me +: ACC];

always @* if (f_run) begin
    assert (f_tally == (f_all[ACC-1:0] & f_bits));
    assert (f_age <= (1 << ACC) - 1);
    assert (f_all - f_saved <= f_age);
    assert (!f_slow || 8 * (f_all - f_saved) <= f_age + 7 - f_gap);
    assert (f_all1 - f_saved <= f_age || !go[2] || {apart[2], addr2} != {1'b0, f_me});
    if (f_landed && !f_apart) assert (f_word == f_saved);
    if (go[2] && {apart[2], addr2} == {1'b0, f_me}) assert (chosen == (f_all1[ACC-1:0] & f_bits));
    if (go[3] && {apart[3], addr3} == {1'b0, f_me}) begin
        assert (now3 == (f_all2[ACC-1:0] & f_bits));
        assert (f_all2 - f_saved <= f_age);
        assert (slow3 == f_slow);
        if (fresh[3]) assert (f_all2 <= f_bits);
        else          assert (f_landed && word3 == f_saved);
    end
    if (go[4] && {apart[4], addr4} == {1'b0, f_me}) begin
        assert (sum4 == f_all3);
    end
    if (write5 && {apart[5], addr5} == {1'b0, f_me}) assert (word5 == f_all4);
end
