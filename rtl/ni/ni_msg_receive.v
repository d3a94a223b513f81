`default_nettype none
// Takes MESSAGEs of contexts, and writes their bytes to where the messages' receives say.
//
// Contract:
//   s_*: packets by s_vl of s_context and s_life, MESSAGEs of their fields at least, on trial as of net_vl.
//   x_look (not in two clocks in a row) with x_*: one clock later, in which x_context and x_life still stand, x_credit: a MESSAGE of the
//   link goes on with a message, or there is a receive; x_blind: that is not known now.
//   look*, blind, p_*, consume*, posted_idle: as of ni_msg_post. w_*: as of ni_page_writer.
//   told_valid with told_*, which stands until told_ready (pulse): the link has been opened or closed, or something else of it changed.
//   d_valid with d_*: a receive that is completed with d_status, until d_ready; its bytes are in the memory.
//   forget: nothing of forget_context is kept, and nothing written for it, from forgotten (pulse) on.
//   ev_bad (pulse): a packet that is malformed.
//
// Proven: ni_msg_receive.formal.v, by induction.
// Source: doc/protocol.md, "Messages of an interface".
module ni_msg_receive #(
    parameter CONTEXTS   = 8,
    parameter VIRTUAL    = 4,
    parameter ADDR_WIDTH = 12
) (
    input  wire                  clk,
    input  wire                  rst,

    input  wire                  s_valid,
    output wire                  s_ready,
    input  wire [VIRTUAL-1:0]    s_vl,
    input  wire [CONTEXTS-1:0]   s_context,
    input  wire [3:0]            s_life,
    input  wire [7:0]            s_data,
    input  wire                  s_last,
    input  wire                  s_void,

    input  wire                  x_look,
    input  wire [VIRTUAL-1:0]    x_vl,
    input  wire [CONTEXTS-1:0]   x_context,
    input  wire [3:0]            x_life,
    output wire                  x_credit,
    output wire                  x_blind,
    output wire                  look,
    output wire [CONTEXTS-1:0]   look_context,
    input  wire                  blind,
    input  wire                  p_ready,
    input  wire [ADDR_WIDTH-1:0] p_address,
    input  wire [ADDR_WIDTH:0]   p_length,
    input  wire [15:0]           p_cookie,
    output wire                  consume,
    output wire [CONTEXTS-1:0]   consume_context,
    input  wire                  posted_idle,

    output wire                  w_valid,
    input  wire                  w_take,
    output wire [ADDR_WIDTH-3:0] w_addr,
    output wire [31:0]           w_data,
    output wire [3:0]            w_mask,

    input  wire                  told_valid,
    input  wire [VIRTUAL-1:0]    told_vl,
    input  wire                  told_open,
    input  wire [3:0]            told_life,
    output wire                  told_ready,

    output wire                  d_valid,
    input  wire                  d_ready,
    output wire [CONTEXTS-1:0]   d_context,
    output wire [31:0]           d_length,
    output wire [31:0]           d_tag,
    output wire [15:0]           d_vl,
    output wire [15:0]           d_cookie,
    output reg  [6:0]            d_status,

    input  wire                  forget,
    input  wire [CONTEXTS-1:0]   forget_context,
    output wire                  forgotten,
    output reg                   ev_bad
);
`include "linkproto.vh"
    localparam [3:0] CLEAR = 4'd0, IDLE = 4'd1, FIND = 4'd2, FOUND = 4'd3, HEAD = 4'd4, JUDGE = 4'd5, BODY = 4'd6, SETTLE = 4'd7,
        COMPLETE = 4'd8;
    localparam [3:0] FIELDS = `LP_MESSAGE_DATA_OFFSET;
    localparam [15:0] FIXED = `LP_MESSAGE_MIN_LENGTH;
    localparam AW = ADDR_WIDTH, WIDTH = 2 + 4 + CONTEXTS + 16 + 32 + 2*(AW + 1) + AW;

    // Of each link: its message is underway to a receive, or is dropped; of which life and context; the receive's cookie; the message's tag
    // and length, what of it is to come, and where that goes. A length that is kept is one for which a receive has room.
    reg  [3:0]          state;
    reg                 active, drops;
    reg  [3:0]          life;
    reg  [CONTEXTS-1:0] ctx;
    reg  [15:0]         cookie;
    reg  [31:0]         tag, length;
    reg  [AW:0]         rest;
    reg  [AW-1:0]       place;
    wire [WIDTH-1:0]    joined;
    wire                j_active = joined[WIDTH-1], j_drops = joined[WIDTH-2];
    wire [3:0]          j_life = joined[WIDTH-3 -: 4];
    wire [CONTEXTS-1:0] j_context = joined[WIDTH-7 -: CONTEXTS];

    // The packet that comes, or what is told of a link.
    reg  [VIRTUAL-1:0]  vl, sweep;
    reg  [CONTEXTS-1:0] new_context;
    reg  [3:0]          new_life;
    reg                 for_told;
    reg  [3:0]          count;          // bytes of the header that have come
    reg  [8*`LP_MESSAGE_DATA_OFFSET-1:0] head;
    reg                 ended, gone, cancelled;     // it has come whole; it has been taken back; its context has ended
    reg                 ready, malformed, fits, writes;
    reg  [AW-1:0]       address;        // of the receive
    reg  [AW:0]         space;
    reg  [15:0]         new_cookie;
    localparam LW = AW < 15 ? AW + 1 : 16;
    reg  [LW-1:0]       left;           // bytes of data that are to be written
    wire [15:0] bytes    = head[23:8] - FIXED;
    wire [31:0] says_tag = head[55:24], says_rest = head[87:56], bytes_32 = {16'd0, bytes};
    wire        unsound  = says_rest < bytes_32 || (bytes == 16'd0 && says_rest != 32'd0);
    wire        follows  = says_tag == tag && says_rest == {{31-AW{1'b0}}, rest};
    wire        is_last    = says_rest == bytes_32;
    wire        fresh    = !active && !drops;

    // The memory of links is looked up for net_vl first, then for what is forgotten, an entry after the other.
    reg    sweeping, swept, idles;
    wire   idle;
    wire   calm    = state == IDLE || state == HEAD || state == BODY;
    wire   sweeps  = forget && !swept && !sweeping && !x_look && calm;
    wire   strikes = sweeping && (j_active || j_drops) && j_context == forget_context;
    wire   finds   = state == FIND && !x_look && !sweeping && !blind;
    wire   stale   = (j_active || j_drops) && (j_life != new_life || (for_told ? !told_open : j_context != new_context));
    wire   breaks  = state == FOUND && stale;
    wire   settles = state == SETTLE && idle && posted_idle && !sweeping;
    wire   writes_join = settles && !cancelled;
    wire [AW-1:0] goes_on = (active ? place : address) + bytes_32[AW-1:0];
    wire   joins = !malformed && !drops && (active || fits);
    wire [31:0] to_come = says_rest - bytes_32;
    wire   goes  = writes_join && !is_last;
    wire [WIDTH-1:0] after = {goes && joins, goes && !joins, new_life, new_context, active ? cookie : new_cookie, says_tag,
                              active ? length[AW:0] : says_rest[AW:0], to_come[AW:0], goes_on};
    wire   wr_en   = state == CLEAR || strikes || breaks || writes_join;
`ifdef FORMAL
    wire [VIRTUAL-1:0] f_at;
    wire [WIDTH-1:0]   f_word;
`endif
    ram_sdp #(.WIDTH(WIDTH), .DEPTH(1 << VIRTUAL)) u_joins (
        .clk(clk), .wr_en(wr_en), .wr_addr(state == CLEAR || strikes ? sweep : vl), .wr_data(after),
        .rd_en(x_look || sweeps || finds), .rd_addr(x_look ? x_vl : sweeps ? sweep : vl), .rd_data(joined)
`ifdef FORMAL
        , .f_addr(f_at), .f_word(f_word)
`endif
    );
    assign look         = x_look || finds;
    assign look_context = x_look ? x_context : new_context;
    assign consume      = writes_join && fresh && !malformed && ready;
    assign consume_context = new_context;
    assign forgotten    = forget && swept && calm && (idle || !cancelled) && idles;
    assign x_credit     = p_ready || ((j_active || j_drops) && j_life == x_life && j_context == x_context);
    reg    blinded;
    assign x_blind      = blinded;

    // What becomes of the link's message.
    reg    completes;
    reg  [6:0] status;
    always @* begin
        completes = joins && is_last;
        status    = `LP_COMPLETION_OK;
        if (malformed)           {completes, status} = {active, `LP_COMPLETION_BROKEN};
        else if (fresh && !fits) {completes, status} = {ready, `LP_COMPLETION_TOO_LONG};
    end

    wire   b_ready;
    wire   to_word = state == BODY && !gone && writes && !cancelled && left != {LW{1'b0}};
    assign s_ready = (state == IDLE && !told_valid) || (state == HEAD && !gone && count != FIELDS) ||
                     (state == BODY && !gone && (!to_word || b_ready));
    wire   take    = s_valid && s_ready;
    ni_page_writer #(.ADDR_WIDTH(AW)) u_writer (
        .clk(clk), .rst(rst), .start(state == JUDGE && idle), .start_addr(active ? place : address), .s_valid(s_valid && to_word),
        .s_ready(b_ready), .s_data(s_data), .s_last(left == {{LW-1{1'b0}}, 1'b1}), .s_sure(1'b1),
        .w_valid(w_valid), .w_take(w_take), .w_addr(w_addr), .w_data(w_data), .w_mask(w_mask), .idle(idle)
    );
    assign told_ready = state == FOUND && for_told;
    assign d_valid    = state == COMPLETE && idle;      // nothing is to be written any more of a packet that was taken back
    assign {d_context, d_length, d_tag, d_vl, d_cookie} = {ctx, length, tag, {{16-VIRTUAL{1'b0}}, vl}, cookie};
    always @(posedge clk) begin
        ev_bad   <= 1'b0;
        idles    <= idle;
        blinded  <= ended || wr_en || blind;
        sweeping <= sweeps;
        if (sweeping || state == CLEAR) sweep <= sweep + {{VIRTUAL-1{1'b0}}, 1'b1};
        if (sweeping && sweep == {VIRTUAL{1'b1}}) swept <= 1'b1;
        if (!forget) swept <= 1'b0;
        if (forget && new_context == forget_context) cancelled <= 1'b1;
        if (s_void && !ended) gone <= 1'b1;
        if (take && state != BODY) begin
            head  <= {s_data, head[87:8]};
            count <= count + 4'd1;
        end
        if (take) ended <= s_last;
        case (state)
            CLEAR: if (sweep == {VIRTUAL{1'b1}}) state <= IDLE;
            IDLE: begin
                {gone, cancelled} <= 2'b00;
                for_told <= told_valid;
                vl       <= told_valid ? told_vl : s_vl;
                new_life <= told_valid ? told_life : s_life;
                new_context <= s_context;
                if (told_valid || s_valid) state <= FIND;
                count <= {3'd0, take};
            end
            FIND: if (finds) state <= FOUND;
            FOUND: begin
                {active, drops, life, ctx, cookie, tag, length[AW:0], rest, place} <= joined;
                length[31:AW+1] <= {31-AW{1'b0}};
                if (stale) {active, drops} <= 2'b00;
                {ready, address, space, new_cookie} <= {p_ready, p_address, p_length, p_cookie};
                d_status <= `LP_COMPLETION_BROKEN;
                state    <= stale && j_active ? COMPLETE : for_told ? IDLE : HEAD;
            end
            HEAD: if (gone) state <= IDLE; else if (count == FIELDS) state <= JUDGE;
            JUDGE: begin
                malformed <= !drops && (unsound || (active && !follows));
                fits      <= ready && says_rest <= {{31-AW{1'b0}}, space};
                writes    <= !drops && !unsound && (active ? follows : ready && says_rest <= {{31-AW{1'b0}}, space});
                left      <= bytes[LW-1:0];
                if (gone) state <= IDLE; else if (idle) state <= ended ? SETTLE : BODY;
            end
            BODY: begin
                if (take && to_word) left <= left - {{LW-1{1'b0}}, 1'b1};
                if (gone) state <= IDLE; else if (take && s_last) state <= SETTLE;
            end
            SETTLE: begin
                for_told <= 1'b1;       // nothing of the packet is to come
                ctx      <= new_context;
                d_status <= status;
                if (!active) {cookie, tag, length} <= {new_cookie, says_tag, says_rest};
                if (settles) begin
                    ended  <= 1'b0;
                    ev_bad <= malformed && !cancelled;
                    state  <= completes && !cancelled ? COMPLETE : IDLE;
                end
            end
            default: if (d_valid && d_ready) state <= for_told ? IDLE : HEAD;
        endcase
        if (rst) begin
            state <= CLEAR;
            sweep <= {VIRTUAL{1'b0}};
            {sweeping, swept, ended, count, ev_bad} <= 8'd0;
        end
    end
    wire unused = ^{life, head[7:0], to_come};
`ifdef FORMAL
`include "ni_msg_receive.formal.v"
`endif
endmodule
`resetall
