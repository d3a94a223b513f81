// Properties of ni_link_in, included in it, together with ni_page_writer and a frame table of two links and three frames; this is link 2.
// The specification reads the packets at s_* in full width and keeps, of the table that the host changes as it likes, whether one frame is
// this link's. One byte of that frame, at any address the solver likes, is followed from the packets to the receive buffer's write port.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

localparam [15:0] F_FRAMES = 16'd3;
(* anyseq *)   wire        f_set, f_set_valid;
(* anyseq *)   wire [15:0] f_set_frame, f_other_frame;
(* anyseq *)   wire [2:0]  f_set_link;
(* anyconst *) wire [ADDR_WIDTH-1:0] f_where;
wire [31:0] f_frame = f_where >> PW;
wire        f_unused_valid;
wire [2:0]  f_unused_link;
wire [1:0]  f_allowed;
ni_frame_table #(.LINKS(2), .FRAMES(F_FRAMES)) f_table (
    .clk(clk), .rst(rst), .wr_en(f_set), .wr_frame(f_set_frame), .wr_valid(f_set_valid), .wr_link(f_set_link),
    .rd_frame(16'd0), .rd_valid(f_unused_valid), .rd_link(f_unused_link),
    .look_frame({look_frame, f_other_frame}), .allowed(f_allowed)
);
always @* assume (allowed == f_allowed[1]);

// Whether the frame is this link's, and for how many clocks before this one it was not, up to four.
reg       f_own;
reg [2:0] f_gone;
wire      f_own_q = f_gone == 3'd0;
always @(posedge clk) begin
    if (f_set && f_set_frame == f_frame && f_frame < F_FRAMES) f_own <= f_set_valid && f_set_link == 3'd2;
    f_gone <= f_own ? 3'd0 : f_gone == 3'd4 ? 3'd4 : f_gone + 3'd1;
    if (rst) {f_own, f_gone} <= 4'd4;
end

// The packet at s_*: what has gone in of it. The length field of a sure one is right.
reg [16:0] f_in;
reg [7:0]  f_type;
reg [15:0] f_length;
reg [31:0] f_at;
reg        f_waits, f_wait_last;
reg [7:0]  f_wait_data;
always @(posedge clk) begin
    f_waits     <= s_valid && !s_ready && !rst;
    f_wait_data <= s_data;
    f_wait_last <= s_last;
    if (take) begin
        f_in <= s_last ? 17'd0 : f_in + 17'd1;
        case (f_in)
            17'd0: f_type         <= s_data;
            17'd1: f_length[7:0]  <= s_data;
            17'd2: f_length[15:8] <= s_data;
            17'd3: f_at[7:0]      <= s_data;
            17'd4: f_at[15:8]     <= s_data;
            17'd5: f_at[23:16]    <= s_data;
            17'd6: f_at[31:24]    <= s_data;
            default: ;
        endcase
    end
    if (rst || s_void) f_in <= 17'd0;
