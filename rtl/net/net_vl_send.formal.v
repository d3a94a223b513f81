// Properties of net_vl_send, included in it: each ROUTE that is started goes out once, whole: its fields, the bytes of its slot from the
// first to the last, of which the solver follows one, and their CRC; or it is taken back, as it is when its slot is freed before all of
// the packet has gone. Of a packet that still comes no byte goes before it is there, and the last byte of the ROUTE not before `whole`. No
// clock is lost by the sender itself.
//
// The CRC is a small one (crc32c_byte.formal.v); a receiver's computes it here too, without the byte that routers change.

localparam [4:0] FIELDS = `LP_ROUTE_FIELDS, ROUTE_PATH = `LP_ROUTE_PATH;
localparam [15:0] HEAD_BYTES = FIELDS, LAST_BYTE = `LP_ROUTE_EXTRA - 1;
reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// What was started, and how far it has gone.
(* anyconst *) wire [AW-1:0] f_k;               // the followed byte of the packet
(* anyconst *) wire [7:0]    f_value;
reg                  f_busy, f_early, f_there;  // the packet is not whole yet; its byte is in the slot
reg [15:0]           f_size, f_at;              // f_at: bytes of the ROUTE that have gone
reg [$clog2(SLOTS)-1:0] f_slot;
reg [8*FIELDS-1:0]   f_head;
wire [15:0] f_place = f_at - HEAD_BYTES;        // in the packet
wire        f_in    = f_at >= HEAD_BYTES && f_place < f_size;
wire        f_end   = f_busy && m_valid && m_ready && f_at == f_size + LAST_BYTE;
wire        f_undone = (undo && f_early) || (frees && freed_slot == f_slot && f_busy && f_size != 16'd0 && f_at < HEAD_BYTES + f_size);
wire [15:0] f_length = size + `LP_ROUTE_EXTRA - `LP_HEADER_BYTES;
always @(posedge clk) begin
    if (m_valid && m_ready) f_at <= f_at + 16'd1;
    if (f_end || f_undone) f_busy <= 1'b0;
    if (whole || f_undone) f_early <= 1'b0;
    if (come > f_k || whole) f_there <= 1'b1;
    if (start) begin
        {f_busy, f_early, f_there} <= {1'b1, early, !early};
        {f_at, f_size, f_slot} <= {16'd0, size, slot};
        f_head <= {seq, next, state, vl, class_of, 6'd62, node, dest, f_length, {3'd0, `LP_TYPE_ROUTE}};
    end
    if (rst) {f_busy, f_early} <= 2'b00;
end

// What callers keep to; and the memory: a byte that has come is there until its slot is freed, any other is anything.
reg        f_reads, f_right;
reg [7:0]  f_rd_data;
always @(posedge clk) begin
    f_reads   <= rd_en;
    f_right   <= (rd_en ? rd_at == {f_slot, f_k} && (f_there || come > f_k) : f_right) && !(frees && freed_slot == f_slot);
    f_rd_data <= rd_data;
end
always @* begin
    if (start) assume (idle && !whole && !undo && !frees && size <= SLOT_BYTES && (!early || size != 16'd0));
    if (whole && f_early) assume (f_there || f_k >= f_size);
    if (f_run && !f_reads) assume (rd_data == f_rd_data);
    if (f_right) assume (rd_data == f_value);
end

reg        f_stands, f_void, f_early_q;
reg [8:0]  f_shown;
reg [AW:0] f_come;
always @(posedge clk) begin
    f_stands  <= m_valid && !m_ready && !rst && !f_undone;
    f_shown   <= {m_last, m_data};
    f_void    <= f_undone && !rst;
    f_early_q <= f_early;
    f_come    <= come;
end
wire [31:0] f_crc;
wire        f_ok;
reg         f_ended;
always @(posedge clk) f_ended <= f_end && !rst;
crc32c_byte f_check (
    .clk(clk), .init(start), .key(key), .en(start || (m_valid && m_ready && f_at != ROUTE_PATH)), .shift(1'b0), .data(m_data),
    .crc(f_crc), .ok(f_ok)
);
always @* if (f_run && !rst) begin
    assert (idle == !f_busy);
    assert (m_void == f_void);
    if (m_void) assert (!m_valid);
    if (f_stands) assert (m_valid && {m_last, m_data} == f_shown);
    if (rd_en) assert (f_busy && rd_at[AW +: $clog2(SLOTS)] == f_slot);
    if (m_valid) begin
        assert (f_busy && f_at < f_size + `LP_ROUTE_EXTRA && m_last == (f_at == f_size + LAST_BYTE));
        if (f_at < HEAD_BYTES) assert (m_data == f_head[8*f_at[3:0] +: 8]);
        if (f_in && f_place == f_k) assert (m_data == f_value && f_there);
        if (m_last) assert (!f_early);
    end
    if (f_ended) assert (f_ok);
    if (f_busy && !m_valid) assert (f_in ? f_early_q && f_come <= f_place : f_early && f_at == f_size + LAST_BYTE);
end

// What ties the registers together; induction needs it.
always @* if (f_run && !rst) begin
    assert (coming == f_early && (f_busy || !f_early));
    assert (!f_busy || f_size <= SLOT_BYTES);
    if (f_busy) begin
        assert (from == f_slot && (f_early || f_there || f_k >= f_size));
        assert (f_crc == crc);
        if (part == HEAD) assert (f_at == {12'd0, place} && f_at < HEAD_BYTES && head == f_head >> 8 * place);
        if (part == HEAD) assert (left == f_size && at == have);
        if (part == PACKET) assert (f_in && left == f_size - f_place && at == f_place[AW-1:0] + have);
        if (part == CHECK) begin
            assert (f_at == f_size + HEAD_BYTES + place && place < 4'd4 && left == 16'd0);
            if (place == 4'd1) assert (!f_crc[31]);
            if (place >= 4'd2) assert (f_crc == 32'd0);
        end
        if (part != CHECK && f_at != 16'd0 && !have) assert (f_early_q && f_come <= at);
        if (have && at == f_k + 1'b1 && part != CHECK && f_size != 16'd0) assert (f_right && f_there);
    end
end
