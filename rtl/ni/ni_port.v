`default_nettype none
// The port of one link, or of a network: its endpoint, the trap unit behind it, and what carries out its packets.
//
// Contract:
//   s_*: packets of the host for the link, which are never held up: one begins only while has_room, or `takes` for its size, is high;
//   `refused` (pulse): one has been dropped instead. cancel, admit, freed_*: as link_endpoint's.
//   t_*: TRAP packets for the host, and with ROUTES what ni_answer gives it, as ni_compose takes them. resume, retrap (pulses): as of
//   ni_trap; `trapped`: they have a meaning.
//   look_frame -> allowed: the frame table, combinationally. w_*: words for the receive buffer, as of ni_page_writer. n_*: the writes that
//   have been carried out, as of ni_link_in.
//   gateway: as of ni_route. node, nonce, anonymous, renew, LANES, SPACED, lanes, tick, tx_*, rx_*, status, peer, events, i_*: as of
//   ni_endpoint.
//   ROUTER, unless it is 0: this is the port of a network, ni_network with so many links, which takes ROUTEs and has no injector. LINES is
//   not to be set. BARRIER, 1: its router carries out barriers.
//   VIRTUAL, if there is a network: v_*: ROUTEs of virtual links for it; x_*: all that come from it, which move with x_ready only;
//   x_denied, x_bad (pulses): of their packets.
//   reg_*: registers of the network, as of net_regs; what is for others goes on to o_*.
//
// Source: LMMC; doc/architecture.md.
module ni_port #(
    parameter LINK         = 1,
    parameter FRAMES       = 4,
    parameter PAGE_BYTES   = 1024,
    parameter ADDR_WIDTH   = 12,
    parameter REPLAY_BYTES = 4096,
    parameter RX_BYTES     = 4096,
    parameter MAX_PACKET   = 1032,
    parameter HEADROOM     = 256,
    parameter ACK_DELAY    = 512,
    parameter WORD_TIMER   = 4096,
    parameter RETRY        = 16384,
    parameter RETRY_LIMIT  = 8,
    parameter INJECT       = 0,
    parameter LANES        = 1,
    parameter EARLY        = 0,
    parameter SPACED       = 0,
    parameter ROUTES       = 0,
    parameter ROUTER       = 0,
    parameter PATIENCE     = 1 << 20,
    parameter BARRIER      = 0,
    parameter VIRTUAL      = 0,
    parameter WIDTH        = 1,
    parameter WORD         = 4,
    parameter LINES        = LANES * (ROUTER != 0 ? ROUTER : 1)
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [15:0] node,
    input  wire        gateway,
    input  wire [31:0] nonce,
    input  wire        anonymous,
    input  wire        renew,
    input  wire        soon,

    input  wire        s_valid,
    input  wire [8*WIDTH-1:0] s_data,
    input  wire [WIDTH-1:0]   s_keep,
    input  wire        s_last,
    input  wire        cancel,
    output wire        has_room,
    input  wire [15:0] size,
    output wire        takes,
    input  wire        refused,
    input  wire        admit,
    output wire [15:0] freed_bytes,
    output wire [7:0]  freed_packets,

    input  wire        v_valid,
    output wire        v_ready,
    input  wire [8*WIDTH-1:0] v_data,
    input  wire [WIDTH-1:0]   v_keep,
    input  wire        v_last,
    input  wire        v_void,
    output wire        x_valid,
    input  wire        x_ready,
    output wire [8*WIDTH-1:0] x_data,
    output wire [WIDTH-1:0]   x_keep,
    output wire        x_last,
    output wire        x_void,
    input  wire        x_denied,
    input  wire [2:0]  x_bad,

    output wire        t_valid,
    input  wire        t_ready,
    output wire [7:0]  t_kind,
    output wire [15:0] t_length,
    output wire [7:0]  t_data,
    output wire        t_last,
    output wire        trapped,
    input  wire        resume,
    input  wire        retrap,

    output wire [15:0] look_frame,
    input  wire        allowed,
    output wire                          w_valid,
    input  wire                          w_take,
    output wire [ADDR_WIDTH-$clog2(WORD)-1:0] w_addr,
    output wire [8*WORD-1:0]             w_data,
    output wire [WORD-1:0]               w_mask,
    output wire                          n_valid,
    input  wire                          n_ready,
    output wire [15:0]                   n_frame,
    output wire [$clog2(PAGE_BYTES)-1:0] n_first,
    output wire [$clog2(PAGE_BYTES)-1:0] n_last,

    input  wire [LINES-1:0]   tick,
    output wire [9*LINES-1:0] tx_sym,
    input  wire [LINES-1:0]   tx_ready,
    input  wire [9*LINES-1:0] rx_sym,
    input  wire [LINES-1:0]   rx_valid,

    output wire [15:0] status,
    output wire [7:0]  lanes,
    output wire [17:0] peer,
    output wire [15:0] events,

    input  wire        reg_en,
    input  wire        reg_write,
    input  wire [15:0] reg_addr,
    input  wire [31:0] reg_wdata,
    output wire        reg_done,
    output wire        reg_ok,
    output wire [31:0] reg_value,
    output wire        o_en,
    input  wire        o_done,
    input  wire        o_ok,
    input  wire [31:0] o_value,

    input  wire        i_wr_en,
    input  wire [3:0]  i_wr_reg,
    input  wire [31:0] i_wr_data,
    output wire        i_running,
    output wire        i_cut,
    output wire [31:0] i_symbols,
    output wire [31:0] i_hits,
    output wire        i_hit
);
    // m_*: what has come by the link or network.
    wire               m_valid, m_ready, m_last, m_void, room, overdue, ev_denied, ev_denied_in, ev_bad, ev_bad_trap, ev_bad_in;
    wire [8*WIDTH-1:0] m_data;
    wire [WIDTH-1:0]   m_keep;
    wire               m_sure;          // of a link only
    wire               route_ready;     // of ni_route
    generate
        if (ROUTER != 0) begin : g_network
            ni_network #(
                .ROUTER(ROUTER), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .HEADROOM(HEADROOM),
                .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT),
                .EARLY(EARLY != 0 ? 2 : 0), .VIRTUAL(VIRTUAL), .BARRIER(BARRIER), .WIDTH(WIDTH), .LANES(LANES)
            ) u_network (
                .clk(clk), .rst(rst), .node(node), .nonce(nonce), .renew(renew), .soon(soon),
                .s_valid(s_valid), .s_data(s_data), .s_keep(s_keep), .s_last(s_last), .cancel(cancel),
                .has_room(has_room), .size(size), .takes(takes), .refused(refused), .admit(admit),
                .freed_bytes(freed_bytes), .freed_packets(freed_packets),
                .v_valid(v_valid), .v_ready(v_ready), .v_data(v_data), .v_keep(v_keep), .v_last(v_last), .v_void(v_void),
                .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_keep(m_keep), .m_last(m_last), .m_void(m_void),
                .room(room), .overdue(overdue), .trapped(trapped), .ev_denied(ev_denied), .ev_bad(ev_bad),
                .status(status), .peer(peer), .events(events),
                .reg_en(reg_en), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata),
                .reg_done(reg_done), .reg_ok(reg_ok), .reg_value(reg_value),
                .n_en(o_en), .n_done(o_done), .n_ok(o_ok), .n_value(o_value),
                .tick(tick), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid)
            );
            assign m_sure = 1'b0;
            assign {x_valid, x_data, x_keep, x_last, x_void} = {m_valid && (VIRTUAL == 0 || route_ready), m_data, m_keep, m_last, m_void};
            assign lanes  = 8'd0;
            assign {i_running, i_cut, i_symbols, i_hits, i_hit} = 67'd0;
            wire unused = ^{anonymous, i_wr_en, i_wr_reg, i_wr_data};
        end else begin : g_link
            wire s_ready, unused_coming;
            ni_endpoint #(
                .PORT(LINK), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .HEADROOM(HEADROOM),
                .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT), .INJECT(INJECT),
                .LANES(LANES), .EARLY(EARLY), .ROUTES(ROUTES), .SPACED(SPACED), .WIDTH(WIDTH)
            ) u_end (
                .clk(clk), .rst(rst), .node(node), .nonce(nonce), .anonymous(anonymous), .renew(renew), .soon(soon),
                .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_keep(s_keep), .s_last(s_last), .cancel(cancel),
                .has_room(has_room), .size(size), .takes(takes), .refused(refused), .admit(admit),
                .freed_bytes(freed_bytes), .freed_packets(freed_packets),
                .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_keep(m_keep), .m_last(m_last), .m_sure(m_sure),
                .m_void(m_void), .coming(unused_coming), .trapped(trapped), .ev_denied(ev_denied), .ev_bad(ev_bad),
                .tick(tick), .tx_sym(tx_sym), .tx_ready(tx_ready), .rx_sym(rx_sym), .rx_valid(rx_valid),
                .status(status), .lanes(lanes), .peer(peer), .events(events),
                .i_wr_en(i_wr_en), .i_wr_reg(i_wr_reg), .i_wr_data(i_wr_data),
                .i_running(i_running), .i_cut(i_cut), .i_symbols(i_symbols), .i_hits(i_hits), .i_hit(i_hit)
            );
            assign {o_en, reg_done, reg_ok, reg_value} = {reg_en, o_done, o_ok, o_value};
            assign {v_ready, x_valid, x_data, x_keep, x_last, x_void} = {9*WIDTH + 4{1'b0}};
            wire unused = ^{reg_write, reg_addr, reg_wdata, v_valid, v_data, v_keep, v_last, v_void};
`ifdef VERILATOR
            always @(posedge clk) if (!rst) assert (!s_valid || s_ready);
