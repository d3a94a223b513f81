// Properties of ni_space, included in it. One link, whichever the solver likes, is followed: what the host is to hear of it, and how many
// packets of others go before.

reg [1:0] f_clocks = 2'd0;              // reset takes two
wire      f_run = f_clocks == 2'd2;
always @(posedge clk) if (!f_run) f_clocks <= f_clocks + 2'd1;
always @* assume (rst == !f_run && f_clocks != 2'd3);

(* anyconst *) wire [2:0] f_link;
always @* assume (f_link < LINKS);

// The packet: it is of link f_of, and says the counts that stood in one clock, behind its head.
reg  [1:0]  f_place;                    // of what stands at m_*: 0 is the head
reg  [2:0]  f_of;
reg  [7:0]  f_packets;
reg  [15:0] f_bytes;
wire        f_begins = !busy && (changed || repeats[link]);
wire        f_moves = m_valid && m_ready;
wire        f_looks = (!m_valid || m_ready) && index == 2'd1;
always @(posedge clk) begin
    if (f_begins) f_of <= link;
    if (f_looks) {f_packets, f_bytes} <= {freed_packets[8*f_of +: 8], freed_bytes[16*f_of +: 16]};
    if (f_moves) f_place <= f_place + 2'd1;
    if (rst) f_place <= 2'd0;
end
always @* if (f_run && m_valid) begin
    if (f_place == 2'd0) assert (m_kind == {f_of + 3'd1, `LP_TYPE_SPACE} && m_length == 16'd3 && busy);
    else assert (m_last == (f_place == 2'd3));
    if (f_place == 2'd1) assert (m_data == f_bytes[7:0]);
    if (f_place == 2'd2) assert (m_data == f_bytes[15:8]);
    if (f_place == 2'd3) assert (m_data == f_packets);
end

// What the host is to hear of the link: that its count is another than the one that it was told last, or that its port has started again.
reg  [7:0] f_told;
reg        f_again, f_began;
wire       f_owed = freed_packets[8*f_link +: 8] != f_told || f_again;
reg  [3:0] f_passed;                    // packets of others that have begun since
wire [2:0] f_turn = busy ? next : link;
wire [3:0] f_places = f_link >= f_turn ? f_link - f_turn : f_link + LINKS - f_turn;
always @(posedge clk) begin
    if (f_looks && f_of == f_link) f_told <= freed_packets[8*f_link +: 8];
    if (f_begins && link == f_link) f_again <= 1'b0;
    if (again) f_again <= 1'b1;
    f_began <= f_begins && !rst;
    if (!f_owed || (f_begins && link == f_link)) f_passed <= 4'd0;
    else if (f_begins)                           f_passed <= f_passed + 4'd1;
    if (rst) {f_told, f_again, f_passed} <= 13'd0;
end
always @* if (f_run) begin
    assert (!f_began || busy);
    if (f_begins && link == f_link) assert (f_owed);
    if (f_owed && !busy && link == f_link) assert (f_begins);
    if (f_owed) assert (f_passed + f_places <= LINKS - 1);
end

// What ties the registers together; induction needs it.
always @* if (f_run) begin
    assert (link < LINKS && told[8*f_link +: 8] == f_told && repeats[f_link] == f_again);
    if (busy) assert (f_of == link && index == (m_valid ? f_place + 2'd1 : 2'd0) && (m_valid || f_place == 2'd0));
    else assert (index == 2'd0 && f_place == (m_valid ? 2'd3 : 2'd0));
    if (busy && m_valid && (f_place == 2'd1 || f_place == 2'd2))
        assert (told[8*link +: 8] == f_packets && (f_place != 2'd1 || bytes_high == f_bytes[15:8]));
end
