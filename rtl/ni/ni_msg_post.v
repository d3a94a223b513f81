`default_nettype none
// Reads the receives of contexts ahead, one of each context, so that a message that comes finds where it goes.
//
// Contract:
//   q_*: contexts that have receives, and none here. u_*, e_*: as of ni_msg_table. rd_*: reads words, as of ni_msg_reads.
//   look with look_context: p_* is the context's receive in the next clock, if p_ready. blind: what is looked at in that clock may be
//   written in it, and p_* undefined then.
//   consume (pulse, while `idle`): that of consume_context has been taken; of forget_context in the first clock of `forget` at the latest.
//   wake with wake_context stands until woken (pulse): it has had a receive for eight clocks.
//   d_valid with d_*: a receive whose descriptor is wrong, until d_ready.
//   forget: nothing is kept of forget_context, from forgotten (pulse) on.
//
// Proven: ni_msg_post.formal.v, by induction.
// Source: doc/protocol.md, "Messages of an interface".
module ni_msg_post #(
    parameter CONTEXTS   = 8,
    parameter PAGE_BYTES = 1024,
    parameter ADDR_WIDTH = 12
) (
    input  wire                  clk,
    input  wire                  rst,

    input  wire                  q_valid,
    input  wire [CONTEXTS-1:0]   q_context,
    output wire                  q_take,
    output wire                  u_valid,
    output wire                  u_op,
    input  wire                  u_done,
    input  wire                  e_enabled,
    input  wire                  e_posted,
    input  wire [3:0]            e_size,
    input  wire [7:0]            e_first,
    input  wire [7:0]            e_last,
    input  wire [15:0]           e_receive_head,

    output wire                  rd_valid,
    output wire [ADDR_WIDTH-3:0] rd_addr,
    input  wire                  rd_done,
    input  wire [31:0]           rd_data,

    input  wire                  look,
    input  wire [CONTEXTS-1:0]   look_context,
    output wire                  blind,
    output wire                  p_ready,
    output wire [ADDR_WIDTH-1:0] p_address,
    output wire [ADDR_WIDTH:0]   p_length,
    output wire [15:0]           p_cookie,
    input  wire                  consume,
    input  wire [CONTEXTS-1:0]   consume_context,
    output wire                  idle,
    output wire                  wake,
    output wire [CONTEXTS-1:0]   wake_context,
    input  wire                  woken,

    output wire                  d_valid,
    input  wire                  d_ready,
    output reg  [CONTEXTS-1:0]   ctx,
    output wire [31:0]           d_length,
    output wire [15:0]           d_cookie,

    input  wire                  forget,
    input  wire [CONTEXTS-1:0]   forget_context,
    output wire                  forgotten
);
`include "linkproto.vh"
    localparam [3:0] CLEAR = 4'd0, IDLE = 4'd1, TAKE = 4'd2, READ = 4'd3, JUDGE = 4'd4, BAD = 4'd5, NEXT = 4'd6, SET = 4'd7, WAIT = 4'd8,
        WAKE = 4'd9, FIND = 4'd10, FOUND = 4'd11, DROP = 4'd12;
    localparam integer LAST = (1 << CONTEXTS) - 1;

    reg  [3:0]   state;
    reg          used, serves, forgets; // `spent` has had its receive taken, which NEXT is for; the context is to be forgotten
    reg  [CONTEXTS-1:0] spent;
    reg  [2:0]   count;
    reg  [127:0] descriptor;
    reg  [7:0]   first, last;
    reg  [3:0]   size;
    localparam HW = ADDR_WIDTH - 6;     // bits of a place in a ring: four like it fit into the memory
    reg  [HW-1:0] head_at;
    wire         owns;
    wire [ADDR_WIDTH-1:0] entry;
    ni_msg_place #(.PAGE_BYTES(PAGE_BYTES), .ADDR_WIDTH(ADDR_WIDTH)) u_place (
        .first(first), .last(last), .size(size), .skip(2'd`LP_RING_RECEIVES), .twice(1'b0), .n({{16-HW{1'b0}}, head_at}), .entry(entry),
        .address(descriptor[31:0]), .length(descriptor[63:32]), .owns(owns)
    );
    assign idle         = !used;
    assign q_take       = state == IDLE && q_valid && !used && !forget;
    assign u_valid      = state == TAKE || state == NEXT;
    assign u_op         = state == NEXT;
    assign rd_valid     = state == READ;
    assign rd_addr      = {entry[ADDR_WIDTH-1:4], count[1:0]};
    assign wake         = state == WAKE;
    assign wake_context = ctx;
    assign d_valid      = state == BAD;
    assign d_length     = descriptor[63:32];
    assign d_cookie     = descriptor[127:112];
    assign forgotten    = state == DROP && !consume;

    // A word is 1 bit, that it is there, the cookie, length and address. A receive is gone at once when it has been taken.
    localparam WIDTH = 1 + 16 + ADDR_WIDTH + 1 + ADDR_WIDTH;
    wire set   = state == SET && !consume;
    wire erase = state == CLEAR || (state == DROP && !consume);
    assign blind = consume || state == SET || state == DROP;
`ifdef FORMAL
    wire [CONTEXTS-1:0] f_at;
    wire [WIDTH-1:0]    f_word;
`endif
    ram_sdp #(.WIDTH(WIDTH), .DEPTH(1 << CONTEXTS)) u_posted (
        .clk(clk), .wr_en(consume || set || erase), .wr_addr(consume ? consume_context : ctx),
        .wr_data(set ? {1'b1, descriptor[127:112], descriptor[32 +: ADDR_WIDTH + 1], descriptor[ADDR_WIDTH-1:0]} : {WIDTH{1'b0}}),
        .rd_en(look || state == FIND), .rd_addr(look ? look_context : ctx), .rd_data({p_ready, p_cookie, p_length, p_address})
`ifdef FORMAL
        , .f_addr(f_at), .f_word(f_word)
`endif
    );
    always @(posedge clk) begin
        case (state)
            CLEAR: begin
                ctx <= ctx + {{CONTEXTS-1{1'b0}}, 1'b1};
                if (ctx == LAST[CONTEXTS-1:0]) state <= IDLE;
            end
            IDLE: begin
                count   <= 3'd0;
                {serves, forgets} <= {used, 1'b0};
                ctx <= used ? spent : forget ? forget_context : q_context;
                if (used || forget || q_valid) state <= used ? NEXT : forget ? FIND : TAKE;
            end
            TAKE: begin
                {first, last, size, head_at} <= {e_first, e_last, e_size, e_receive_head[HW-1:0]};
                if (u_done) state <= e_enabled && e_posted ? READ : IDLE;
            end
            READ: if (rd_done) begin
                descriptor <= {rd_data, descriptor[127:32]};
                count      <= count + 3'd1;
                if (count == 3'd3) state <= JUDGE;
            end
            JUDGE: state <= owns ? SET : BAD;
            BAD:   if (d_ready) state <= NEXT;
            NEXT:  if (u_done) begin
                state <= forgets ? DROP : IDLE;
                if (serves) used <= 1'b0;
            end
            SET: if (!consume) begin
                count <= 3'd0;
                state <= WAIT;
            end
            WAIT: begin                 // a link that was refused before has been listed then
                count <= count + 3'd1;
                if (count == 3'd7) state <= WAKE;
            end
            WAKE:  if (woken) state <= IDLE;
            FIND:  if (!look) state <= FOUND;
            FOUND: begin
                forgets <= 1'b1;
                state   <= p_ready ? NEXT : DROP;
            end
            default: if (!consume) state <= IDLE;
        endcase
        if (consume) {used, spent} <= {1'b1, consume_context};
        if (rst) {state, ctx, used} <= {CLEAR, {CONTEXTS + 1{1'b0}}};
    end
    wire unused = ^{descriptor, entry[3:0], e_receive_head};
`ifdef FORMAL
`include "ni_msg_post.formal.v"
`endif
endmodule
`resetall
