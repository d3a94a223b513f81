`default_nettype none
// The virtual links of a network interface: net_vl, its host, what is written by them, and its registers.
//
// Contract:
//   s_*: packets of the host, h_*: the rest of them, as of ni_vl_in. t_*: ROUTEs for the network; r_*: all that come from there, as of
//   net_vl, but in beats of WIDTH bytes. m_*: two sources of packets for the host, as ni_compose takes them.
//   Virtual links carry a byte a clock whatever WIDTH is; what is not theirs goes by at the rate at which it comes.
//   look_frame with look_vl -> allowed: the frame table, combinationally. w_*, n_*: as of ni_link_in.
//   reg_*: requests for registers, of which those of virtual links are answered, and the others go on to o_*.
//   With CONTEXTS, the logarithm to base 2 of their number, it carries out contexts of messages, which have half of the slots; g_*: the
//   reads of
//   the host and the buffer's read port, as of ni_msg_reads; the words of w_*[1] and [2] are theirs, and m_*[2] the host is told by.
//   ev_denied, ev_bad (pulses, a bit a place where packets are dropped): at the network; ev_bad_host: at the host's port.
//
// Source: doc/protocol.md, "Virtual links of an interface".
module ni_virtual #(
    parameter VIRTUAL    = 4,
    parameter SLOTS      = 64,
    parameter WINDOW     = 32,
    parameter RETRY      = 32768,
    parameter FRAMES     = 4,
    parameter PAGE_BYTES = 1024,
    parameter ADDR_WIDTH = 12,
    parameter HOLD_BYTES = 4096,
    parameter WIDTH      = 1,
    parameter WORD       = 4,
    parameter CONTEXTS   = 0,
    parameter WRITERS    = CONTEXTS != 0 ? 3 : 1,
    parameter TELLERS    = CONTEXTS != 0 ? 3 : 2
) (
    input  wire               clk,
    input  wire               rst,
    input  wire [15:0]        node,

    input  wire               s_valid,
    output wire               s_ready,
    input  wire [8*WIDTH-1:0] s_data,
    input  wire [WIDTH-1:0]   s_keep,
    input  wire               s_last,
    input  wire               s_void,
    output wire               h_valid,
    input  wire               h_ready,
    output wire               h_void,

    output wire               t_valid,
    input  wire               t_ready,
    output wire [8*WIDTH-1:0] t_data,
    output wire [WIDTH-1:0]   t_keep,
    output wire               t_last,
    output wire               t_void,
    input  wire               r_valid,
    output wire               r_ready,
    input  wire [8*WIDTH-1:0] r_data,
    input  wire [WIDTH-1:0]   r_keep,
    input  wire               r_last,
    input  wire               r_void,

    output wire [TELLERS-1:0] m_valid,
    input  wire [TELLERS-1:0] m_ready,
    output wire [8*TELLERS-1:0]  m_kind,
    output wire [16*TELLERS-1:0] m_length,
    output wire [8*TELLERS-1:0]  m_data,
    output wire [TELLERS-1:0] m_last,

    output wire [15:0]        look_frame,
    output wire [VIRTUAL-1:0] look_vl,
    input  wire               allowed,
    output wire [WRITERS-1:0] w_valid,
    input  wire [WRITERS-1:0] w_take,
    output wire [WRITERS*(ADDR_WIDTH-$clog2(WORD))-1:0] w_addr,
    output wire [8*WORD*WRITERS-1:0] w_data,
    output wire [WORD*WRITERS-1:0]   w_mask,
    input  wire               g_h_en,
    input  wire [ADDR_WIDTH-$clog2(WORD)-1:0] g_h_addr,
    output wire [8*WORD-1:0]  g_h_data,
    output wire               g_h_clash,
    output wire               g_mem_en,
    output wire [ADDR_WIDTH-$clog2(WORD)-1:0] g_mem_addr,
    input  wire [8*WORD-1:0]  g_mem_data,
    input  wire               g_mem_clash,
    output wire               n_valid,
    input  wire               n_ready,
    output wire [15:0]        n_frame,
    output wire [$clog2(PAGE_BYTES)-1:0] n_first,
    output wire [$clog2(PAGE_BYTES)-1:0] n_last,

    input  wire               reg_en,
    input  wire               reg_write,
    input  wire [15:0]        reg_addr,
    input  wire [31:0]        reg_wdata,
    output wire               reg_done,
    output wire               reg_ok,
    output wire [31:0]        reg_value,
    output wire               o_en,
    input  wire               o_done,
    input  wire               o_ok,
    input  wire [31:0]        o_value,

    output wire               ev_denied,
    output wire [2:0]         ev_bad,
    output wire               ev_bad_host
);
`include "linkproto.vh"
    localparam MAX_PACKET = PAGE_BYTES + `LP_PACKET_EXTRA;
    localparam TICK = 16 << VIRTUAL > RETRY / 32 ? 16 << VIRTUAL : RETRY / 32;
    localparam TICKS = RETRY / TICK;    // of RETRY
    generate
        if (VIRTUAL < 1 || VIRTUAL > 10) error_virtual_must_be_1_to_10 u_check_virtual ();
    endgenerate

    // Requests of the host, for registers and inside VIRTUALs, one at a time.
    localparam CW = CONTEXTS != 0 ? CONTEXTS : 1, WW = ADDR_WIDTH - $clog2(WORD);
    localparam [15:0] AT = `LP_REG_VL, CONTEXTS_AT = `LP_REG_CONTEXT;
    wire       in_links = reg_addr[15:13] == AT[15:13] && reg_addr[12:0] >> (VIRTUAL + 3) == 13'd0;
    wire       in_sizes = reg_addr == `LP_REG_VL_NUMBERS || reg_addr == `LP_REG_VL_SLOTS || reg_addr == `LP_REG_VL_WINDOW ||
                          (CONTEXTS != 0 && reg_addr == `LP_REG_CONTEXTS);
    wire       in_contexts = CONTEXTS != 0 && reg_addr[15:11] == CONTEXTS_AT[15:11] && reg_addr[10:0] >> (CONTEXTS + 3) == 11'd0;
    wire       q_valid, q_resume, c_done, c_ok, e_ask, e_wakes, e_done, e_ok;
    wire [VIRTUAL-1:0] q_vl;
    wire [7:0] q_value;
    wire [31:0] c_value;
    wire [VIRTUAL-1:0] e_vl;
    wire [31:0] e_value;
    reg        for_register, for_packet, for_context, sized;
    wire [2:0] which = reg_addr[2:0];
    wire       settable = {1'b0, which} <= `LP_VL_STATUS || (CONTEXTS != 0 && {1'b0, which} == `LP_VL_CONTEXT);
    wire       listed   = {1'b0, which} <= `LP_VL_COUNTS || (CONTEXTS != 0 && {1'b0, which} == `LP_VL_CONTEXT);
    assign o_en      = reg_en && !in_links && !in_sizes && !in_contexts;
    assign reg_done  = (for_register && c_done) || sized || e_done || o_done;
    assign reg_ok    = sized ? !reg_write : for_register ? !reg_write || settable : in_contexts ? e_ok : o_ok;
    wire [31:0] size = reg_addr == `LP_REG_VL_NUMBERS ? 1 << VIRTUAL : reg_addr == `LP_REG_VL_SLOTS ? SLOTS :
                       reg_addr == `LP_REG_VL_WINDOW ? WINDOW : 1 << CONTEXTS;
    assign reg_value = sized ? size : for_register ? (listed ? c_value : 32'd0) : in_contexts ? e_value : o_value;
    always @(posedge clk) begin
        sized <= reg_en && in_sizes && !sized;
        if (for_register || for_packet || for_context) begin
            if (c_done) {for_register, for_packet, for_context} <= 3'b000;
        end else if (e_ask) for_context <= 1'b1;
        else if (q_valid) for_packet <= 1'b1;
        else if (reg_en && in_links) for_register <= 1'b1;
        if (rst) {for_register, for_packet, for_context, sized} <= 4'b0000;
    end

    // A packet of the host's, or of a context, in turn.
    wire       e_want, e_valid, e_last, e_begins, e_final, h_v_valid, h_v_last, h_begins;
    wire [7:0] e_data, h_v_data;
    wire [VIRTUAL-1:0] h_vl, e_send_vl;
    wire [15:0] e_size, h_size;
    wire [3:0]  e_life;
    reg        mine, hosts;            // one of a context has its turn; one of the host's is underway
    wire       v_valid, v_ready, v_last, v_cancel, sent, refused, told_ready, told, room, halts, d_valid, d_ready, d_host, d_last, d_void;
    wire [7:0] v_data, d_data, told_freed;
    wire [VIRTUAL-1:0] v_vl, d_vl, told_vl;
    wire [15:0] v_size;
    wire        v_begins;
    wire [15:0] told_status;
    wire       unused_bad, unused_replay, unused_drop;
    ni_vl_in #(.VIRTUAL(VIRTUAL), .MAX_PACKET(MAX_PACKET), .WIDTH(WIDTH)) u_from_host (
        .clk(clk), .rst(rst), .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_keep(s_keep), .s_last(s_last), .s_void(s_void),
        .h_valid(h_valid), .h_ready(h_ready), .h_void(h_void),
        .v_valid(h_v_valid), .v_ready(v_ready && !mine), .v_data(h_v_data), .v_last(h_v_last), .v_vl(h_vl), .v_begins(h_begins),
        .v_size(h_size), .v_cancel(v_cancel), .sent(sent && !mine), .refused(refused),
        .q_valid(q_valid), .q_done(for_packet && c_done), .q_ok(c_ok), .q_resume(q_resume), .q_vl(q_vl), .q_value(q_value),
        .m_valid(m_valid[0]), .m_ready(m_ready[0]), .m_kind(m_kind[7:0]), .m_length(m_length[15:0]), .m_data(m_data[7:0]),
        .m_last(m_last[0]), .ev_bad(ev_bad_host)
    );
    wire       i_valid, i_ready, i_last, i_void, o_valid, o_ready, o_last;      // ROUTEs, byte by byte
    wire [7:0] i_data, o_data;
    net_vl_bytes #(.MAX_PACKET(MAX_PACKET + `LP_ROUTE_EXTRA), .WIDTH(WIDTH)) u_bytes (
        .clk(clk), .rst(rst), .s_valid(r_valid), .s_ready(r_ready), .s_data(r_data), .s_keep(r_keep), .s_last(r_last), .s_void(r_void),
        .m_valid(i_valid), .m_ready(i_ready), .m_data(i_data), .m_last(i_last), .m_void(i_void)
    );
    beat_pack #(.WIDTH(WIDTH)) u_beats (
        .clk(clk), .clear(rst || t_void), .s_valid(o_valid), .s_ready(o_ready), .s_data(o_data), .s_last(o_last),
        .m_valid(t_valid), .m_ready(t_ready), .m_data(t_data), .m_keep(t_keep), .m_last(t_last)
    );
    assign {v_valid, v_data, v_last, v_begins, v_size} = mine ? {e_valid, e_data, e_last, e_begins, e_size} :
                                                         {h_v_valid, h_v_data, h_v_last, h_begins, h_size};
    assign v_vl = mine ? e_send_vl : h_vl;
    always @(posedge clk) begin
        if (h_v_valid && v_ready && !mine) hosts <= 1'b1;
        if (sent || v_cancel) hosts <= 1'b0;
        if (mine ? sent : e_want && !h_begins && !h_v_valid && !hosts) mine <= !mine;
        if (rst) {mine, hosts} <= 2'b00;
    end
    wire [CW-1:0] d_context, told_context, x_context;
    wire [3:0]  d_life, told_life, x_life;
    wire        x_look, x_credit, x_blind, x_refused, done, done_closed, back, back_ready, freed, e_told_ready, e_ready, ev_bad_message;
    wire [VIRTUAL-1:0] x_vl;
    wire [$clog2(SLOTS)-1:0] v_slot, done_slot, back_slot;
    wire        to_context = CONTEXTS != 0 && d_context != {CW{1'b0}} && d_host;
    wire        out_ready, out_told_ready;
    assign d_ready    = to_context ? e_ready : out_ready;
    assign told_ready = out_told_ready && e_told_ready;
    net_vl #(
        .VIRTUAL(VIRTUAL), .SLOTS(SLOTS), .MAX_PACKET(MAX_PACKET), .WINDOW(WINDOW), .TICK(TICK), .RETRY(TICKS),
        .TURN(TICKS > 8 ? TICKS / 8 : 1), .CONTEXTS(CONTEXTS)
    ) u_links (
        .clk(clk), .rst(rst), .node(node),
        .s_valid(v_valid), .s_ready(v_ready), .s_data(v_data), .s_last(v_last), .s_vl(v_vl), .s_begins(v_begins), .s_size(v_size),
        .s_cancel(v_cancel && !mine), .s_mine(mine), .s_final(e_final), .s_life(e_life), .s_slot(v_slot), .sent(sent), .refused(refused),
        .told_ready(told_ready), .told(told), .told_vl(told_vl), .told_freed(told_freed), .told_status(told_status),
        .told_context(told_context), .told_life(told_life),
        .t_valid(o_valid), .t_ready(o_ready), .t_data(o_data), .t_last(o_last), .t_void(t_void),
        .i_valid(i_valid), .i_ready(i_ready), .i_data(i_data), .i_last(i_last), .i_void(i_void),
        .m_room(room), .m_halts(halts && !to_context), .m_valid(d_valid), .m_ready(d_ready), .m_vl(d_vl), .m_host(d_host),
        .m_context(d_context), .m_life(d_life), .m_data(d_data),
        .m_last(d_last), .m_void(d_void),
        .c_en(for_register || for_packet || for_context), .c_write(for_register && reg_write), .c_resume(for_packet && q_resume),
        .c_wake(for_context && e_wakes),
        .c_space(for_packet && !q_resume), .c_vl(for_packet ? q_vl : for_context ? e_vl : reg_addr[3 +: VIRTUAL]),
        .c_reg(for_context ? 3'd7 : which),
        .c_wdata(for_packet ? {24'd0, q_value} : reg_wdata), .c_done(c_done), .c_ok(c_ok), .c_value(c_value),
        .x_look(x_look), .x_vl(x_vl), .x_context(x_context), .x_life(x_life), .x_credit(x_credit), .x_blind(x_blind), .x_refused(x_refused),
        .done(done), .done_slot(done_slot), .done_closed(done_closed), .back(back), .back_slot(back_slot), .back_ready(back_ready),
        .freed(freed), .ev_bad(unused_bad), .ev_replay(unused_replay), .ev_drop(unused_drop)
    );

    wire       in_valid, in_ready, in_last, in_sure, in_void, quiet, ev_bad_in, ev_bad_out;
    wire [7:0] in_data;
    ni_vl_out #(.VIRTUAL(VIRTUAL), .FRAMES(FRAMES), .MAX_PACKET(MAX_PACKET), .HOLD_BYTES(HOLD_BYTES)) u_to_host (
        .clk(clk), .rst(rst), .room(room), .halts(halts),
        .s_valid(d_valid && !to_context), .s_ready(out_ready), .s_vl(d_vl), .s_host(d_host), .s_data(d_data), .s_last(d_last),
        .s_void(d_void && !to_context), .told_ready(out_told_ready), .told(told), .told_vl(told_vl),
        .told_freed(told_freed), .told_status(told_status),
        .i_valid(in_valid), .i_ready(in_ready), .i_vl(look_vl), .i_data(in_data), .i_last(in_last), .i_sure(in_sure),
        .i_void(in_void), .quiet(quiet), .m_valid(m_valid[1]), .m_ready(m_ready[1]), .m_kind(m_kind[15:8]),
        .m_length(m_length[31:16]), .m_data(m_data[15:8]), .m_last(m_last[1]), .ev_bad(ev_bad_out)
    );
    wire       w_beat, w_moves, w_ends;
    wire [8*WIDTH-1:0] w_bytes;
    wire [WIDTH-1:0]   w_keep;
    beat_pack #(.WIDTH(WIDTH)) u_writes (
        .clk(clk), .clear(rst || in_void), .s_valid(in_valid), .s_ready(in_ready), .s_data(in_data), .s_last(in_last),
        .m_valid(w_beat), .m_ready(w_moves), .m_data(w_bytes), .m_keep(w_keep), .m_last(w_ends)
    );
    ni_link_in #(.PAGE_BYTES(PAGE_BYTES), .ADDR_WIDTH(ADDR_WIDTH), .WIDTH(WIDTH), .WORD(WORD)) u_in (
        .clk(clk), .rst(rst), .s_valid(w_beat), .s_ready(w_moves), .s_data(w_bytes), .s_keep(w_keep), .s_last(w_ends), .s_sure(in_sure),
        .s_void(in_void), .look_frame(look_frame), .allowed(allowed),
        .w_valid(w_valid[0]), .w_take(w_take[0]), .w_addr(w_addr[WW-1:0]), .w_data(w_data[8*WORD-1:0]),
        .w_mask(w_mask[WORD-1:0]), .hold(1'b0), .quiet(quiet),
        .n_valid(n_valid), .n_ready(n_ready), .n_frame(n_frame), .n_first(n_first), .n_last(n_last),
        .ev_denied(ev_denied), .ev_bad(ev_bad_in)
    );
    generate
        if (CONTEXTS != 0) begin : g_contexts
            ni_messages #(
                .CONTEXTS(CONTEXTS), .VIRTUAL(VIRTUAL), .SLOTS(SLOTS), .WINDOW(WINDOW), .FRAMES(FRAMES), .PAGE_BYTES(PAGE_BYTES),
                .ADDR_WIDTH(ADDR_WIDTH)
            ) u_messages (
                .clk(clk), .rst(rst), .r_en(reg_en && in_contexts), .r_write(reg_write), .r_context(reg_addr[3 +: CONTEXTS]), .r_reg(which),
                .r_wdata(reg_wdata), .r_done(e_done), .r_ok(e_ok), .r_value(e_value),
                .ask(e_ask), .ask_wakes(e_wakes), .ask_vl(e_vl), .asked(for_context && c_done), .ask_value(c_value),
                .want(e_want), .turn(mine), .v_valid(e_valid), .v_ready(v_ready), .v_data(e_data), .v_last(e_last), .v_vl(e_send_vl),
                .v_begins(e_begins), .v_size(e_size), .v_final(e_final), .v_life(e_life),
                .sent(sent && mine), .refused(refused), .v_slot(v_slot),
                .s_valid(d_valid && to_context), .s_ready(e_ready), .s_vl(d_vl), .s_context(d_context), .s_life(d_life), .s_data(d_data),
                .s_last(d_last), .s_void(d_void), .x_look(x_look), .x_vl(x_vl), .x_context(x_context), .x_life(x_life),
                .x_credit(x_credit), .x_blind(x_blind), .x_refused(x_refused), .done(done), .done_slot(done_slot),
                .done_closed(done_closed), .back(back), .back_slot(back_slot), .back_ready(back_ready), .freed(freed),
                .told_ready(e_told_ready), .told(told), .told_vl(told_vl), .told_context(told_context), .told_life(told_life),
                .told_open(told_status[`LP_VL_STATUS_OPEN_BIT]),
                .h_en(g_h_en), .h_addr(g_h_addr), .h_data(g_h_data), .h_clash(g_h_clash),
                .mem_en(g_mem_en), .mem_addr(g_mem_addr), .mem_data(g_mem_data), .mem_clash(g_mem_clash),
                .w_valid(w_valid[1 +: 2]), .w_take(w_take[1 +: 2]), .w_addr(w_addr[WW +: 2 * WW]), .w_data(w_data[8*WORD +: 16*WORD]),
                .w_mask(w_mask[WORD +: 2*WORD]), .m_valid(m_valid[2]), .m_ready(m_ready[2]), .m_kind(m_kind[16 +: 8]),
                .m_length(m_length[32 +: 16]), .m_data(m_data[16 +: 8]), .m_last(m_last[2]), .ev_bad(ev_bad_message)
            );
        end else begin : g_no_contexts
            assign {e_done, e_ok, e_value, e_ask, e_wakes, e_vl, e_send_vl, e_want, e_valid, e_data, e_last, e_begins, e_size, e_final,
                e_life} = {69+2*VIRTUAL{1'b0}};
            assign {e_told_ready, e_ready, x_credit, x_blind, back, back_slot, ev_bad_message} = {1'b1, {5+$clog2(SLOTS){1'b0}}};
            assign {g_mem_en, g_mem_addr, g_h_data, g_h_clash} = {g_h_en, g_h_addr, g_mem_data, g_mem_clash};
            wire unused_contexts = ^{d_context, d_life, told_context, told_life, x_look, x_vl, x_context, x_life, x_refused, done,
                done_slot, done_closed, back_ready, freed, v_slot};
        end
    endgenerate
    assign ev_bad = {ev_bad_message, ev_bad_out, ev_bad_in};
    wire unused = ^{unused_bad, unused_replay, unused_drop};
endmodule
`resetall
