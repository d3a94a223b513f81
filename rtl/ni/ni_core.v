`default_nettype none
// LMMC network interface: a host port and LINKS links, or a network behind a router, around a receive buffer of FRAMES link page frames.
//
// Contract:
//   Port 0 is the host, ports 1 .. LINKS are the links; all speak the same link layer. The symbol and PHY signals of port p are bits
//   9p +: 9 and bit p. With ROUTER, link 1 is the network, and the signals are those of the host and of the router's links 1 .. ROUTER.
//   With LANES or HOST_LANES above 1, those of the host's lanes come first, then those of link 1's, and so on.
//   A remote write from a link lands in the receive buffer only inside a frame that the frame table gives to that link. The host
//   reads and writes the whole buffer and every register, and sends packets to the links.
//   Nothing on one link holds up another, or the host.
//   Memories are not reset: keep rst up for 40 clocks after configuration (reset_sync does).
//
// Parameters: LINKS 1..7; FRAMES 1..256; PAGE_BYTES a power of two, 64..8192; REPLAY_BYTES a power of two, at least a packet;
// RX_BYTES a power of two, a packet, HEADROOM and 16 at least; HEADROOM as of link_rx.
// WIDTH: bytes a clock of packets, 1, 4 or 8. SPACED as of ni_regs: fewer cells where a PHY is so slow.
// ROUTES: ROUTEs are taken. ROUTER: links of its router, 0 for none; then LINKS is 1. PATIENCE as of net_local. LINES is not to be set.
// BARRIER, 1: the router carries out barriers.
// VIRTUAL: logarithm to base 2 of the number of virtual links that it carries out, 0 for none; with a ROUTER only. VL_SLOTS, VL_WINDOW: as
// of net_vl; VL_RETRY in clocks. CONTEXTS: logarithm to base 2 of the number of contexts of messages, 0 for none; with VIRTUAL
// and WIDTH 1 only.
// For test builds: TRACE, the records of a trace buffer, a power of two up to 8192, and INJECT, 1 for an error injector at each port; 0 for
// none.
//
// Source: LMMC (link memory management based communication) on STAFF-Links; doc/architecture.md.
module ni_core #(
    parameter LINKS        = 1,
    parameter FRAMES       = 4,
    parameter PAGE_BYTES   = 1024,
    parameter REPLAY_BYTES = 4096,
    parameter RX_BYTES     = 4096,
    parameter HEADROOM     = 256,
    parameter ACK_DELAY    = 512,
    parameter WORD_TIMER   = 4096,
    parameter RETRY        = 16384,
    parameter RETRY_LIMIT  = 8,
    parameter TRACE        = 0,
    parameter INJECT       = 0,
    parameter ROUTES       = 0,
    parameter ROUTER       = 0,
    parameter PATIENCE     = 1 << 20,
    parameter BARRIER      = 0,
    parameter VIRTUAL      = 0,
    parameter VL_SLOTS     = 64,
    parameter VL_WINDOW    = 16,
    parameter VL_RETRY     = 32768,
    parameter CONTEXTS     = 0,
    parameter WIDTH        = 1,
    parameter LANES        = 1,
    parameter HOST_LANES   = 1,
    parameter LINES        = ROUTER != 0 ? ROUTER : LINKS,
    parameter [LINES:0] SPACED = 0,
    parameter [63:0] SOURCE_HASH = 64'd0
) (
    input  wire                   clk,
    input  wire                   rst,

    input  wire [HOST_LANES+LANES*LINES-1:0]     tick,
    output wire [9*(HOST_LANES+LANES*LINES)-1:0] tx_sym,
    input  wire [HOST_LANES+LANES*LINES-1:0]     tx_ready,
    input  wire [9*(HOST_LANES+LANES*LINES)-1:0] rx_sym,
    input  wire [HOST_LANES+LANES*LINES-1:0]     rx_valid
);
`include "linkproto.vh"

    localparam TAKES_ROUTES = ROUTES != 0 || ROUTER != 0 ? 1 : 0;
    localparam EACH         = LANES * (ROUTER != 0 ? ROUTER : 1);   // lines of each link
    localparam MAX_PACKET   = PAGE_BYTES + `LP_PACKET_EXTRA + (TAKES_ROUTES != 0 ? `LP_ROUTE_EXTRA : 0);
    localparam BUFFER_BYTES = FRAMES * PAGE_BYTES;
    localparam AW           = $clog2(BUFFER_BYTES);
    localparam WORD         = WIDTH == 1 ? 4 : WIDTH;   // bytes of one in the receive buffer
    localparam LW           = $clog2(WORD);
    localparam WW           = AW - LW;
    localparam PW           = $clog2(PAGE_BYTES);
    localparam NOTIFIERS    = LINKS + (VIRTUAL != 0 ? 1 : 0);   // links, and virtual ones
    localparam WRITERS      = NOTIFIERS + (CONTEXTS != 0 ? 2 : 0);
    localparam TELLERS      = LINKS + (VIRTUAL != 0 ? 2 : 0) + (CONTEXTS != 0 ? 1 : 0);
    localparam VW           = VIRTUAL != 0 ? VIRTUAL : 1;
    generate
        if (WIDTH != 1 && WIDTH != 4 && WIDTH != 8) error_width_must_be_1_or_4_or_8 u_check_width ();
        if (LINKS < 1 || LINKS > 7)     error_links_must_be_1_to_7 u_check_links ();
        if (ROUTER < 0 || ROUTER > 16)  error_router_must_have_0_to_16_links u_check_router ();
        if (BARRIER != 0 && ROUTER == 0) error_barriers_need_a_router u_check_barrier ();
        if (ROUTER != 0 && LINKS != 1)  error_links_must_be_1_with_a_router u_check_network ();
        if (VIRTUAL != 0 && ROUTER == 0) error_virtual_needs_a_router u_check_virtual ();
        if (CONTEXTS != 0 && (VIRTUAL == 0 || WIDTH != 1)) error_contexts_need_virtual_and_width_1 u_check_contexts ();
        if (CONTEXTS != 0 && BUFFER_BYTES <= `LP_RINGS) error_contexts_need_a_receive_buffer_larger_than_rings u_check_rings ();
        if (FRAMES < 1 || FRAMES > 256) error_frames_must_be_1_to_256 u_check_frames ();
        if (PAGE_BYTES != (1 << $clog2(PAGE_BYTES)) || PAGE_BYTES < `LP_MIN_PAGE_BYTES || PAGE_BYTES > `LP_MAX_PAGE_BYTES)
            error_page_bytes_must_be_a_power_of_two_from_64_to_8192 u_check_page ();
        // Less than that apart, STOP could come and go faster than its counter counts.
        if (RX_BYTES < MAX_PACKET + HEADROOM + 16) error_rx_bytes_must_hold_a_packet_and_headroom_and_16 u_check_rx ();
    endgenerate

    // Of each port, the host's lowest: status, lanes, peer, events, and the error injector's registers. Of each link, link 1 lowest: the
    // rest.
    wire [16*LINKS+15:0] status;
    wire [8*LINKS+7:0]   lanes;
    wire [18*LINKS+17:0] peer;
    wire [15:0]          node;
    wire [31:0]          nonce;
    wire                 anonymous, renew, soon, gateway;
    wire [32*LINKS+31:0] status_regs, i_symbols, i_hits;
    wire [16*LINKS+15:0] events;
    wire [LINKS:0]       admit, i_wr_en, i_running, i_cut, i_hit;
    wire [3:0]           i_wr_reg;
    wire [31:0]          i_wr_data;
    wire [LINKS-1:0]     f_valid, f_cancel, has_room, takes, ev_no_space;
    wire [8*WIDTH-1:0]   f_data;
    wire [WIDTH-1:0]     f_keep;
    wire                 f_last;
    wire [15:0]          f_size;
    wire [16*LINKS-1:0]  freed_bytes;
    wire [8*LINKS-1:0]   freed_packets;
    wire [LINKS-1:0]     trapped, resume, retrap, allowed;
    wire [TELLERS-1:0]   t_valid, t_ready, t_last;
    wire [NOTIFIERS-1:0] n_valid, n_ready;
    wire [WRITERS-1:0]   w_valid, w_take;
    wire [8*TELLERS-1:0] t_kind, t_data;
    wire [16*TELLERS-1:0] t_length;
    wire [16*LINKS-1:0]  look_frame;
    wire [16*NOTIFIERS-1:0] n_frame;
    wire [PW*NOTIFIERS-1:0] n_first, n_last;
    wire [WW*WRITERS-1:0] w_addr;
    wire [8*WORD*WRITERS-1:0] w_data;
    wire [WORD*WRITERS-1:0] w_mask;
    // Of virtual links: ROUTEs to the network and from there, and what their writes ask.
    wire                 v_valid, v_ready, v_last, v_void, x_valid, x_ready, x_last, x_void, x_denied, virtual_allowed;
    wire [2:0]           x_bad;
    wire [8*WIDTH-1:0]   v_data, x_data;
    wire [WIDTH-1:0]     v_keep, x_keep;
    wire [15:0]          virtual_frame;
    wire [VW-1:0]        virtual_vl;
    // Requests for registers pass the links, of which a network has some, and what they leave comes to ni_regs.
    wire                 reg_write;
    wire [15:0]          reg_addr;
    wire [31:0]          reg_wdata;
    wire [LINKS:0]       o_en, o_done, o_ok;
    wire [32*LINKS+31:0] o_value;
    genvar l;
    generate
        for (l = 0; l < LINKS; l = l + 1) begin : g_link
            localparam P = l + 1, AT = HOST_LANES + l * EACH;
            ni_port #(
                .LINK(P), .FRAMES(FRAMES), .PAGE_BYTES(PAGE_BYTES), .ADDR_WIDTH(AW),
                .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .HEADROOM(HEADROOM),
                .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT), .INJECT(INJECT),
                .LANES(LANES), .EARLY(SPACED[P] ? 0 : 1), .SPACED(SPACED[P]), .ROUTES(ROUTES), .ROUTER(ROUTER), .PATIENCE(PATIENCE),
                .VIRTUAL(VIRTUAL), .BARRIER(BARRIER), .WIDTH(WIDTH), .WORD(WORD)
            ) u_port (
                .clk(clk), .rst(rst), .node(node), .gateway(gateway), .nonce(nonce), .anonymous(anonymous), .renew(renew), .soon(soon),
                .s_valid(f_valid[l]), .s_data(f_data), .s_keep(f_keep), .s_last(f_last), .cancel(f_cancel[l]), .has_room(has_room[l]),
                .size(f_size), .takes(takes[l]), .refused(ev_no_space[l]), .admit(admit[P]),
                .freed_bytes(freed_bytes[16*l +: 16]), .freed_packets(freed_packets[8*l +: 8]),
                .v_valid(v_valid), .v_ready(v_ready), .v_data(v_data), .v_keep(v_keep), .v_last(v_last), .v_void(v_void),
                .x_valid(x_valid), .x_ready(x_ready), .x_data(x_data), .x_keep(x_keep), .x_last(x_last), .x_void(x_void),
                .x_denied(x_denied), .x_bad(x_bad),
                .t_valid(t_valid[l]), .t_ready(t_ready[l]), .t_kind(t_kind[8*l +: 8]), .t_length(t_length[16*l +: 16]),
                .t_data(t_data[8*l +: 8]), .t_last(t_last[l]), .trapped(trapped[l]), .resume(resume[l]), .retrap(retrap[l]),
                .look_frame(look_frame[16*l +: 16]), .allowed(allowed[l]),
                .w_valid(w_valid[l]), .w_take(w_take[l]), .w_addr(w_addr[WW*l +: WW]),
                .w_data(w_data[8*WORD*l +: 8*WORD]), .w_mask(w_mask[WORD*l +: WORD]),
                .n_valid(n_valid[l]), .n_ready(n_ready[l]), .n_frame(n_frame[16*l +: 16]),
                .n_first(n_first[PW*l +: PW]), .n_last(n_last[PW*l +: PW]),
                .tick(tick[AT +: EACH]), .tx_sym(tx_sym[9*AT +: 9*EACH]), .tx_ready(tx_ready[AT +: EACH]),
                .rx_sym(rx_sym[9*AT +: 9*EACH]), .rx_valid(rx_valid[AT +: EACH]),
                .status(status[16*P +: 16]), .lanes(lanes[8*P +: 8]), .peer(peer[18*P +: 18]), .events(events[16*P +: 16]),
                .reg_en(o_en[l]), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata),
                .reg_done(o_done[l]), .reg_ok(o_ok[l]), .reg_value(o_value[32*l +: 32]),
                .o_en(o_en[P]), .o_done(o_done[P]), .o_ok(o_ok[P]), .o_value(o_value[32*P +: 32]),
                .i_wr_en(i_wr_en[P]), .i_wr_reg(i_wr_reg), .i_wr_data(i_wr_data), .i_running(i_running[P]), .i_cut(i_cut[P]),
                .i_symbols(i_symbols[32*P +: 32]), .i_hits(i_hits[32*P +: 32]), .i_hit(i_hit[P])
            );
            assign status_regs[32*P +: 32] = {freed_packets[8*l +: 8], lanes[8*P +: 8], status[16*P +: 16]};
        end
    endgenerate
    // The host's port.
    wire        to_host_valid, to_host_ready, to_host_last, from_host_valid, from_host_ready, from_host_last, ev_bad_host;
    wire [8*WIDTH-1:0] to_host_data, from_host_data;
    wire [WIDTH-1:0]   to_host_keep, from_host_keep;
    wire [7:0]  unused_freed_packets;
    wire [15:0] unused_freed_bytes;
    wire [15:0] host_events;
    wire        unused_room, unused_takes, from_host_sure, from_host_void, coming;
    assign      soon = from_host_valid || coming;   // a packet comes from the host, maybe for a link
    ni_endpoint #(
        .PORT(0), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .HEADROOM(HEADROOM),
        .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT), .INJECT(INJECT),
        .LANES(HOST_LANES), .EARLY(SPACED[0] ? 0 : ROUTER != 0 ? 2 : 1), .SPACED(SPACED[0]), .ROUTES(TAKES_ROUTES), .WIDTH(WIDTH)
    ) u_host (
        .clk(clk), .rst(rst), .node(node), .nonce(32'd0), .anonymous(1'b0), .renew(1'b0), .soon(1'b0),
        .s_valid(to_host_valid), .s_ready(to_host_ready), .s_data(to_host_data), .s_keep(to_host_keep), .s_last(to_host_last),
        .cancel(1'b0),
        .has_room(unused_room), .size(16'd0), .takes(unused_takes), .refused(1'b0),
        .admit(admit[0]), .freed_bytes(unused_freed_bytes), .freed_packets(unused_freed_packets),
        .m_valid(from_host_valid), .m_ready(from_host_ready), .m_data(from_host_data), .m_keep(from_host_keep),
        .m_last(from_host_last), .m_sure(from_host_sure), .m_void(from_host_void), .coming(coming),
        .trapped(1'b0), .ev_denied(1'b0), .ev_bad(ev_bad_host),
        .tick(tick[0 +: HOST_LANES]), .tx_sym(tx_sym[0 +: 9*HOST_LANES]), .tx_ready(tx_ready[0 +: HOST_LANES]),
        .rx_sym(rx_sym[0 +: 9*HOST_LANES]), .rx_valid(rx_valid[0 +: HOST_LANES]),
        .status(status[15:0]), .lanes(lanes[7:0]), .peer(peer[17:0]), .events(host_events),
        .i_wr_en(i_wr_en[0]), .i_wr_reg(i_wr_reg), .i_wr_data(i_wr_data), .i_running(i_running[0]), .i_cut(i_cut[0]),
        .i_symbols(i_symbols[31:0]), .i_hits(i_hits[31:0]), .i_hit(i_hit[0])
    );

    assign events[15:0]      = host_events;
    assign status_regs[31:0] = {8'd0, lanes[7:0], status[15:0]};

    // Receive buffer: the host and the links share the write port, the host has the read port. Of links that bring a byte a clock WORD fill
    // one bank.
    wire          host_w_valid, host_w_take, mem_en, mem_clash, mem_next, mem_last;
    wire [WW-1:0] host_w_addr;
    wire [8*WORD-1:0] host_w_data, mem_data;
    wire [WORD-1:0]   host_w_mask;
    wire          port_en, port_clash;                          // of the buffer, which contexts of messages read too
    wire [WW-1:0] port_addr;
    wire [8*WORD-1:0] port_data;
    function integer fast(input [LINES:0] spaced);          // links that bring a byte a clock
        integer k;
        begin
            fast = 0;
            for (k = 1; k <= LINKS; k = k + 1) if (!spaced[k]) fast = fast + 1;
        end
    endfunction
    ni_buffer #(.WRITERS(WRITERS + 1), .WORDS(BUFFER_BYTES / WORD), .BANKS(fast(SPACED) >= WORD ? 2 : 1), .WORD(WORD),
        .PROMPT(WIDTH != 1 && 2 * LANES > WIDTH ? 1 : 0)     // lanes bring more than a word in two clocks
    ) u_buffer (
        .clk(clk), .rst(rst), .w_valid({w_valid, host_w_valid}), .w_take({w_take, host_w_take}),
        .w_addr({w_addr, host_w_addr}), .w_data({w_data, host_w_data}), .w_mask({w_mask, host_w_mask}),
        .rd_en(port_en), .rd_addr(port_addr), .rd_data(port_data), .rd_clash(port_clash)
    );

    // What arrives from the host.
    wire        h_valid, h_ready, h_void, ev_bad_in;
    wire        all_en, all_done, all_ok;               // requests for registers, before virtual links have theirs
    wire [31:0] all_value;
    wire        req_valid, req_done, req_turn, req_load;
    wire [7:0]  req_tag, req_status;
    wire [4:0]  req_type;
    wire [2:0]  req_via;
    wire [47:0] req_fields;
    wire [LW-1:0] req_lane;
    wire        reg_en, reg_done, reg_ok;
    wire [31:0] reg_value;
    ni_host_in #(.LINKS(LINKS), .PAGE_BYTES(PAGE_BYTES), .BUFFER_BYTES(BUFFER_BYTES), .ADDR_WIDTH(AW), .WIDTH(WIDTH),
        .WORD(WORD)
    ) u_host_in (
        .clk(clk), .rst(rst),
        .s_valid(h_valid), .s_ready(h_ready), .s_data(from_host_data), .s_keep(from_host_keep),
        .s_last(from_host_last), .s_sure(from_host_sure), .s_void(h_void),
        .f_valid(f_valid), .f_data(f_data), .f_keep(f_keep), .f_last(f_last), .f_cancel(f_cancel), .has_room(has_room), .size(f_size),
        .takes(takes),
        .req_valid(req_valid), .req_done(req_done), .req_type(req_type), .req_via(req_via), .req_tag(req_tag),
        .req_status(req_status), .req_fields(req_fields),
        .turn(req_turn), .load(req_load), .value(all_value), .next(mem_next), .at_last(mem_last), .last_lane(req_lane),
        .w_valid(host_w_valid), .w_take(host_w_take), .w_addr(host_w_addr), .w_data(host_w_data), .w_mask(host_w_mask),
        .ev_no_space(ev_no_space), .ev_bad(ev_bad_in)
    );

    // What goes to the host: answers, SPACE, NOTIFY and the links' traps.
    wire        notify, reply_valid, reply_ready, reply_last, space_valid, space_ready, space_last, notify_valid, notify_ready, notify_last;
    wire [7:0]  reply_kind, reply_data, space_kind, space_data, notify_kind, notify_data;
    wire [15:0] reply_length, space_length, notify_length;
    ni_reply #(.LINKS(LINKS), .PAGE_BYTES(PAGE_BYTES), .WORD(WORD)) u_reply (
        .clk(clk), .rst(rst),
        .req_valid(req_valid), .req_done(req_done), .req_type(req_type), .req_via(req_via), .req_tag(req_tag), .req_status(req_status),
        .req_fields(req_fields), .req_turn(req_turn), .req_load(req_load), .trapped(trapped), .resume(resume), .retrap(retrap),
        .reg_en(all_en), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata),
        .reg_done(all_done), .reg_ok(all_ok),
        .mem_en(mem_en), .mem_next(mem_next), .mem_last(mem_last), .last_lane(req_lane), .mem_data(mem_data), .mem_clash(mem_clash),
        .m_valid(reply_valid), .m_ready(reply_ready), .m_kind(reply_kind), .m_length(reply_length), .m_data(reply_data), .m_last(reply_last)
    );
    ni_space #(.LINKS(LINKS)) u_space (
        .clk(clk), .rst(rst), .freed_bytes(freed_bytes), .freed_packets(freed_packets), .again(host_events[`LP_CNT_RESTARTS]),
        .m_valid(space_valid), .m_ready(space_ready), .m_kind(space_kind), .m_length(space_length), .m_data(space_data), .m_last(space_last)
    );
    ni_notify #(.LINKS(NOTIFIERS), .FRAMES(FRAMES), .PAGE_BYTES(PAGE_BYTES)) u_notify (
        .clk(clk), .rst(rst), .enable(notify),
        .n_valid(n_valid), .n_ready(n_ready), .n_frame(n_frame), .n_first(n_first), .n_last(n_last),
        .m_valid(notify_valid), .m_ready(notify_ready), .m_kind(notify_kind), .m_length(notify_length),
        .m_data(notify_data), .m_last(notify_last)
    );
    wire        bytes_valid, bytes_ready, bytes_last;
    wire [7:0]  bytes_data;
    ni_compose #(.N(TELLERS + 3), .SPACED(SPACED[0])) u_to_host (
        .clk(clk), .rst(rst),
        .s_valid({t_valid, notify_valid, space_valid, reply_valid}), .s_ready({t_ready, notify_ready, space_ready, reply_ready}),
        .s_kind({t_kind, notify_kind, space_kind, reply_kind}), .s_length({t_length, notify_length, space_length, reply_length}),
        .s_data({t_data, notify_data, space_data, reply_data}), .s_last({t_last, notify_last, space_last, reply_last}),
        .m_valid(bytes_valid), .m_ready(bytes_ready), .m_data(bytes_data), .m_last(bytes_last)
    );
    beat_pack #(.WIDTH(WIDTH)) u_pack (
        .clk(clk), .clear(rst), .s_valid(bytes_valid), .s_ready(bytes_ready), .s_data(bytes_data), .s_last(bytes_last),
        .m_valid(to_host_valid), .m_ready(to_host_ready), .m_data(to_host_data), .m_keep(to_host_keep), .m_last(to_host_last)
    );

    // Registers and frame table.
    wire        ft_wr_en, ft_wr_valid, ft_valid;
    wire [15:0] ft_frame;
    wire [2:0]  ft_wr_link, ft_link;
    wire [15:0] ft_wr_vl;
    wire [VW-1:0] ft_vl;
    wire        unused_vl = ^ft_wr_vl;
    generate
        if (TRACE != 0 || INJECT != 0) begin : g_debug
            ni_debug #(.LINKS(LINKS), .TRACE(TRACE), .INJECT(INJECT)) u_debug (
                .clk(clk), .rst(rst),
                .reg_en(reg_en), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata),
                .reg_done(reg_done), .reg_ok(reg_ok), .reg_value(reg_value),
                .m_en(o_en[0]), .m_done(o_done[0]), .m_ok(o_ok[0]), .m_value(o_value[31:0]),
                .counted(events), .status(status), .injected(i_hit),
                .i_wr_en(i_wr_en), .i_wr_reg(i_wr_reg), .i_wr_data(i_wr_data),
                .running(i_running), .cut(i_cut), .symbols(i_symbols), .hits(i_hits)
            );
        end else begin : g_no_debug
            assign {i_wr_en, i_wr_reg, i_wr_data} = 0;
            assign {o_en[0], reg_done, reg_ok, reg_value} = {reg_en, o_done[0], o_ok[0], o_value[31:0]};
            wire unused_debug = |{i_hit, i_running, i_cut, i_symbols, i_hits};
        end
    endgenerate
    ni_regs #(
        .LINKS(LINKS), .FRAMES(FRAMES), .PAGE_BYTES(PAGE_BYTES), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES),
        .TRACE(TRACE), .INJECT(INJECT), .ROUTES(TAKES_ROUTES), .ROUTER(ROUTER), .VIRTUAL(VIRTUAL), .SPACED(SPACED[LINKS:0]),
        .BARRIER(BARRIER), .CONTEXTS(CONTEXTS), .WIDTH(WIDTH), .LANES(LANES > HOST_LANES ? LANES : HOST_LANES), .SOURCE_HASH(SOURCE_HASH)
    ) u_regs (
        .clk(clk), .rst(rst),
        .reg_en(o_en[LINKS]), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata),
        .reg_done(o_done[LINKS]), .reg_ok(o_ok[LINKS]), .reg_value(o_value[32*LINKS +: 32]),
        .status(status_regs), .peer(peer), .events(events),
        .node(node), .nonce(nonce), .anonymous(anonymous), .renew(renew),
        .admit(admit), .notify(notify), .gateway(gateway),
        .ft_wr_en(ft_wr_en), .ft_frame(ft_frame), .ft_wr_valid(ft_wr_valid), .ft_wr_link(ft_wr_link), .ft_wr_vl(ft_wr_vl),
        .ft_valid(ft_valid), .ft_link(ft_link), .ft_vl({{16-VW{1'b0}}, ft_vl})
    );
    ni_frame_table #(.LINKS(LINKS), .FRAMES(FRAMES), .VIRTUAL(VIRTUAL)) u_frames (
        .clk(clk), .rst(rst), .wr_en(ft_wr_en), .wr_frame(ft_frame), .wr_valid(ft_wr_valid), .wr_link(ft_wr_link), .wr_vl(ft_wr_vl[VW-1:0]),
        .rd_frame(ft_frame), .rd_valid(ft_valid), .rd_link(ft_link), .rd_vl(ft_vl), .look_frame(look_frame), .allowed(allowed),
        .virtual_frame(virtual_frame), .virtual_vl(virtual_vl), .virtual_allowed(virtual_allowed)
    );

    generate
        if (VIRTUAL != 0) begin : g_virtual
            wire x_bad_host;
            pulse_tally #(.N(2), .BITS(2)) u_bad_host (.clk(clk), .rst(rst), .events({ev_bad_in, x_bad_host}), .event_out(ev_bad_host));
            ni_virtual #(
                .VIRTUAL(VIRTUAL), .SLOTS(VL_SLOTS), .WINDOW(VL_WINDOW), .RETRY(VL_RETRY), .FRAMES(FRAMES), .PAGE_BYTES(PAGE_BYTES),
                .ADDR_WIDTH(AW), .HOLD_BYTES(RX_BYTES), .WIDTH(WIDTH), .WORD(WORD), .CONTEXTS(CONTEXTS)
            ) u_virtual (
                .clk(clk), .rst(rst), .node(node),
                .s_valid(from_host_valid), .s_ready(from_host_ready), .s_data(from_host_data), .s_keep(from_host_keep),
                .s_last(from_host_last), .s_void(from_host_void), .h_valid(h_valid), .h_ready(h_ready), .h_void(h_void),
                .t_valid(v_valid), .t_ready(v_ready), .t_data(v_data), .t_keep(v_keep), .t_last(v_last), .t_void(v_void),
                .r_valid(x_valid), .r_ready(x_ready), .r_data(x_data), .r_keep(x_keep), .r_last(x_last), .r_void(x_void),
                .m_valid(t_valid[TELLERS-1:LINKS]), .m_ready(t_ready[TELLERS-1:LINKS]), .m_kind(t_kind[8*TELLERS-1:8*LINKS]),
                .m_length(t_length[16*TELLERS-1:16*LINKS]), .m_data(t_data[8*TELLERS-1:8*LINKS]), .m_last(t_last[TELLERS-1:LINKS]),
                .look_frame(virtual_frame), .look_vl(virtual_vl), .allowed(virtual_allowed),
                .w_valid(w_valid[WRITERS-1:LINKS]), .w_take(w_take[WRITERS-1:LINKS]), .w_addr(w_addr[WW*WRITERS-1:WW*LINKS]),
                .w_data(w_data[8*WORD*WRITERS-1:8*WORD*LINKS]), .w_mask(w_mask[WORD*WRITERS-1:WORD*LINKS]),
                .g_h_en(mem_en), .g_h_addr(host_w_addr), .g_h_data(mem_data), .g_h_clash(mem_clash),
                .g_mem_en(port_en), .g_mem_addr(port_addr), .g_mem_data(port_data), .g_mem_clash(port_clash),
                .n_valid(n_valid[LINKS]), .n_ready(n_ready[LINKS]), .n_frame(n_frame[16*LINKS +: 16]),
                .n_first(n_first[PW*LINKS +: PW]), .n_last(n_last[PW*LINKS +: PW]),
                .reg_en(all_en), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata),
                .reg_done(all_done), .reg_ok(all_ok), .reg_value(all_value),
                .o_en(reg_en), .o_done(reg_done), .o_ok(reg_ok), .o_value(reg_value),
                .ev_denied(x_denied), .ev_bad(x_bad), .ev_bad_host(x_bad_host)
            );
        end else begin : g_no_virtual
            assign ev_bad_host = ev_bad_in;
            assign {h_valid, from_host_ready, h_void} = {from_host_valid, h_ready, from_host_void};
            assign {port_en, port_addr, mem_data, mem_clash} = {mem_en, host_w_addr, port_data, port_clash};
            assign {reg_en, all_done, all_ok, all_value} = {all_en, reg_done, reg_ok, reg_value};
            assign {v_valid, v_data, v_keep, v_last, v_void, x_ready, x_denied, x_bad} = {9*WIDTH + 8{1'b0}};
            assign {virtual_frame, virtual_vl} = {16 + VW{1'b0}};
            wire unused_virtual = ^{v_ready, x_valid, x_data, x_keep, x_last, x_void, virtual_allowed};
        end
    endgenerate
endmodule
`resetall
