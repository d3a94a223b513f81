`default_nettype none
// The virtual links of a node, of which each is open or not: packets come, and go, once and in order, over a network that keeps neither.
//
// Contract:
//   s_*: packets to be sent by s_vl, of MAX_PACKET bytes at most, a byte a clock; s_cancel (pulse, s_valid low) takes back what has come of
//   one. s_begins: one comes, of s_size bytes; it may rise before the first byte, falls behind the last, and otherwise takes it back as
//   s_cancel does. The packet leaves meanwhile if its link and all others have sent theirs. s_vl stands from s_begins or the first byte on.
//   sent (pulse): the packet that has come whole is the link's, or was dropped, if `refused`: it is not open, or has no room, or there is
//   no free slot. told_*: as of net_vl_engine; told_ready may fall in the clock behind `told`.
//   t_*: ROUTEs for the network, on trial; t_void (pulse, t_valid low) takes back what has gone of one. i_*: ROUTEs from there, on trial,
//   as of net_vl_receive.
//   m_*: packets that have come by m_vl, on trial while they come, as of net_vl_receive. m_host: it is for the host, and begins
//   only while m_room, and a MESSAGE while the host has fewer than WINDOW of the link; else it is refused, and its link says STOP until
//   that has changed. m_halts: that which has come is a trap: no more is taken until c_resume. What is told comes behind all that has
//   counted before.
//   c_*, x_*: as of net_vl_engine.
//   CONTEXTS, the logarithm to base 2 of the number of contexts of messages, 0 for none: a MESSAGE of a link that has a context is no
//   host's: of
//   m_context, and of a life m_life of its link. s_mine: the packet is one of a context, s_final: the last one of a message; with `sent`
//   it is
//   at s_slot; and it is refused when the link's life is not s_life. done, back*, freed: of slots of contexts, as of net_vl_context.
//   TICK: clocks of a tick, at least 16 a link. RETRY, TURN: in ticks. ACK_DELAY: in clocks, less than 2,048.
//
// ECP5 (synth_ecp5), 1,024 links, 64 slots of 2,048 bytes: 3,103 LUT4, 418 carry cells, 932 flip-flops and 82 block memories,
// 64 of them for the slots.
// Source: doc/protocol.md, "Virtual links".
module net_vl #(
    parameter VIRTUAL     = 4,
    parameter SLOTS       = 64,
    parameter MAX_PACKET  = 1032,
    parameter WINDOW      = 32,
    parameter TICK        = 16 << VIRTUAL,
    parameter RETRY       = 4,
    parameter RETRY_LIMIT = 8,
    parameter TURN        = 1,
    parameter ACK_DELAY   = 512,
    parameter CONTEXTS    = 0,
    parameter CW          = CONTEXTS != 0 ? CONTEXTS : 1
) (
    input  wire               clk,
    input  wire               rst,
    input  wire [15:0]        node,

    input  wire               s_valid,
    output wire               s_ready,
    input  wire [7:0]         s_data,
    input  wire               s_last,
    input  wire [VIRTUAL-1:0] s_vl,
    input  wire               s_begins,
    input  wire [15:0]        s_size,
    input  wire               s_cancel,
    input  wire               s_mine,
    input  wire               s_final,
    input  wire [3:0]         s_life,
    output wire [$clog2(SLOTS)-1:0] s_slot,
    output wire               sent,
    output wire               refused,
    input  wire               told_ready,
    output wire               told,
    output wire [VIRTUAL-1:0] told_vl,
    output wire [7:0]         told_freed,
    output wire [15:0]        told_status,
    output wire [CW-1:0]      told_context,
    output wire [3:0]         told_life,

    output wire               t_valid,
    input  wire               t_ready,
    output wire [7:0]         t_data,
    output wire               t_last,
    output wire               t_void,
    input  wire               i_valid,
    output wire               i_ready,
    input  wire [7:0]         i_data,
    input  wire               i_last,
    input  wire               i_void,

    input  wire               m_room,
    input  wire               m_halts,
    output wire               m_valid,
    input  wire               m_ready,
    output wire [VIRTUAL-1:0] m_vl,
    output wire               m_host,
    output reg  [CW-1:0]      m_context,
    output reg  [3:0]         m_life,
    output wire [7:0]         m_data,
    output wire               m_last,
    output wire               m_void,

    input  wire               c_en,
    input  wire               c_write,
    input  wire               c_resume,
    input  wire               c_space,
    input  wire               c_wake,
    input  wire [VIRTUAL-1:0] c_vl,
    input  wire [2:0]         c_reg,
    input  wire [31:0]        c_wdata,
    output wire               c_done,
    output wire               c_ok,
    output wire [31:0]        c_value,

    output wire               x_look,
    output wire [VIRTUAL-1:0] x_vl,
    output wire [CW-1:0]      x_context,
    output wire [3:0]         x_life,
    input  wire               x_credit,
    input  wire               x_blind,
    output wire               x_refused,
    output wire               done,
    output wire [$clog2(SLOTS)-1:0] done_slot,
    output wire               done_closed,
    input  wire               back,
    input  wire [$clog2(SLOTS)-1:0] back_slot,
    output wire               back_ready,
    output wire               freed,

    output wire               ev_bad,
    output wire               ev_replay,
    output wire               ev_drop
);
    localparam SW = $clog2(SLOTS), SLOT_BYTES = 1 << $clog2(MAX_PACKET), AW = $clog2(SLOT_BYTES), TW = $clog2(TICK);
    localparam integer TICK_LESS_1 = TICK - 1;
    localparam [TW-1:0] LAST_CLOCK = TICK_LESS_1[TW-1:0];
    generate
        if (TICK < 16 << VIRTUAL) error_tick_must_be_16_clocks_a_link u_check_tick ();
        if (SLOTS != 1 << SW || SLOTS < 4) error_slots_must_be_a_power_of_two_from_four u_check_slots ();
    endgenerate

    // A packet to be sent is written to a free slot, if there is one, and is the link's when it is whole.
    wire              free_valid, put_done, put_ok;
    wire [SW-1:0]     free_slot;
    reg               begun, keeps, put;        // a packet is underway, to a slot; it has come whole
    reg  [AW:0]       size;
    wire accept  = s_valid && s_ready;
    wire keeping = begun ? keeps : free_valid;
    assign s_ready = !put;
    assign sent    = put && (put_done || !keeps);
    assign refused = sent && !put_ok;
    always @(posedge clk) begin
        if (accept) begin
            {begun, keeps} <= {!s_last, keeping};
            put  <= s_last;
            size <= (begun ? size : {AW + 1{1'b0}}) + {{AW{1'b0}}, 1'b1};
        end
        if (s_cancel) begun <= 1'b0;
        if (sent) put <= 1'b0;
        if (rst) {begun, keeps, put} <= 3'd0;
    end

    wire          rd_en;
    wire [SW+AW-1:0] rd_at;
    wire [7:0]    rd_data;
    ram_sdp #(.WIDTH(8), .DEPTH(SLOTS * SLOT_BYTES)) u_slots (
        .clk(clk), .wr_en(accept && keeping), .wr_addr({free_slot, begun ? size[AW-1:0] : {AW{1'b0}}}), .wr_data(s_data),
        .rd_en(rd_en), .rd_addr(rd_at), .rd_data(rd_data)
    );

    reg [TW-1:0] clocks;
    reg [3:0]    paces;
    always @(posedge clk) begin
        clocks <= clocks == LAST_CLOCK ? {TW{1'b0}} : clocks + {{TW-1{1'b0}}, 1'b1};
        paces  <= paces + 4'd1;
        if (rst) {clocks, paces} <= {TW + 4{1'b0}};
    end

    wire        look, there, looked, opened, ours, takes, hear, heard, delivers, r_stop, r_lost, r_packet, r_fits, r_good;
    wire        r_host, r_message, settles;
    wire [31:0] r_key;
    wire [15:0] r_src;
    wire [7:0]  r_next, r_seq;
    wire        send_idle, send_start;
    wire [15:0] send_dest, send_vl, send_size;
    wire [1:0]  send_class;
    wire [7:0]  send_state, send_next, send_seq;
    wire [31:0] send_key;
    wire [SW-1:0] send_slot;
    wire        send_early, send_whole, send_undo, send_cut, frees;
    net_vl_receive #(.VIRTUAL(VIRTUAL), .MAX_PACKET(MAX_PACKET)) u_receive (
        .clk(clk), .rst(rst), .node(node), .s_valid(i_valid), .s_ready(i_ready), .s_data(i_data), .s_last(i_last), .s_void(i_void),
        .look(look), .there(there), .looked(looked), .opened(opened), .ours(ours), .takes(takes), .key(r_key), .hear(hear), .heard(heard),
        .delivers(delivers), .r_src(r_src), .r_vl(m_vl), .r_next(r_next), .r_seq(r_seq), .r_stop(r_stop), .r_lost(r_lost),
        .r_packet(r_packet), .r_fits(r_fits), .r_good(r_good), .r_host(r_host), .r_message(r_message), .settles(settles),
        .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_last(m_last), .m_host(m_host), .m_void(m_void), .ev_bad(ev_bad)
    );
    net_vl_engine #(
        .VIRTUAL(VIRTUAL), .SLOTS(SLOTS), .WINDOW(WINDOW), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT), .TURN(TURN),
        .ACK_DELAY(ACK_DELAY / 16), .CONTEXTS(CONTEXTS)
    ) u_engine (
        .clk(clk), .rst(rst),
        .look(look), .there(there), .looked(looked), .opened(opened), .ours(ours), .takes(takes), .key(r_key), .hear(hear), .heard(heard),
        .delivers(delivers),
        .r_src(r_src), .r_vl(m_vl), .r_next(r_next), .r_seq(r_seq), .r_stop(r_stop), .r_lost(r_lost), .r_packet(r_packet), .r_fits(r_fits),
        .r_good(r_good), .r_host(r_host), .r_message(r_message), .r_halts(m_halts), .m_room(m_room),
        .put(put && keeps), .p_vl(s_vl), .p_slot(free_slot), .p_size({{15-AW{1'b0}}, size}), .put_done(put_done), .put_ok(put_ok),
        .begins(s_begins && !s_cancel && keeping), .p_total(s_size), .free_valid(free_valid), .free_ready(put_ok), .free_slot(free_slot),
        .c_en(c_en), .c_write(c_write), .c_resume(c_resume), .c_space(c_space), .c_wake(c_wake), .c_vl(c_vl), .c_reg(c_reg),
            .c_wdata(c_wdata),
        .c_done(c_done), .c_ok(c_ok), .c_value(c_value),
        .send_idle(send_idle), .send_start(send_start), .send_dest(send_dest), .send_class(send_class), .send_vl(send_vl),
        .send_state(send_state), .send_next(send_next), .send_seq(send_seq), .send_key(send_key), .send_size(send_size),
        .send_slot(send_slot), .send_early(send_early), .send_whole(send_whole), .send_undo(send_undo), .send_cut(send_cut),
        .tick(clocks == LAST_CLOCK), .pace(paces == 4'd15),
        .told_ready(told_ready && !settles), .told(told), .told_vl(told_vl), .told_freed(told_freed), .told_status(told_status),
        .p_mine(s_mine), .p_final(s_final), .p_life(s_life),
        .x_look(x_look), .x_vl(x_vl), .x_context(x_context), .x_life(x_life), .x_credit(x_credit),
        .x_blind(x_blind), .x_refused(x_refused), .done(done), .frees(frees), .done_slot(done_slot), .done_closed(done_closed),
        .back(back), .back_slot(back_slot), .back_ready(back_ready), .freed_one(freed),
        .ev_replay(ev_replay), .ev_drop(ev_drop)
    );
    assign {told_context, told_life, s_slot} = {x_context, x_life, free_slot};
    always @(posedge clk)
        if (CONTEXTS != 0 && looked) {m_context, m_life} <= {x_context & {CW{r_message}}, x_life};
        else if (CONTEXTS == 0)      {m_context, m_life} <= {CW + 4{1'b0}};
    net_vl_send #(.SLOTS(SLOTS), .SLOT_BYTES(SLOT_BYTES)) u_send (
        .clk(clk), .rst(rst), .idle(send_idle), .start(send_start), .early(send_early), .come(begun || put ? size : {AW + 1{1'b0}}),
        .whole(send_whole), .undo(send_undo), .frees(frees), .freed_slot(done_slot), .cut(send_cut),
        .dest(send_dest), .node(node), .class_of(send_class), .vl(send_vl),
        .state(send_state), .next(send_next), .seq(send_seq), .key(send_key), .size(send_size), .slot(send_slot),
        .rd_en(rd_en), .rd_at(rd_at), .rd_data(rd_data), .m_valid(t_valid), .m_ready(t_ready), .m_data(t_data), .m_last(t_last),
        .m_void(t_void)
    );
endmodule
`resetall
