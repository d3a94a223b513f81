// Properties of ni_compose, included in it. One source, whichever the solver likes, is followed: what of it goes into u_out, which is
// proven by itself.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

(* anyconst *) wire [IW-1:0] f_me;
always @* assume (f_me < N);
wire        f_mine  = grant[f_me];
wire        f_out   = valid && ready && f_mine;         // a byte of its packet goes out
wire        f_move  = s_valid[f_me] && s_ready[f_me];   // its head or a byte goes in
wire [23:0] f_head  = {s_length[16*f_me +: 16], s_kind[8*f_me +: 8]};
wire [8:0]  f_byte  = {s_last[f_me], s_data[8*f_me +: 8]};

// Its packet: whether the head has gone in, and what has gone out of the header. What it offers waits unchanged.
reg        f_inside, f_waits;
reg [23:0] f_wait_head;
reg [8:0]  f_wait_byte;
reg [1:0]  f_sent;
reg [15:0] f_header;
always @(posedge clk) begin
    f_waits     <= s_valid[f_me] && !s_ready[f_me];
    f_wait_head <= f_head;
    f_wait_byte <= f_byte;
    if (f_move) f_inside <= !f_inside || !f_byte[8];
    if (f_out) begin
        f_sent <= last ? 2'd0 : f_sent == 2'd3 ? 2'd3 : f_sent + 2'd1;
        if (f_sent < 2) f_header[8*f_sent[0] +: 8] <= data;
    end
    if (rst) {f_inside, f_waits, f_sent} <= 4'd0;
end
always @* if (f_waits && !rst) begin
    assume (s_valid[f_me]);
    if (f_inside) assume (f_byte == f_wait_byte);
    else          assume (f_head == f_wait_head);
end

always @* if (f_run && !rst) begin
    // One source at a time, and its packet whole.
    assert ((s_ready & ~grant) == 0);
    if (f_sent != 0) assert (f_mine);
    assert (f_inside == (f_sent == 3));
    // Its head goes in with the header's last byte, behind the two others; then each byte goes in as it goes out, and none goes out
    // besides.
    if (f_move) assert (f_out);
    if (f_move && !f_inside) assert (f_sent == 2 && {data, f_header} == f_head && !last);
    if (f_move && f_inside)  assert (f_sent == 3 && {last, data} == f_byte);
    if (f_out)               assert (f_move == (f_sent >= 2) && s_valid[f_me]);
end

// What ties the registers together; induction needs it.
always @* if (f_run && !rst) begin
    assert (grant == 0 || grant == 1 << from);
    if (grant == 0) assert (place == KIND && !known);
    assert (open == (place[1] && !ended ? grant : 0));
    if (!known) assert (place == (ended ? BYTES : KIND));
    if (ended) assert (!known && grant != 0);
    if (f_mine) assert (f_sent == (ended ? KIND : place));
    if (f_mine && known && f_sent == 0) assert (f_waits && header == f_wait_head[7:0]);
    if (f_sent == 1) assert (header == f_wait_head[15:8]);
    if (f_sent == 2) assert (header == f_wait_head[23:16]);
    if (f_sent == 1 || f_sent == 2) assert (f_waits && f_header[7:0] == f_wait_head[7:0]);
    if (f_sent == 2) assert (f_header[15:8] == f_wait_head[15:8]);
end
