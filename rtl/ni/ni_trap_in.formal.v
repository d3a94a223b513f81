`default_nettype none
// Properties of ni_trap and ni_link_in together, as ni_port joins them. From the first byte of a PAGE or CONNECT to RESUME nothing of its
// link is written or reported: what came before has been by then, and of what comes after only the header of a WRITE is taken. Nothing is
// asked of other links, since nothing is offered to what they share. And it goes on: while it is not held, and its neighbours let it wait
// for PATIENCE clocks at most, no byte at s_* that is sure waits for more than WAIT, even if a TRAP is being told again.
//
// The link may bring any bytes, in packets of any length, whatever their length fields say; the frame table may say anything.
module ni_trap_in_formal #(
    parameter FRAMES     = 5,
    parameter MAX_PACKET = 72,
    parameter PATIENCE   = 2,
    parameter WAIT       = 10 * (PATIENCE + 1) + 1 // a PAGE's TRAP, and the clock before it or after it: the longest
) (
    input wire       clk,
    input wire       s_valid,
    input wire [7:0] s_data,
    input wire       s_last,
    input wire       s_sure,
    input wire       s_void,
    input wire       t_ready,
    input wire       allowed,
    input wire       w_take,
    input wire       n_ready,
    input wire       resume,
    input wire       retrap
);
`include "linkproto.vh"

    // A reset of one clock, then none.
    reg  f_run = 1'b0;
    wire rst = !f_run;
    always @(posedge clk) f_run <= 1'b1;

    wire       s_ready, in_valid, in_ready, in_last, t_valid, t_last, quiet, hold, w_valid, n_valid, ev_bad;
    wire [7:0] in_data, t_kind, t_data;
    wire [15:0] t_length;
    ni_trap #(.LINK(5), .FRAMES(FRAMES), .MAX_PACKET(MAX_PACKET)) u_trap (
        .clk(clk), .rst(rst), .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_last(s_last),
        .s_sure(s_sure), .s_void(s_void),
        .m_valid(in_valid), .m_ready(in_ready), .m_data(in_data), .m_last(in_last),
        .t_valid(t_valid), .t_ready(t_ready), .t_kind(t_kind), .t_length(t_length), .t_data(t_data), .t_last(t_last),
        .quiet(quiet), .hold(hold), .resume(resume), .retrap(retrap), .ev_bad(ev_bad)
    );
    wire [15:0] look_frame, n_frame;
    wire [3:0]  w_addr, w_mask, n_first, n_last;
    wire [31:0] w_data;
    wire        ev_denied, ev_bad_in;
    ni_link_in #(.PAGE_BYTES(16), .ADDR_WIDTH(6)) u_in (
        .clk(clk), .rst(rst), .s_valid(in_valid), .s_ready(in_ready), .s_data(in_data), .s_last(in_last),
        .s_sure(s_sure), .s_void(s_void),
        .look_frame(look_frame), .allowed(allowed),
        .w_valid(w_valid), .w_take(w_take), .w_addr(w_addr), .w_data(w_data), .w_mask(w_mask),
        .hold(hold), .quiet(quiet), .n_valid(n_valid), .n_ready(n_ready), .n_frame(n_frame), .n_first(n_first), .n_last(n_last),
        .ev_denied(ev_denied), .ev_bad(ev_bad_in)
    );
    wire take = s_valid && s_ready;
    always @* begin
        if (w_take) assume (w_valid);
        if (retrap) assume (hold);
    end

    // The packet at s_*: how many bytes have gone in, up to nine, and the first five of them. What is offered waits unchanged.
    reg  [3:0]  f_in;
    reg  [39:0] f_head;
    reg         f_waits, f_wait_last;
    reg  [7:0]  f_wait_data;
    always @(posedge clk) begin
        f_waits     <= s_valid && !s_ready;
        f_wait_data <= s_data;
        f_wait_last <= s_last;
        if (take) begin
            f_in <= s_last ? 4'd0 : f_in == 4'd9 ? 4'd9 : f_in + 4'd1;
            if (f_in < 5) f_head[8*f_in +: 8] <= s_data;
        end
        if (rst || s_void) f_in <= 4'd0;
        if (rst) f_waits <= 1'b0;
    end
`include "ni_trial.formal.v"

    // Whether it traps: at its first byte, and then to its end; and whether the bytes that have gone in and this one are all of a good one.
    wire [7:0]  f_type   = f_in == 0 ? s_data : f_head[7:0];
    wire        f_page   = f_type == {3'd0, `LP_TYPE_PAGE};
    wire        f_traps  = f_page || f_type == {3'd0, `LP_TYPE_CONNECT};
    wire [15:0] f_length = f_head[23:8];
    wire        f_fits   = f_length <= 16'd68 && f_length + 6 <= MAX_PACKET;   // of a CONNECT
    wire        f_whole  = take && s_last && (f_page ? f_in == 8 && f_head[39:24] < FRAMES : f_traps && f_in >= 6 && f_fits);

    // A good one is owed from its end to that of its TRAP, and then it holds. f_again: the TRAP is told again.
    reg  f_owed, f_held, f_again;
    wire f_inside = f_owed || ((take || f_in != 0) && f_traps);
    wire f_told   = t_valid && t_ready && t_last;
    always @(posedge clk) begin
        f_owed <= (f_owed || f_whole) && !f_told;
        if (resume)             f_held <= 1'b0;
        if (f_told && !f_again) f_held <= 1'b1;
        f_again <= f_again ? !f_told : retrap;
        if (rst) {f_owed, f_held, f_again} <= 3'd0;
    end

    // How long what is offered has waited for each neighbour, and s_* without a hold.
    reg [1:0] f_wait_t, f_wait_w, f_wait_n;
    reg [5:0] f_wait;
    reg       f_offered;                // a report waits
    always @(posedge clk) begin
        f_wait_t <= t_valid && !t_ready ? f_wait_t + 2'd1 : 2'd0;
        f_wait_w <= w_valid && !w_take ? f_wait_w + 2'd1 : 2'd0;
        f_wait_n <= n_valid && !n_ready ? f_wait_n + 2'd1 : 2'd0;
        f_wait   <= s_valid && s_sure && !s_ready && !f_held ? f_wait + 6'd1 : 6'd0;
        f_offered <= n_valid && !n_ready;
        if (rst) {f_wait_t, f_wait_w, f_wait_n, f_wait, f_offered} <= 13'd0;
    end
    always @* begin
        if (f_wait_t == PATIENCE) assume (t_ready);
        if (f_wait_w == PATIENCE) assume (w_take);
        if (f_wait_n == PATIENCE) assume (n_ready);
    end

    always @* if (f_run) begin
        assert (hold == f_held);
        if (f_inside || f_held) assert (!w_valid && !n_valid);
        if (n_valid && !f_offered) assert (!w_valid);
        if (f_offered) assert (n_valid);
        // A TRAP is of a good packet, once that is in or, of a CONNECT, while its params come; or the one that holds, or did, again.
        if (f_again)                  assert (t_valid && !f_inside);
        else if (t_valid)             assert (!f_held && (f_owed || (f_traps && !f_page && f_in >= 7 && f_fits)));
        if (f_told && !f_again)       assert (f_owed || f_whole);
        // A packet that traps does not begin while all is held, and of a WRITE no more goes in than its header.
        if (f_owed) assert (!take);
        if (f_held && take) assert (!f_traps && (f_in < 7 || f_type != {3'd0, `LP_TYPE_WRITE}));
        assert (f_wait <= WAIT);
    end
endmodule
`resetall
