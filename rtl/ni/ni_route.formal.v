// Properties of ni_route, included in it: what comes out are packets that were no ROUTE, whole, and what datagrams for this node hold that
// is not for the host, whole; nothing else, and in order. For each packet one of: it has come out whole, the host is told of it, it is
// net_vl's, it is counted, or it was void. One packet at a time is read here by the rules of the protocol, and one bit of it, whichever
// the solver likes, is followed; the queue is its contract (fifo_commit_queue.formal.v), which keeps order.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// link_rx's side: what is void stands still, and a packet that waits stays as it is; the node keeps its number while one comes.
reg        f_stood, f_within, f_rst;
reg [8:0]  f_was;
reg [15:0] f_node;
always @(posedge clk) begin
    f_stood  <= s_valid && !s_ready && !rst;
    f_was    <= {s_last, s_data};
    f_node   <= node;
    f_rst    <= rst;
    if (s_void || (s_valid && s_ready)) f_within <= !s_void && !s_last;
    if (rst) f_within <= 1'b0;
end
always @* if (f_run && !rst) begin
    assume (s_keep == 1'b1);
    if (s_void)  assume (!s_valid);
    if (f_stood && !s_void) assume (s_valid && {s_last, s_data} == f_was);
    if (f_within || closing) assume (node == f_node);
end

// The packet that comes, read byte by byte.
localparam [15:0] FIELDS = `LP_ROUTE_FIELDS;
reg  [15:0] f_at;                       // bytes that have come, up to 255
reg         f_route, f_datagram, f_mine, f_group, f_foreign;     // f_foreign: for another node, and at most for the host
reg  [7:0]  f_type, f_low, f_kind;
reg  [15:0] f_length;
wire [15:0] f_inner = f_length - `LP_ROUTE_EXTRA;           // what the packet inside says
wire        f_byte  = s_valid && s_ready;
wire        f_first = f_at == 0;
wire        f_is    = f_first ? s_data == {3'd0, `LP_TYPE_ROUTE} : f_route;
always @(posedge clk) begin
    if (f_byte) begin
        if (f_at < 255) f_at <= f_at + 16'd1;
        f_route <= f_is;
        case (f_at)
            0: {f_datagram, f_mine} <= 2'b11;
            1: f_length[7:0]  <= s_data;
            2: f_length[15:8] <= s_data;
            `LP_ROUTE_DEST: f_low <= s_data;
            `LP_ROUTE_DEST + 1: begin
                f_group <= {s_data, f_low} >= `LP_MULTICAST_BASE;
                f_mine    <= node != 0 && ({s_data, f_low} >= `LP_MULTICAST_BASE || {s_data, f_low} == node || gateway);
                f_foreign <= gateway && {s_data, f_low} < `LP_MULTICAST_BASE && {s_data, f_low} != node;
            end
            `LP_ROUTE_PATH + 1, `LP_ROUTE_PATH + 2, `LP_ROUTE_STATE + 1, `LP_ROUTE_STATE + 2: if (s_data != 0) f_datagram <= 1'b0;
            `LP_ROUTE_STATE: f_type <= s_data;
            `LP_ROUTE_FIELDS: f_kind <= s_data;
            `LP_ROUTE_FIELDS + 1, `LP_ROUTE_FIELDS + 2:
                if (s_data != (f_at == `LP_ROUTE_FIELDS + 1 ? f_inner[7:0] : f_inner[15:8])) f_datagram <= 1'b0;
            default: ;
        endcase
    end
    if (gone || (f_byte && s_last && !f_is) || judged) f_at <= 16'd0;
    if (rst) f_at <= 16'd0;