`else
            wire unused_ready = s_ready;
`endif
        end
    endgenerate

    // r_*: with ROUTES, what has come in them for this node.
    localparam TAKES_ROUTES = ROUTES != 0 || ROUTER != 0;
    wire               r_valid, r_ready, r_last, r_sure, r_void;
    wire [8*WIDTH-1:0] r_data;
    wire [WIDTH-1:0]   r_keep;
    // What traps, before ROUTEs for the host are put beside it.
    wire               p_valid, p_ready, p_last;
    wire [7:0]         p_kind, p_data;
    wire [15:0]        p_length;
    generate
        if (TAKES_ROUTES) begin : g_route
            localparam TOLD_BYTES = 1 << $clog2(RX_BYTES > 1024 ? RX_BYTES : 1024);     // of ROUTEs for the host
            wire pause, put, told, untold, ev_late, ev_bad_route, ev_lost_route;
            assign m_ready = route_ready && (VIRTUAL == 0 || x_ready);
            net_patience #(.PATIENCE(PATIENCE)) u_patience (
                .clk(clk), .rst(rst), .room(room), .moved(r_valid && r_ready), .overdue(overdue)
            );
            ni_route #(.MAX_PACKET(MAX_PACKET), .HOLD_BYTES(ROUTER != 0 ? RX_BYTES : MAX_PACKET), .EARLY(EARLY), .VIRTUAL(VIRTUAL),
                .WIDTH(WIDTH)) u_route (
                .clk(clk), .rst(rst), .node(node), .gateway(gateway),
                .s_valid(m_valid && (VIRTUAL == 0 || x_ready)), .s_ready(route_ready), .s_data(m_data), .s_keep(m_keep), .s_last(m_last),
                .s_void(m_void),
                .m_valid(r_valid), .m_ready(r_ready), .m_data(r_data), .m_keep(r_keep), .m_last(r_last), .m_sure(r_sure),
                .m_void(r_void), .room(room), .overdue(ROUTER == 0 && overdue), .pause(pause), .put(put), .told(told), .untold(untold),
                .ev_bad(ev_bad_route), .ev_late(ev_late)
            );
            ni_answer #(.LINK(LINK), .HOLD_BYTES(TOLD_BYTES), .WIDTH(WIDTH)) u_answer (
                .clk(clk), .rst(rst), .s_put(put), .s_data(m_data), .s_keep(m_keep), .s_last(m_last), .commit(told),
                .rollback(untold), .pause(pause), .ev_lost(ev_lost_route),
                .t_valid(p_valid), .t_ready(p_ready), .t_kind(p_kind), .t_length(p_length), .t_data(p_data), .t_last(p_last),
                .m_valid(t_valid), .m_ready(t_ready), .m_kind(t_kind), .m_length(t_length), .m_data(t_data), .m_last(t_last)
            );
            // Several of these may come in one clock.
            pulse_tally #(.N(3), .BITS(2)) u_denied (
                .clk(clk), .rst(rst), .events({x_denied, ev_late, ev_denied_in}), .event_out(ev_denied)
            );
            pulse_tally #(.N(7), .BITS(WIDTH == 1 ? 4 : 8)) u_bad (
                .clk(clk), .rst(rst), .events({x_bad, ev_lost_route, ev_bad_route, ev_bad_in, ev_bad_trap}), .event_out(ev_bad)
            );
            wire unused_sure = m_sure;
        end else begin : g_direct
            assign {r_valid, r_data, r_keep, r_last, r_sure, r_void} = {m_valid, m_data, m_keep, m_last, m_sure, m_void};
            assign {m_ready, room, overdue} = {r_ready, 2'b00};
            assign {ev_denied, ev_bad, route_ready} = {ev_denied_in, ev_bad_trap || ev_bad_in, r_ready};
            wire unused_patience = ^{room, overdue, x_ready, route_ready, gateway, x_denied, x_bad};
            assign {t_valid, p_ready, t_kind, t_length, t_data, t_last} = {p_valid, t_ready, p_kind, p_length, p_data, p_last};
        end
    endgenerate

    wire               in_valid, in_ready, in_last, quiet;
    wire [8*WIDTH-1:0] in_data;
    wire [WIDTH-1:0]   in_keep;
    ni_trap #(.LINK(LINK), .FRAMES(FRAMES), .MAX_PACKET(MAX_PACKET), .WIDTH(WIDTH)) u_trap (
        .clk(clk), .rst(rst),
        .s_valid(r_valid), .s_ready(r_ready), .s_data(r_data), .s_keep(r_keep), .s_last(r_last), .s_sure(r_sure), .s_void(r_void),
        .m_valid(in_valid), .m_ready(in_ready), .m_data(in_data), .m_keep(in_keep), .m_last(in_last),
        .t_valid(p_valid), .t_ready(p_ready), .t_kind(p_kind), .t_length(p_length), .t_data(p_data), .t_last(p_last),
        .quiet(quiet), .hold(trapped), .resume(resume), .retrap(retrap), .ev_bad(ev_bad_trap)
    );
    ni_link_in #(.PAGE_BYTES(PAGE_BYTES), .ADDR_WIDTH(ADDR_WIDTH), .WIDTH(WIDTH), .WORD(WORD),
        .SPACED(SPACED != 0 && LANES == 1 && !TAKES_ROUTES ? 1 : 0)) u_in (
        .clk(clk), .rst(rst),
        .s_valid(in_valid), .s_ready(in_ready), .s_data(in_data), .s_keep(in_keep), .s_last(in_last), .s_sure(r_sure),
        .s_void(r_void), .look_frame(look_frame), .allowed(allowed),
        .w_valid(w_valid), .w_take(w_take), .w_addr(w_addr), .w_data(w_data), .w_mask(w_mask),
        .hold(trapped), .quiet(quiet),
        .n_valid(n_valid), .n_ready(n_ready), .n_frame(n_frame), .n_first(n_first), .n_last(n_last),
        .ev_denied(ev_denied_in), .ev_bad(ev_bad_in)
    );
endmodule
`resetall
