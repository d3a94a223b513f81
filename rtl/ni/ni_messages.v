`default_nettype none
// Carries out messages of contexts: descriptors in rings in the receive buffer say what is sent and where what comes goes.
//
// Contract:
//   r_*: requests for registers of contexts, as of ni_msg_table. ask with ask_vl stands until asked (pulse): ask_wakes: there is a receive
//   for the link; else ask_value is its register 7.
//   want, turn, v_*, sent, refused: as of ni_msg_send; v_slot with sent. s_*, x_*: as of ni_msg_receive; x_refused, done*, back*, freed: as
//   of net_vl. told (pulse, while told_ready) with told_*.
//   h_*, mem_*: the host's reads and the buffer's read port, as of ni_msg_reads. w_*: two writers, as of ni_page_writer.
//   m_*: COMPLETEDs, as ni_compose takes them. ev_bad (pulse): a MESSAGE is malformed.
//
// Source: doc/protocol.md, "Messages of an interface".
module ni_messages #(
    parameter CONTEXTS   = 8,
    parameter VIRTUAL    = 4,
    parameter SLOTS      = 64,
    parameter WINDOW     = 32,
    parameter FRAMES     = 4,
    parameter PAGE_BYTES = 1024,
    parameter ADDR_WIDTH = 12,
    parameter SW         = $clog2(SLOTS)
) (
    input  wire                clk,
    input  wire                rst,

    input  wire                r_en,
    input  wire                r_write,
    input  wire [CONTEXTS-1:0] r_context,
    input  wire [2:0]          r_reg,
    input  wire [31:0]         r_wdata,
    output wire                r_done,
    output wire                r_ok,
    output wire [31:0]         r_value,

    output wire                ask,
    output wire                ask_wakes,
    output wire [VIRTUAL-1:0]  ask_vl,
    input  wire                asked,
    input  wire [31:0]         ask_value,

    output wire                want,
    input  wire                turn,
    output wire                v_valid,
    input  wire                v_ready,
    output wire [7:0]          v_data,
    output wire                v_last,
    output wire [VIRTUAL-1:0]  v_vl,
    output wire                v_begins,
    output wire [15:0]         v_size,
    output wire                v_final,
    output wire [3:0]          v_life,
    input  wire                sent,
    input  wire                refused,
    input  wire [SW-1:0]       v_slot,

    input  wire                s_valid,
    output wire                s_ready,
    input  wire [VIRTUAL-1:0]  s_vl,
    input  wire [CONTEXTS-1:0] s_context,
    input  wire [3:0]          s_life,
    input  wire [7:0]          s_data,
    input  wire                s_last,
    input  wire                s_void,
    input  wire                x_look,
    input  wire [VIRTUAL-1:0]  x_vl,
    input  wire [CONTEXTS-1:0] x_context,
    input  wire [3:0]          x_life,
    output wire                x_credit,
    output wire                x_blind,
    input  wire                x_refused,
    input  wire                done,
    input  wire [SW-1:0]       done_slot,
    input  wire                done_closed,
    output wire                back,
    output wire [SW-1:0]       back_slot,
    input  wire                back_ready,
    input  wire                freed,
    output wire                told_ready,
    input  wire                told,
    input  wire [VIRTUAL-1:0]  told_vl,
    input  wire [CONTEXTS-1:0] told_context,
    input  wire [3:0]          told_life,
    input  wire                told_open,

    input  wire                h_en,
    input  wire [ADDR_WIDTH-3:0] h_addr,
    output wire [31:0]         h_data,
    output wire                h_clash,
    output wire                mem_en,
    output wire [ADDR_WIDTH-3:0] mem_addr,
    input  wire [31:0]         mem_data,
    input  wire                mem_clash,
    output wire [1:0]          w_valid,
    input  wire [1:0]          w_take,
    output wire [2*ADDR_WIDTH-5:0] w_addr,
    output wire [63:0]         w_data,
    output wire [7:0]          w_mask,

    output wire                m_valid,
    input  wire                m_ready,
    output wire [7:0]          m_kind,
    output wire [15:0]         m_length,
    output wire [7:0]          m_data,
    output wire                m_last,
    output wire                ev_bad
);
`include "linkproto.vh"
    localparam [6:0] BAD = `LP_COMPLETION_BAD_DESCRIPTOR;
    localparam AW = ADDR_WIDTH, WHAT = CONTEXTS + 104;

    wire        forget, all_forgotten, takes, more, e_enabled, e_posted, e_sends, forgot_send, forgot_post, forgot_receive, forgot_complete;
    wire [CONTEXTS-1:0] forget_context, send_context, post_context, receive_context, complete_context, tell_context;
    wire [3:0]  u_valid, u_op, u_done, e_size;
    wire [7:0]  e_first, e_last;
    wire [15:0] e_send_head, e_receive_head, e_completions;
    wire [2:0]  q_valid, q_take;
    wire [3*CONTEXTS-1:0] q_context;
    assign u_op[3] = 1'b0;
    ni_msg_table #(.CONTEXTS(CONTEXTS), .FRAMES(FRAMES), .PAGE_BYTES(PAGE_BYTES)) u_table (
        .clk(clk), .rst(rst), .r_en(r_en), .r_write(r_write), .r_context(r_context), .r_reg(r_reg), .r_wdata(r_wdata), .r_done(r_done),
        .r_ok(r_ok), .r_value(r_value), .forget(forget), .forget_context(forget_context), .forgotten(all_forgotten),
        .u_valid(u_valid), .u_op(u_op), .u_context({tell_context, complete_context, post_context, send_context}),
        .s_takes(takes), .s_more(more), .u_done(u_done), .e_enabled(e_enabled), .e_posted(e_posted), .e_sends(e_sends), .e_size(e_size),
        .e_first(e_first), .e_last(e_last), .e_send_head(e_send_head), .e_receive_head(e_receive_head), .e_completions(e_completions),
        .q_valid(q_valid), .q_context(q_context), .q_take(q_take)
    );

    // A context that has ended is forgotten by one unit after the other, the one that completes last, since the others may do so before.
    reg  [2:0]  forgot;
    assign all_forgotten = forgot_complete;
    always @(posedge clk)
        if (rst || !forget) forgot <= 3'd0;
        else forgot <= forgot | {forgot_receive, forgot_post, forgot_send};

    wire [1:0]  rd_valid, rd_done;
    wire [2*AW-5:0] rd_addr;
    wire [31:0] rd_data;
    ni_msg_reads #(.UNITS(2), .AW(AW - 2)) u_reads (
        .clk(clk), .rst(rst), .h_en(h_en), .h_addr(h_addr), .h_data(h_data), .h_clash(h_clash),
        .e_valid(rd_valid), .e_addr(rd_addr), .e_done(rd_done), .e_data(rd_data),
        .m_en(mem_en), .m_addr(mem_addr), .m_data(mem_data), .m_clash(mem_clash)
    );

    reg         asking, asks_wake;      // one is asked for at a time, and stays so
    wire        send_ask, note, wake_ask;
    wire [VIRTUAL-1:0] send_vl, wake_vl;
    wire [2:0]  d_valid, d_ready;
    wire [3*WHAT-1:0] d_what;
    wire [31:0] send_length, send_tag;
    wire [15:0] send_link, send_cookie;
    wire [6:0]  send_status;
    ni_msg_send #(
        .CONTEXTS(CONTEXTS), .VIRTUAL(VIRTUAL), .PAGE_BYTES(PAGE_BYTES), .ADDR_WIDTH(AW), .WINDOW(WINDOW), .SHARE(SLOTS / 2)
    ) u_send (
        .clk(clk), .rst(rst), .q_valid(q_valid[0]), .q_context(q_context[0 +: CONTEXTS]), .q_take(q_take[0]),
        .u_valid(u_valid[0]), .u_op(u_op[0]), .u_done(u_done[0]), .takes(takes), .more(more), .e_enabled(e_enabled), .e_sends(e_sends),
        .e_size(e_size), .e_first(e_first), .e_last(e_last), .e_send_head(e_send_head),
        .rd_valid(rd_valid[1]), .rd_addr(rd_addr[AW-2 +: AW-2]), .rd_done(rd_done[1]), .rd_data(rd_data),
        .ask(send_ask), .ask_vl(send_vl), .asked(asked && !asks_wake), .link(ask_value),
        .want(want), .turn(turn), .v_valid(v_valid), .v_ready(v_ready), .v_data(v_data), .v_last(v_last), .v_begins(v_begins),
        .v_size(v_size), .v_final(v_final), .v_life(v_life), .sent(sent), .refused(refused), .note(note), .freed(freed),
        .d_valid(d_valid[2]), .d_ready(d_ready[2]), .ctx(send_context), .d_length(send_length), .d_tag(send_tag), .d_vl(send_link),
        .d_cookie(send_cookie), .d_status(send_status),
        .forget(forget && !forgot[0]), .forget_context(forget_context), .forgotten(forgot_send)
    );
    assign v_vl = send_vl;
    assign d_what[2*WHAT +: WHAT] = {send_context, 1'b0, send_status, send_cookie, send_link, send_tag, send_length};

    wire        look, blind, p_ready, consume, posted_idle, wake, woken;
    wire [CONTEXTS-1:0] look_context, consume_context, wake_context;
    wire [AW-1:0] p_address;
    wire [AW:0] p_length;
    wire [15:0] p_cookie, post_cookie;
    wire [31:0] post_length;
    ni_msg_post #(.CONTEXTS(CONTEXTS), .PAGE_BYTES(PAGE_BYTES), .ADDR_WIDTH(AW)) u_post (
        .clk(clk), .rst(rst), .q_valid(q_valid[1]), .q_context(q_context[CONTEXTS +: CONTEXTS]), .q_take(q_take[1]),
        .u_valid(u_valid[1]), .u_op(u_op[1]), .u_done(u_done[1]), .e_enabled(e_enabled), .e_posted(e_posted), .e_size(e_size),
        .e_first(e_first), .e_last(e_last), .e_receive_head(e_receive_head),
        .rd_valid(rd_valid[0]), .rd_addr(rd_addr[0 +: AW-2]), .rd_done(rd_done[0]), .rd_data(rd_data),
        .look(look), .look_context(look_context), .blind(blind), .p_ready(p_ready), .p_address(p_address), .p_length(p_length),
        .p_cookie(p_cookie), .consume(consume), .consume_context(consume_context), .idle(posted_idle),
        .wake(wake), .wake_context(wake_context), .woken(woken),
        .d_valid(d_valid[1]), .d_ready(d_ready[1]), .ctx(post_context), .d_length(post_length), .d_cookie(post_cookie),
        .forget(forget && !forgot[1]), .forget_context(forget_context), .forgotten(forgot_post)
    );
    assign d_what[WHAT +: WHAT] = {post_context, 1'b1, BAD, post_cookie, 16'd0, 32'd0, post_length};

    // What is told of a link goes to the units, one after the other.
    reg         tell_waits, tell_receive;
    reg  [VIRTUAL-1:0]  of_vl;
    reg  [CONTEXTS-1:0] of_context;
    reg  [3:0]  of_life;
    reg         of_open;
    wire        waits_told, receive_told;
    assign told_ready = !tell_waits && !tell_receive;
    always @(posedge clk) begin
        if (told) {tell_waits, tell_receive, of_vl, of_context, of_life, of_open} <= {2'b11, told_vl, told_context, told_life, told_open};
        if (waits_told)   tell_waits   <= 1'b0;
        if (receive_told) tell_receive <= 1'b0;
        if (rst) {tell_waits, tell_receive} <= 2'b00;
    end
    ni_msg_waits #(.CONTEXTS(CONTEXTS), .VIRTUAL(VIRTUAL)) u_waits (
        .clk(clk), .rst(rst), .put(x_refused), .put_vl(x_vl), .put_context(x_context),
        .wake(wake), .wake_context(wake_context), .woken(woken),
        .told_valid(tell_waits), .told_vl(of_vl), .told_context(of_context), .told_ready(waits_told),
        .ask(wake_ask), .ask_vl(wake_vl), .asked(asked && asks_wake)
    );
    assign ask       = asking;
    assign ask_wakes = asks_wake;
    assign ask_vl    = asks_wake ? wake_vl : send_vl;
    always @(posedge clk) begin
        if (!asking) {asking, asks_wake} <= {send_ask || wake_ask, wake_ask};
        if (rst || asked) asking <= 1'b0;
    end

    wire [31:0] receive_length, receive_tag;
    wire [15:0] receive_link, receive_cookie;
    wire [6:0]  receive_status;
    ni_msg_receive #(.CONTEXTS(CONTEXTS), .VIRTUAL(VIRTUAL), .ADDR_WIDTH(AW)) u_receive (
        .clk(clk), .rst(rst), .s_valid(s_valid), .s_ready(s_ready), .s_vl(s_vl), .s_context(s_context), .s_life(s_life), .s_data(s_data),
        .s_last(s_last), .s_void(s_void), .x_look(x_look), .x_vl(x_vl), .x_context(x_context), .x_life(x_life), .x_credit(x_credit),
        .x_blind(x_blind), .look(look), .look_context(look_context), .blind(blind), .p_ready(p_ready), .p_address(p_address),
        .p_length(p_length), .p_cookie(p_cookie), .consume(consume), .consume_context(consume_context), .posted_idle(posted_idle),
        .w_valid(w_valid[0]), .w_take(w_take[0]), .w_addr(w_addr[0 +: AW-2]), .w_data(w_data[31:0]), .w_mask(w_mask[3:0]),
        .told_valid(tell_receive), .told_vl(of_vl), .told_open(of_open), .told_life(of_life), .told_ready(receive_told),
        .d_valid(d_valid[0]), .d_ready(d_ready[0]), .d_context(receive_context), .d_length(receive_length), .d_tag(receive_tag),
        .d_vl(receive_link), .d_cookie(receive_cookie), .d_status(receive_status),
        .forget(forget), .forget_context(forget_context), .forgotten(forgot_receive), .ev_bad(ev_bad)
    );
    assign d_what[0 +: WHAT] = {receive_context, 1'b1, receive_status, receive_cookie, receive_link, receive_tag, receive_length};

    ni_msg_complete #(.CONTEXTS(CONTEXTS), .SLOTS(SLOTS), .PAGE_BYTES(PAGE_BYTES), .ADDR_WIDTH(AW)) u_complete (
        .clk(clk), .rst(rst), .s_valid(d_valid), .s_ready(d_ready), .s_what(d_what),
        .note(note), .n_slot(v_slot), .n_what({send_context, 8'd0, send_cookie, send_link, send_tag, send_length}),
        .done(done), .done_slot(done_slot), .done_closed(done_closed), .given(back), .given_slot(back_slot), .give_ready(back_ready),
        .u_valid(u_valid[2]), .u_op(u_op[2]), .ctx(complete_context), .u_done(u_done[2]), .e_enabled(e_enabled), .e_size(e_size),
        .e_first(e_first), .e_last(e_last), .e_completions(e_completions),
        .w_valid(w_valid[1]), .w_take(w_take[1]), .w_addr(w_addr[AW-2 +: AW-2]), .w_data(w_data[63:32]),
        .forget(forget && forgot == 3'b111), .forget_context(forget_context), .forgotten(forgot_complete)
    );
    assign w_mask[7:4] = 4'b1111;
    ni_msg_tell #(.CONTEXTS(CONTEXTS)) u_tell (
        .clk(clk), .rst(rst), .q_valid(q_valid[2]), .q_context(q_context[2*CONTEXTS +: CONTEXTS]), .q_take(q_take[2]),
        .u_valid(u_valid[3]), .ctx(tell_context), .u_done(u_done[3]), .e_completions(e_completions),
        .m_valid(m_valid), .m_ready(m_ready), .m_kind(m_kind), .m_length(m_length), .m_data(m_data), .m_last(m_last)
    );
endmodule
`resetall