end
`include "ni_trial.formal.v"
wire [16:0] f_end = {1'b0, f_length} + 17'd2;       // number of the last byte
always @* begin
    if (s_valid && f_in < 2)            assume (!s_last);
    if (s_valid && s_sure && f_in == 2) assume (s_last == ({s_data, f_length[7:0]} == 16'd0));
    if (s_valid && s_sure && f_in > 2)  assume (s_last == (f_in == f_end));
    if (s_sure && !s_void && f_in > 2)  assume (f_in <= f_end);
    if (s_valid)                        assume (f_in <= 17'd65538);
    if (w_take) assume (w_valid);
end
wire [31:0] f_place  = f_at + {15'd0, f_in} - 32'd7;        // where the byte at s_* goes
wire        f_inside = {28'd0, f_at[PW-1:0]} + {16'd0, f_length} - 32'd4 <= PAGE_BYTES;
wire        f_ours   = f_at >> PW == f_frame;
wire        f_none   = f_at >> PW >= F_FRAMES;
wire        f_true   = f_length >= 4;       // as that of a sure write is

// A write to the frame is granted when it is checked, by the table of the clock before, and until the frame is taken away. What is refused
// is told at its end, since it may be void.
wire f_check = state == CHECK && !hold && !note;
wire f_grant = f_ours && f_inside && f_own_q && f_true;
reg  f_granted, f_refused, f_judged, f_denied;
wire f_cut = f_granted && !f_own_q && !(take && s_last);
always @(posedge clk) begin
    f_judged <= f_ours || f_none;
    f_denied <= (f_refused && take && s_last) || (f_check && f_in == 0 && !f_grant);
    if (f_check)                            f_granted <= f_grant && f_in != 0;
    else if ((take && s_last) || !f_own_q) f_granted <= 1'b0;
    if (f_cut || (f_check && f_in != 0 && !f_grant)) f_refused <= 1'b1;
    else if (take && s_last)                        f_refused <= 1'b0;
    if (rst || s_void) {f_granted, f_refused} <= 2'd0;
    if (rst) {f_judged, f_denied} <= 2'd0;
end

reg f_owed;         // an empty write is in, and not judged yet
always @(posedge clk) begin
    if (take && s_last && f_in == 6 && f_type == {3'd0, `LP_TYPE_WRITE}) f_owed <= 1'b1;
    else if (f_check) f_owed <= 1'b0;
    if (rst) f_owed <= 1'b0;
end

// The byte followed: in a word that is not full yet, or that its run has left short, or in one that waits for w_take.
wire f_byte = take && f_granted && f_place == f_where;
wire f_word = take && f_granted && f_place >> 2 == f_where >> 2 && f_place[1:0] == 2'd3;
reg  f_part, f_short, f_full, f_stood;
reg  [7:0] f_part_value, f_full_value;
wire f_here = w_valid && w_addr == f_where >> 2 && w_mask[f_where[1:0]];
always @(posedge clk) begin
    if (f_byte) begin
        f_part       <= 1'b1;
        f_part_value <= s_data;
    end
    if (w_take) f_full <= 1'b0;
    if (f_word) begin
        f_full       <= f_part || f_byte;
        f_full_value <= f_byte ? s_data : f_part_value;
    end
    if (f_short) begin
        f_full       <= f_part;
        f_full_value <= f_part_value;
    end
    if (f_word || !f_granted) f_part <= 1'b0;
    f_short <= take && f_granted && f_place >> 2 == f_where >> 2 && f_place[1:0] != 2'd3 && s_last;
    f_stood <= f_here && !w_take;
    if (rst) {f_part, f_short, f_full, f_stood} <= 4'd0;
end

reg f_carried;      // of the write checked last, to that frame, something was carried out, or could have been
always @(posedge clk) f_carried <= !rst && !f_check && (f_carried || (f_granted && s_sure));

reg f_shut;         // held without a break since the module was quiet
always @(posedge clk) f_shut <= !rst && hold && (quiet || f_shut);