end
reg  [31:0] f_crc;
reg  [7:0]  f_final;
reg  [15:0] f_putting;                                      // bytes of it of which the host may be told
reg  [15:0] f_put;                                          // words of it that have gone into the queue
wire [15:0] f_bytes  = f_length - OUTSIDE;
wire        f_short  = f_length < OUTSIDE;
wire        f_linked = f_type != `LP_ROUTE_DATAGRAM;
wire        f_told   = f_linked || f_kind[4:0] == `LP_TYPE_REG_DATA || f_kind[4:0] == `LP_TYPE_DONE || f_kind[4:0] == `LP_TYPE_MESSAGE;
wire        f_right  = f_datagram && f_length >= OUTSIDE + LEAST && f_crc == `LP_CRC32C_RESIDUE;
wire        f_good   = f_mine && !f_short && (f_linked ? !f_group : f_right) && (f_told || !f_foreign);
wire        f_writes = (accept && !route) || passed || gives;
always @(posedge clk) begin
    if (f_byte && f_at != `LP_ROUTE_PATH) f_crc <= after(f_first ? `LP_CRC32C_INIT : f_crc, s_data);
    if (f_byte && f_at == FIELDS + f_bytes - 1) f_final <= s_data;
    f_put <= gone || judged || (f_byte && s_last && !f_is) ? 16'd0 : f_put + {15'd0, f_writes};
    if (rst) f_put <= 16'd0;
end
always @* if (f_run && !rst && f_byte) begin        // link_rx has compared its length
    if (s_last) assume (f_at >= 2 && f_at + 1 == (f_at == 2 ? {s_data, f_length[7:0]} : f_length) + `LP_HEADER_BYTES);
    else        assume (f_at < 60 && (f_at < 3 || f_at + 1 < f_length + `LP_HEADER_BYTES));
end

// What goes into the queue, and what becomes of it.
reg f_bad, f_late;
always @(posedge clk) {f_bad, f_late} <= {2{judged && !rst}} & {!f_good, f_good && !f_told && skipped};
always @* if (f_run && !rst) begin
    assert (!overflow && (!f_writes || !full));
    if (accept && !route) assert (word == {s_last, 1'b1, s_data});
    if (passed) assert (f_at == FIELDS + f_put && f_put + 1 < f_bytes && word == {1'b0, 1'b1, s_data});
    if (gives)  assert (f_good && !f_told && f_put + 1 == f_bytes && word == {1'b1, 1'b1, f_final});
    if (judged) assert (gives + (f_good && f_told) + (f_good && !f_told && skipped) + !f_good == 1);
    assert (told == (judged && f_good && f_told));
    if (put)    assert (f_is && (f_at <= FIELDS || f_told));
    if (closing && f_good && f_told) assert (f_putting == f_at);
    if (told)   assert (untold);
    assert (ev_bad == f_bad && ev_late == f_late);
end
always @(posedge clk) begin
    f_putting <= untold || (f_byte && s_last && !f_is) ? 16'd0 : f_putting + {15'd0, put};
    if (rst) f_putting <= 16'd0;
end

// What ties the registers together; induction needs it.
always @* if (f_run && !rst) begin
    assert (f_at <= (closing ? 61 : 60) && f_firm + f_put == f_held);
    if (closing) assert (f_route && at == 0 && f_at == f_length + `LP_HEADER_BYTES && f_at >= 3 && !f_within);
    else         assert (at == (f_at < SEEN ? f_at : SEEN) && f_within == (f_at != 0));
    if (f_at != 0) begin
        assert (routed == f_route && crc == f_crc);
        if (f_at > 1) assert (length[7:0] == f_length[7:0]);
        if (f_at > 2) assert (length == f_length);
        if (f_at > `LP_ROUTE_DEST)     assert (other == (f_low != node[7:0]));
        if (f_at > `LP_ROUTE_DEST + 1) assert (group == f_group && foreign == f_foreign);
        else                           assert (!foreign);
        if (f_at > `LP_ROUTE_STATE)    assert (linked == f_linked);
        if (f_at > FIELDS)             assert (answer == (f_told && !f_linked) || linked);
        if (f_at > `LP_ROUTE_DEST + 1 && node == 0) assert (!f_mine);
        assert (wrong == (node == 0 || (f_at > `LP_ROUTE_DEST + 1 && !f_mine) || (f_at >= START && f_short) || (closing && f_at <= START)));
        assert (strange == (!f_datagram || (f_at >= START && f_length < OUTSIDE + LEAST)));
        if (f_at > 2 && f_at <= START && !closing) assert (f_at < 4 || left == f_bytes || f_short);
        if (f_at >= START && !f_short) assert (left == (f_at - FIELDS < f_bytes ? f_bytes - (f_at - FIELDS) : 16'd0));
        if (f_route && f_at > FIELDS && f_at - FIELDS >= f_bytes && f_bytes != 0 && !f_short) assert (final_data == f_final && final_keep);
        if (f_route && f_at <= FIELDS) assert (f_put == 0);
        if (f_route && f_at > FIELDS && !wrong && !foreign && !strange && !linked && !answer && !skip)
            assert (f_put == (f_at - FIELDS < f_bytes ? f_at - FIELDS : f_bytes - 16'd1));
        if (!f_route) assert (f_put == f_at);
        if (f_route && f_at <= FIELDS + 1) assert (f_putting == f_at);
        if (f_route && f_at > FIELDS && f_told) assert (f_putting == f_at);
    end
    if (f_at == 0) assert (f_put == 0 && f_putting == 0);
end
