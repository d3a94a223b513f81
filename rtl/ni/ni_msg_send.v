`default_nettype none
// Sends messages of contexts, a packet of each in turn, out of the memory.
//
// Contract:
//   q_*: contexts that have sends. u_*, e_*, takes, more: as of ni_msg_table. rd_*: reads words, as of ni_msg_reads.
//   ask with ask_vl stands until asked (pulse): link: what net_vl says of it, as its register 7.
//   want: a packet is to be sent; from `turn` on v_* are its bytes, as net_vl takes them, until `sent`, and v_life is the life of the link
//   that it is for. note (pulse) with sent: the slot has the last packet of the message that d_* and ctx say.
//   freed (pulse): a slot of the contexts' is free again. SHARE: how many they may hold.
//   d_valid with d_*: a send that is completed with d_status, until d_ready.
//   forget: nothing is kept of forget_context, from forgotten (pulse) on.
//
// Proven: ni_msg_send.formal.v.
// Source: doc/protocol.md, "Messages of an interface".
module ni_msg_send #(
    parameter CONTEXTS   = 8,
    parameter VIRTUAL    = 4,
    parameter PAGE_BYTES = 1024,
    parameter ADDR_WIDTH = 12,
    parameter WINDOW     = 16,
    parameter SHARE      = 32
) (
    input  wire                  clk,
    input  wire                  rst,

    input  wire                  q_valid,
    input  wire [CONTEXTS-1:0]   q_context,
    output wire                  q_take,
    output wire                  u_valid,
    output wire                  u_op,
    input  wire                  u_done,
    output reg                   takes,
    output reg                   more,
    input  wire                  e_enabled,
    input  wire                  e_sends,
    input  wire [3:0]            e_size,
    input  wire [7:0]            e_first,
    input  wire [7:0]            e_last,
    input  wire [15:0]           e_send_head,

    output wire                  rd_valid,
    output wire [ADDR_WIDTH-3:0] rd_addr,
    input  wire                  rd_done,
    input  wire [31:0]           rd_data,

    output wire                  ask,
    output wire [VIRTUAL-1:0]    ask_vl,
    input  wire                  asked,
    input  wire [31:0]           link,

    output wire                  want,
    input  wire                  turn,
    output wire                  v_valid,
    input  wire                  v_ready,
    output wire [7:0]            v_data,
    output wire                  v_last,
    output wire                  v_begins,
    output wire [15:0]           v_size,
    output wire                  v_final,
    output wire [3:0]            v_life,
    input  wire                  sent,
    input  wire                  refused,
    output wire                  note,
    input  wire                  freed,

    output wire                  d_valid,
    input  wire                  d_ready,
    output reg  [CONTEXTS-1:0]   ctx,
    output wire [31:0]           d_length,
    output wire [31:0]           d_tag,
    output wire [15:0]           d_vl,
    output wire [15:0]           d_cookie,
    output reg  [6:0]            d_status,

    input  wire                  forget,
    input  wire [CONTEXTS-1:0]   forget_context,
    output wire                  forgotten
);
`include "linkproto.vh"
    localparam [3:0] CLEAR = 4'd0, IDLE = 4'd1, PEEK = 4'd2, READ = 4'd3, JUDGE = 4'd4, ASK = 4'd5, CHECK = 4'd6, WANT = 4'd7, HEAD = 4'd8,
        BODY = 4'd9, SENT = 4'd10, FAIL = 4'd11, END = 4'd12, FORGET = 4'd13;
    localparam [3:0] FIELDS = `LP_MESSAGE_DATA_OFFSET, HEAD_LAST = FIELDS - 4'd1;
    localparam OW = ADDR_WIDTH + 1, SW = $clog2(SHARE + 1), MW = $clog2(PAGE_BYTES);
    localparam integer MOST_DATA = PAGE_BYTES + `LP_PACKET_EXTRA - `LP_MESSAGE_DATA_OFFSET;
    localparam [31:0] MOST = MOST_DATA;
    localparam integer LAST = (1 << CONTEXTS) - 1;

    reg  [3:0]    state;
    reg  [127:0]  descriptor;
    reg  [1:0]    words;                // of it, that have come
    reg  [OW-1:0] offset;               // of the message, what has been sent
    reg  [3:0]    life, now_life;       // of the link, when the message began
    reg  [31:0]   answer;
    reg  [SW-1:0] used;                 // slots
    wire [31:0]   address = descriptor[31:0], length = descriptor[63:32], tag = descriptor[95:64];
    wire [15:0]   vl = descriptor[111:96];
    wire [31:0]   rest  = length - {{32-OW{1'b0}}, offset};
    wire          is_last = rest <= MOST;
    wire [MW-1:0] bytes = is_last ? rest[MW-1:0] : MOST[MW-1:0];
    wire [ADDR_WIDTH-1:0] start_at = address[ADDR_WIDTH-1:0] + offset[ADDR_WIDTH-1:0];
    wire          begun = offset != {OW{1'b0}};
    wire          owns;
    wire [ADDR_WIDTH-1:0] entry;
    reg  [7:0]    first, last;
    reg  [3:0]    size;
    localparam HW = ADDR_WIDTH - 6;     // bits of a place in a ring: four like it fit into the memory
    reg  [HW-1:0] head_at;
    ni_msg_place #(.PAGE_BYTES(PAGE_BYTES), .ADDR_WIDTH(ADDR_WIDTH)) u_place (
        .first(first), .last(last), .size(size), .skip(2'd0), .twice(1'b0), .n({{16-HW{1'b0}}, head_at}), .entry(entry),
        .address(address), .length(length), .owns(owns)
    );
    assign {d_length, d_tag, d_vl, d_cookie} = {length, tag, vl, descriptor[127:112]};

    // What is known of the link: register 7 of net_vl.
    wire          open = answer[0], up = answer[1], stopped = answer[2];
    wire [6:0]    held = answer[9:3];
    wire [CONTEXTS-1:0] of_context = answer[10 +: CONTEXTS];
    assign        ask    = state == ASK;
    assign        ask_vl = vl[VIRTUAL-1:0];
    localparam [SW-1:0] ALL = SHARE[SW-1:0];
    wire [SW-1:0] left = ALL - used;
    wire          room = used != ALL && held < WINDOW[6:0] && (held == 7'd0 || {25'd0, held} < {{32-SW{1'b0}}, left});

    // Words of the memory, one ahead of that whose bytes go out.
    reg  [31:0]   word, next;
    reg           have, ahead;
    reg  [1:0]    at;                   // of the byte that goes out, in its word
    reg  [ADDR_WIDTH-3:0] fetch;        // word that is read next
    reg  [MW-2:0] due;                  // words that are to be read
    reg  [MW-1:0] bytes_left;           // bytes that are to go
    wire [MW:0]   span = {1'b0, bytes} + {{MW-1{1'b0}}, start_at[1:0]} + {{MW-1{1'b0}}, 2'd3};
    reg  [3:0]    place;
    wire          streams = state == WANT || state == HEAD || state == BODY;
    assign rd_valid = (state == READ) || (streams && due != {MW-1{1'b0}} && !ahead);
    assign rd_addr  = state == READ ? {entry[ADDR_WIDTH-1:4], words} : fetch;
    wire [8*`LP_MESSAGE_DATA_OFFSET-1:0] header = {rest, tag, {{16-MW{1'b0}}, bytes} + 16'd`LP_MESSAGE_MIN_LENGTH, 3'd0, `LP_TYPE_MESSAGE};
    assign want     = state == WANT;
    assign v_begins = state == HEAD || state == BODY;
    assign v_size   = {{16-MW{1'b0}}, bytes} + {12'd0, FIELDS};
    assign v_final  = is_last;
    assign v_life   = now_life;
    assign v_valid  = state == HEAD || (state == BODY && have);
    assign v_data   = state == HEAD ? header[8*place +: 8] : word[8*at +: 8];
    assign v_last   = state == HEAD ? place == HEAD_LAST && bytes == {MW{1'b0}} : bytes_left == {{MW-1{1'b0}}, 1'b1};
    wire   step     = v_valid && v_ready;
    wire   shown    = state == BODY && step;
    wire   spent    = shown && (at == 2'd3 || v_last);
    assign note     = state == SENT && sent && !refused && is_last;

    assign q_take    = state == IDLE && q_valid && !forget;
    assign u_valid   = state == PEEK || state == END;
    assign u_op      = state == END;
    assign d_valid   = state == FAIL;
    assign forgotten = state == FORGET;
    wire   keeps     = state == END && u_done;
    wire [OW+3:0] progress;
    reg    [OW-1:0] offset_after;
    ram_sdp #(.WIDTH(OW + 4), .DEPTH(1 << CONTEXTS)) u_progress (
        .clk(clk), .wr_en(keeps || state == CLEAR || state == FORGET), .wr_addr(state == FORGET ? forget_context : ctx),
        .wr_data(keeps ? {now_life, offset_after} : {OW + 4{1'b0}}), .rd_en(state == PEEK), .rd_addr(ctx), .rd_data(progress)
    );
    always @(posedge clk) begin
        used <= used + {{SW-1{1'b0}}, state == SENT && sent && !refused} - {{SW-1{1'b0}}, freed};
        case (state)
            CLEAR: begin
                ctx <= ctx + {{CONTEXTS-1{1'b0}}, 1'b1};
                if (ctx == LAST[CONTEXTS-1:0]) state <= IDLE;
            end
            IDLE: begin
                if (forget) state <= FORGET;
                else if (q_valid) state <= PEEK;
                ctx <= q_context;
                words   <= 2'd0;
            end
            PEEK: begin
                {first, last, size, head_at, takes, more} <= {e_first, e_last, e_size, e_send_head[HW-1:0], 2'b00};
                {life, offset} <= progress;
                {now_life, offset_after} <= progress;
                if (u_done) state <= e_enabled && e_sends ? READ : END;
            end
            READ: if (rd_done) begin
                descriptor <= {rd_data, descriptor[127:32]};
                words <= words + 2'd1;
                if (words == 2'd3) state <= JUDGE;
            end
            JUDGE: begin
                d_status <= !owns || {{32-OW{1'b0}}, offset} > length ? `LP_COMPLETION_BAD_DESCRIPTOR : `LP_COMPLETION_BAD_LINK;
                state <= !owns || {{32-OW{1'b0}}, offset} > length || vl >> VIRTUAL != 16'd0 ? FAIL : ASK;
            end
            ASK: if (asked) {answer, state} <= {link, CHECK};
            CHECK: begin
                if (begun) d_status <= `LP_COMPLETION_CLOSED;
                now_life <= answer[21:18];
                more     <= 1'b1;
                state    <= !open || of_context != ctx || (begun && life != answer[21:18]) ? FAIL :
                            up && !stopped && room ? WANT : END;
                at       <= start_at[1:0];
                bytes_left <= bytes;
            end
            WANT: begin
                place <= 4'd0;
                if (turn) state <= HEAD;
            end
            HEAD: if (step) begin
                place <= place + 4'd1;
                if (place == HEAD_LAST) state <= v_last ? SENT : BODY;
            end
            BODY: if (step) begin
                at <= at + 2'd1;
                bytes_left <= bytes_left - {{MW-1{1'b0}}, 1'b1};
                if (v_last) state <= SENT;
            end
            SENT: if (sent) begin
                takes <= !refused && is_last;
                more  <= refused || !is_last;
                if (!refused) offset_after <= is_last ? {OW{1'b0}} : offset + {{OW-MW{1'b0}}, bytes};
                state <= END;
            end
            FAIL: if (d_ready) {takes, more, offset_after, state} <= {2'b10, {OW{1'b0}}, END};
            END: if (u_done) state <= IDLE;
            default: state <= IDLE;
        endcase
        if (state == CHECK)  {fetch, due} <= {start_at[ADDR_WIDTH-1:2], span[MW:2]};
        else if (rd_done)    {fetch, due} <= {fetch + {{ADDR_WIDTH-3{1'b0}}, 1'b1}, due - {{MW-2{1'b0}}, 1'b1}};
        if (!have || spent)  word <= ahead ? next : rd_data;
        if (rd_done)         next <= rd_data;       // none is read while one is ahead
        if (state == CHECK)      {have, ahead} <= 2'b00;
        else if (!have || spent) {have, ahead} <= {ahead || rd_done, 1'b0};
        else if (rd_done)        ahead <= 1'b1;
        if (rst) {state, ctx, used} <= {CLEAR, {CONTEXTS + SW{1'b0}}};
    end
    wire unused = ^{answer, entry[3:0], header[7:5], span[1:0], e_send_head};
`ifdef FORMAL
`include "ni_msg_send.formal.v"
`endif
endmodule
`resetall
