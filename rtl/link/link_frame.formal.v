// Properties of frames as link_rx and lane_rx take them, included in the proofs of both: the frame in progress and the one that has
// ended, by the rules of the protocol, and the registers that follow them. Every clock brings any symbol or none, and any key. The
// check sum is a small one (crc32c_byte.formal.v); it is computed here too.

// A reset of some clocks, then none.
reg [1:0] f_clocks = 2'd0;
wire      f_run = f_clocks == 2'd3;
always @(posedge clk) if (!f_run) f_clocks <= f_clocks + 2'd1;
always @* begin
    assume (rst == !f_run);
    assume (sop + eop + data + err + aborted <= 1);
    if (restart) assume (!up);
end

// The frame in progress. Of its packet one bit is compared, of the f_which-th byte.
localparam MOST = 1 + MAX_PACKET + 4;
(* anyconst *) wire [1:0] f_which;
(* anyconst *) wire [2:0] f_bit;
reg        f_in, f_admitted, f_value;
reg [3:0]  f_n;                     // data symbols since SOP
reg [7:0]  f_seq;
reg [15:0] f_length;
wire       f_ok;
wire       f_too_long = data && f_n == MOST;
wire       f_end      = f_in && (sop || eop || err || f_too_long);
wire       f_whole    = eop && f_ok && f_n >= 1 + 3 + 4;
wire [31:0] f_crc;
crc32c_byte f_check (.clk(clk), .init(sop), .key(key), .en(sop || data), .shift(1'b0), .data(byte_q), .crc(f_crc), .ok(f_ok));
always @(posedge clk) begin
    if (!up)   f_admitted <= 1'b0;
    if (f_end || aborted) f_in <= 1'b0;
    if (data) begin
        if (f_n <= MOST) f_n <= f_n + 4'd1;
        if (f_n == 0) f_seq <= byte_q;
        if (f_n == 2) f_length[7:0] <= byte_q;
        if (f_n == 3) f_length[15:8] <= byte_q;
        if (f_n == f_which + 1) f_value <= byte_q[f_bit];
    end
    if (sop) begin
        f_in       <= 1'b1;
        f_admitted <= 1'b1;
        f_n        <= 4'd0;
    end
    if (rst) f_in <= 1'b0;
end

// The frame that has ended, until its event. A frame that overran the FIFO may have ended before.
reg       e_end, e_whole, e_admitted, e_fits, e_value;
reg [7:0] e_seq;
reg [2:0] e_bytes;
reg       v_end, v_good, v_admitted, v_fits;
reg       e_excused, v_excused, f_excused;
always @(posedge clk) begin
    e_end      <= f_end && !rst;
    e_whole    <= f_whole;
    e_admitted <= f_admitted && up;
    e_fits     <= f_n == f_length + 8;
    e_seq      <= f_seq;
    e_bytes    <= f_n - 4'd5;
    e_value    <= f_value;
    v_end      <= e_end && !rst;
    v_good     <= e_whole;
    v_admitted <= e_admitted;
    v_fits     <= e_fits;
    f_excused  <= (f_excused && !sop) || ev_overrun;
    e_excused  <= f_excused || ev_overrun;
    v_excused  <= e_excused || ev_overrun;
end
wire v_crc = v_end && v_admitted && !v_good;

// What ties the registers together; induction needs it.
wire       f_hole;                  // the FIFO has refused a word of the packet on trial
wire [3:0] f_payload = f_n == 0 ? 4'd0 : f_n - 4'd1;
always @* if (f_run) begin
    if (ev_crc) assert (v_crc);
    if (in_frame) begin
        assert (f_in && f_n <= MOST);
        assert (admitted == f_admitted);
        assert (have_seq == (f_n != 0));
        assert (at_most == (f_n == MOST));
        if (f_n > 2) assert (length[7:0] == f_length[7:0]);
        if (f_n > 3) assert (length[15:8] == f_length[15:8]);
        assert ({f_crc[31], f_crc[0]} == {unused_crc[31], unused_crc[0]});
    end
    if (end_frame && !f_hole && end_admitted) assert (e_end);
    if (end_frame && !f_hole && e_end) begin
        assert (e_admitted == end_admitted && e_whole == (end_whole && end_crc_ok));
        if (end_whole) assert (!in_frame && e_fits == end_length_ok);
    end
    if (f_hole) assert (end_frame);
    if (f_in && !in_frame)   assert (f_hole || ev_overrun || f_excused || !f_admitted);
    if (e_end && !end_frame) assert (ev_overrun || e_excused || !e_admitted);
    if (in_frame) assert (!undo);
end