always @* if (f_run && !rst) begin
    // Protection: what is written are the bytes of granted writes, each once and in order, with their values, and no others.
    // Nothing of a packet on trial is handed on.
    if (f_word) assert (s_sure);
    assert (f_here == f_full);
    if (f_full) assert (w_data[8*f_where[1:0] +: 8] == f_full_value);
    // A frame taken away: a word that stands may go on; one more may come, within three clocks.
    if (f_here && !f_stood) assert (f_gone != 3'd4);
    // What is denied is told; it is the frame that is looked up.
    if (f_judged) assert (ev_denied == f_denied);
    assert (f_owed == (state == CHECK && empty));
    // What is reported was carried out.
    if (n_valid && n_frame == f_frame) assert (f_carried);
    // Hold.
    if (f_shut && hold) assert (!w_valid && !n_valid);
    if (quiet) assert (!w_valid && !n_valid && f_in == 0);
end

// What ties the registers together; induction needs it. hierconn: a register of an instance, by the name that flattening gives it.
(* hierconn *) wire [1:0]  \g_byte.u_writer.lane ;
(* hierconn *) wire [23:0] \g_byte.u_writer.data ;
(* hierconn *) wire [2:0]  \g_byte.u_writer.mask ;
(* hierconn *) wire        \g_byte.u_writer.short ;
(* hierconn *) wire [11:0] \f_table.entries ;
(* hierconn *) wire [PW+1:0] \u_bounds.most , \u_bounds.ends ;
wire [16:0] f_have = state == CHECK && empty ? 17'd7 : f_in;        // of the header, all in CHECK
wire [47:0] f_known = f_have > 6 ? ~48'd0 : (48'd1 << 8 * (f_have - 17'd1)) - 48'd1;       // of length and address, when the type is in
wire [PW+1:0] f_most = f_length[PW:0] - 5;
wire [PW+1:0] f_last = f_at[PW-1:0] + f_most;
always @* if (f_run && !rst) begin
    if (f_frame < F_FRAMES) assert (f_own == (\f_table.entries [4*f_frame[1:0] +: 4] == 4'd10));
    else                    assert (!f_own);
    assert (f_gone <= 4);

    if (state == HEAD) assert (f_in == index && f_in < 7);
    else               assert (index == (state == CHECK ? 3'd7 : 3'd0) || state == DROP);
    if (state == CHECK) assert (empty ? f_in == 0 && f_length == 4 : f_in == 7);
    if (state == DATA)  assert (f_in >= 7 && !f_none && !is_bad && (f_inside || !f_true));
    if (state == DROP)  assert (is_bad == (f_type != {3'd0, `LP_TYPE_WRITE}) && (is_bad || f_in >= 7));
    if (state == DATA && !s_sure) assert (writer_idle);
    if (state == DATA || state == DROP) assert (f_in != 0);
    if (state != DROP) begin
        if (f_have > 0) assert (f_type == {3'd0, `LP_TYPE_WRITE});
        if (f_have > 1) assert (length[7:0] == f_length[7:0]);
        if (f_have > 2) assert (length == f_length);
        if (f_have > 1) assert (high == (({f_at, f_length} & BEYOND & f_known) != 0));
        if (f_have > 3) assert (addr[7:0] == f_at[7:0] && \u_bounds.most == f_most);
        if (f_have > 4) assert (\u_bounds.ends == f_last);
        if (f_have > 5 && !high && f_true) assert (fits == (f_last < PAGE_BYTES || f_last == {(PW + 2){1'b1}}));
        if (f_have > 6) begin
            if (look_frame == f_frame)  assert (mine == f_own_q);
            if (look_frame >= F_FRAMES) assert (!mine);
        end
    end
    if (f_granted) assert (f_true && state == DATA && f_ours);
    if (f_true) assert (f_granted == (state == DATA && f_ours));
    if (state == HEAD || state == CHECK || (state == DROP && is_bad)) assert (!f_refused);
    if (f_true && (f_ours || f_none)) assert (f_refused == (state == DROP && !is_bad));
    if (state == DATA) begin
        assert (w_addr == f_place[ADDR_WIDTH-1:2] - w_valid && \g_byte.u_writer.lane == f_place[1:0]);
        assert (\g_byte.u_writer.mask >> f_place[1:0] == 0 && !\g_byte.u_writer.short );
    end
    if ((cut && f_ours) || (note && n_frame == f_frame)) assert (f_carried);
    assert (f_short == (\g_byte.u_writer.short && w_addr == f_where >> 2));
    if (\g_byte.u_writer.short ) assert (note && !w_valid);
    if (f_granted || f_short) begin
        if ((f_short || f_place >> 2 == f_where >> 2) && f_where[1:0] != 2'd3) assert (f_part == \g_byte.u_writer.mask [f_where[1:0]]);
        else                                                    assert (!f_part);
        if (f_part) assert (\g_byte.u_writer.data [8*f_where[1:0] +: 8] == f_part_value);
    end

    if (f_shut) assert (state != DATA && !note && !cut);
    if (state != DATA && (!note || written) && !cut) assert (writer_idle);
    if (state == DATA || cut) assert (!note);
    if (state == DATA) assert (!written);
end
