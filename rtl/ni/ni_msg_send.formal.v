// Properties of ni_msg_send, included in it: a packet is put only for a context's own link that is open in the life in which the message
// began, up, not stopped, and holds less than its window and than what contexts have left; contexts hold SHARE slots at most, and those
// alone whose packets were sent and are not freed. A MESSAGE has as many bytes as v_size says: behind its head those of the memory at the
// descriptor's address and the message's offset, each once, in order, and none but the context's own. The message goes on behind what was
// sent.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);
wire f_lives = f_run && !rst;

// What was said of the link, and what contexts had left when the packet was put.
reg  [31:0]        f_said;
reg  [VIRTUAL-1:0] f_link;
reg                f_fair;
reg  [OW-1:0]      f_next;              // where the message goes on
reg  [3:0]         f_life;              // in which it began
wire f_puts = state == WANT || state == HEAD || state == BODY || state == SENT;
wire f_judged = state == ASK || state == CHECK || f_puts;
always @(posedge clk) begin
    if (ask && asked) {f_said, f_link} <= {link, ask_vl};
    if (state == CHECK) f_fair <= f_said[9:3] == 7'd0 || {25'd0, f_said[9:3]} + {{32-SW{1'b0}}, used} < SHARE;
end
always @* if (f_lives) begin
    assert (state <= FORGET);
    if (f_judged) assert (owns && {{32-OW{1'b0}}, offset} <= length && vl >> VIRTUAL == 16'd0);
    if (state == CHECK || f_puts) assert (answer == f_said && f_link == d_vl[VIRTUAL-1:0]);
    if (f_puts) begin
        assert (f_said[2:0] == 3'b011 && f_said[10 +: CONTEXTS] == ctx && f_said[9:3] < WINDOW && f_fair);
        assert (v_life == f_said[21:18] && (!begun || f_life == f_said[21:18]));
    end
end

// Slots that contexts hold: of packets that were sent whole.
reg        f_out;
reg [SW:0] f_slots;
always @(posedge clk) begin
    f_out   <= (v_valid && v_ready && v_last) || (f_out && !sent);
    f_slots <= f_slots + {{SW{1'b0}}, f_out && sent && !refused} - {{SW{1'b0}}, freed};
    if (rst) {f_out, f_slots} <= {SW + 2{1'b0}};
end
always @* if (f_run) assume (!(freed && f_slots == {SW + 1{1'b0}}));
always @* if (f_lives) begin
    assert (f_out == (state == SENT));
    assert (f_slots == {1'b0, used} && f_slots <= SHARE);
    if (f_puts) assert (f_slots < SHARE);
end

// A word of the memory, whichever the solver likes, and the bytes that have gone.
(* anyconst *) wire [ADDR_WIDTH-3:0] f_at;
(* anyconst *) wire [31:0]           f_data;
always @* if (f_run) begin
    assume (!rd_done || rd_valid);
    if (rd_done && rd_addr == f_at) assume (rd_data == f_data);
end
reg  [MW:0] f_gone, f_count;            // behind the head, and all
reg         f_asks;
reg  [ADDR_WIDTH-3:0] f_asked;
always @(posedge clk) begin
    f_gone  <= state == CHECK ? {MW + 1{1'b0}} : f_gone + {{MW{1'b0}}, shown};
    f_count <= state == CHECK ? {MW + 1{1'b0}} : f_count + {{MW{1'b0}}, step};
    f_asks  <= rd_valid && !rd_done && !rst;
    f_asked <= rd_addr;
end
wire [ADDR_WIDTH-1:0] f_pos  = start_at + {{ADDR_WIDTH-MW-1{1'b0}}, f_gone};
wire [ADDR_WIDTH-3:0] f_word = f_pos[ADDR_WIDTH-1:2], f_read = fetch - start_at[ADDR_WIDTH-1:2];
wire [MW:0]           f_past = {{MW-1{1'b0}}, start_at[1:0]} + f_gone;
wire [MW-2:0]         f_words = span[MW:2];
always @* if (f_lives) begin
    if (f_puts) assert ({1'b0, bytes} <= MOST && bytes_left <= bytes && f_gone == {1'b0, bytes - bytes_left} && at == f_pos[1:0]);
    if (state == WANT || state == HEAD) assert (f_gone == {MW + 1{1'b0}});
    if (state == WANT) assert (f_count == {MW + 1{1'b0}});
    if (state == HEAD) assert (f_count == {{MW-3{1'b0}}, place} && place <= HEAD_LAST);
    if (state == BODY) assert (f_count == f_gone + {{MW-3{1'b0}}, FIELDS} && bytes_left != {MW{1'b0}});
    if (state == SENT) assert (f_gone == {1'b0, bytes});
    if (step) assert (v_last == ({{15-MW{1'b0}}, f_count} + 16'd1 == v_size));
    if (streams) begin
        assert (due <= f_words && (have || !ahead));
        assert ({f_words, 2'b00} >= {{MW-1{1'b0}}, start_at[1:0]} + {1'b0, bytes});
        assert (f_read == {{ADDR_WIDTH-1-MW{1'b0}}, f_words - due});
        assert (f_words - due == f_past[MW:2] + {{MW-2{1'b0}}, have} + {{MW-2{1'b0}}, ahead});
        if (have && f_word == f_at) assert (word == f_data);
        if (ahead && f_word + {{ADDR_WIDTH-3{1'b0}}, 1'b1} == f_at) assert (next == f_data);
    end
    if (shown) assert ({{32-OW{1'b0}}, offset} + {{31-MW{1'b0}}, f_gone} < length);
    if (shown && f_word == f_at) assert (v_data == f_data[8*f_pos[1:0] +: 8]);
    // Only the word of a packet without bytes may be asked for in vain.
    if (f_asks && state != SENT) assert (rd_valid && rd_addr == f_asked);
    if (f_asks && state == SENT) assert (bytes == {MW{1'b0}});
end

// Where the message goes on.
wire f_begins = state == READ || state == JUDGE;
always @(posedge clk) begin
    if (state == PEEK) {f_life, f_next} <= progress;
    if (state == FAIL) f_next <= {OW{1'b0}};
    if (f_out && sent && !refused) f_next <= v_final ? {OW{1'b0}} : offset + {{OW-MW-1{1'b0}}, f_gone};
end
always @* if (f_lives) begin
    if (f_begins || f_judged || state == END) assert (offset_after == f_next);
    if (f_begins || f_judged) assert ({f_life, f_next} == {life, offset});
    if (f_puts) assert (v_final == ({{32-OW{1'b0}}, offset} + {{32-MW{1'b0}}, bytes} == length));
end
