`default_nettype none
// LMMC network interface: a host port and LINKS links around a receive buffer of FRAMES link page frames.
//
// Contract:
//   Port 0 is the host, ports 1 .. LINKS are the links; all speak the same link layer. The symbol and PHY signals of port p are bits
//   9p +: 9 and bit p.
//   A remote write from a link lands in the receive buffer only inside a frame that the frame table gives to that link. The host
//   reads and writes the whole buffer and every register, and sends packets to the links.
//   Nothing on one link holds up another, or the host.
//   Memories are not reset: keep rst up for 40 clocks after configuration (reset_sync does).
//
// Parameters: LINKS 1..7; FRAMES 1..256; PAGE_BYTES a power of two, 64..8192; REPLAY_BYTES a power of two, at least a packet;
// RX_BYTES a power of two, a packet, HEADROOM and 16 at least; HEADROOM the symbols that may be in flight on the longest link and back. For test
// builds: TRACE, the records of a trace buffer, a power of two up to 8192, and INJECT, 1 for an error injector at each port; 0 for none.
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
    parameter [63:0] SOURCE_HASH = 64'd0
) (
    input  wire                   clk,
    input  wire                   rst,

    input  wire [LINKS:0]         tick,
    output wire [9*(LINKS+1)-1:0] tx_sym,
    input  wire [LINKS:0]         tx_ready,
    input  wire [9*(LINKS+1)-1:0] rx_sym,
    input  wire [LINKS:0]         rx_valid
);
`include "linkproto.vh"

    localparam MAX_PACKET   = PAGE_BYTES + `LP_PACKET_EXTRA;
    localparam BUFFER_BYTES = FRAMES * PAGE_BYTES;
    localparam AW           = $clog2(BUFFER_BYTES);
    localparam WW           = AW - 2;
    localparam PW           = $clog2(PAGE_BYTES);
    localparam TO_HOST      = LINKS + 3;        // sources of packets to the host: answers, SPACE, NOTIFY, the links' traps
    generate
        if (LINKS < 1 || LINKS > 7)     error_links_must_be_1_to_7 u_check_links ();
        if (FRAMES < 1 || FRAMES > 256) error_frames_must_be_1_to_256 u_check_frames ();
        if (PAGE_BYTES != (1 << $clog2(PAGE_BYTES)) || PAGE_BYTES < `LP_MIN_PAGE_BYTES || PAGE_BYTES > `LP_MAX_PAGE_BYTES)
            error_page_bytes_must_be_a_power_of_two_from_64_to_8192 u_check_page ();
        // Less than that apart, STOP could come and go faster than its counter counts.
        if (RX_BYTES < MAX_PACKET + HEADROOM + 16) error_rx_bytes_must_hold_a_packet_and_headroom_and_16 u_check_rx ();
    endgenerate

    // Links.
    wire [LINKS:0]       s_valid, s_ready, s_last, has_room, admit, m_valid, m_ready, m_last;
    wire [8*LINKS+7:0]   s_data, m_data, freed_packets;
    wire [16*LINKS+15:0] freed_bytes, link_events, events;
    wire [24*LINKS+23:0] status;
    wire [32*LINKS+31:0] status_regs;
    wire [LINKS:0]       i_wr_en, i_running, i_cut, injected;
    wire [3:0]           i_wr_reg;
    wire [31:0]          i_wr_data;
    wire [32*LINKS+31:0] i_symbols, i_hits;
    genvar p;
    generate
        for (p = 0; p <= LINKS; p = p + 1) begin : g_port
            wire [23:0] link_status;
            localparam [23:0] OF_LINKS = 24'd1 << `LP_LINK_STATUS_QUEUED_BIT | 24'd1 << `LP_LINK_STATUS_LOST_BIT;
            wire        holds   = p != 0 && trapped[p == 0 ? 0 : p - 1];
            wire        refused = p != 0 && ev_no_space[p == 0 ? 0 : p - 1];
            assign status[24*p +: 24] = (p == 0 ? link_status & ~OF_LINKS : link_status) | {23'd0, holds} << `LP_LINK_STATUS_TRAPPED_BIT;
            assign status_regs[32*p +: 32] = {p == 0 ? 8'd0 : freed_packets[8*p +: 8], status[24*p +: 24]};
            link_endpoint #(
                .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .HEADROOM(HEADROOM),
                .ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT), .FIRST_EPOCH(16 * p + 1)
            ) u_link (
                .clk(clk), .rst(rst),
                .s_valid(s_valid[p]), .s_ready(s_ready[p]), .s_data(s_data[8*p +: 8]), .s_last(s_last[p]),
                .has_room(has_room[p]), .refused(refused), .admit(admit[p]),
                .freed_bytes(freed_bytes[16*p +: 16]), .freed_packets(freed_packets[8*p +: 8]),
                .m_valid(m_valid[p]), .m_ready(m_ready[p]), .m_data(m_data[8*p +: 8]), .m_last(m_last[p]),
                .tick(tick[p]), .tx_sym(link_sym), .tx_ready(link_ready),
                .rx_sym(rx_sym[9*p +: 9]), .rx_valid(rx_valid[p]),
                .status(link_status), .events(link_events[16*p +: 16])
            );
            wire [8:0] link_sym;
            wire       link_ready;
            if (INJECT != 0) begin : g_inject
                link_inject u_inject (
                    .clk(clk), .rst(rst), .tick(tick[p]),
                    .s_sym(link_sym), .s_ready(link_ready), .m_sym(tx_sym[9*p +: 9]), .m_ready(tx_ready[p]),
                    .wr_en(i_wr_en[p]), .wr_reg(i_wr_reg), .wr_data(i_wr_data), .running(i_running[p]), .cut(i_cut[p]),
                    .symbols(i_symbols[32*p +: 32]), .hits(i_hits[32*p +: 32]), .ev_hit(injected[p])
                );
            end else begin : g_no_inject
                assign tx_sym[9*p +: 9] = link_sym;
                assign link_ready = tx_ready[p];
                assign {i_running[p], i_cut[p], injected[p], i_symbols[32*p +: 32], i_hits[32*p +: 32]} = 67'd0;
                wire unused_inject = |{i_wr_en[p], i_wr_reg, i_wr_data};
            end
        end
    endgenerate

    // Receive buffer: writers 0 (host) and 1 .. LINKS share the write port, the host has the read port.
    wire [LINKS:0]         w_valid, w_take;
    wire [WW*(LINKS+1)-1:0] w_addr;
    wire [32*LINKS+31:0]   w_data;
    wire [4*LINKS+3:0]     w_mask;
    wire                   mem_en, mem_clash, mem_next, mem_last;
    wire [31:0]            mem_data;
    ni_buffer #(.WRITERS(LINKS + 1), .WORDS(BUFFER_BYTES / 4)) u_buffer (
        .clk(clk), .rst(rst), .w_valid(w_valid), .w_take(w_take), .w_addr(w_addr), .w_data(w_data), .w_mask(w_mask),
        .rd_en(mem_en), .rd_addr(w_addr[WW-1:0]), .rd_data(mem_data), .rd_clash(mem_clash)
    );

    // What arrives on the links.
    wire [16*LINKS-1:0] look_frame;
    wire [LINKS-1:0]    allowed, trapped, resume, retrap, n_valid, n_ready, ev_denied, ev_bad_link, ev_bad_trap;
    wire [16*LINKS-1:0] n_frame;
    wire [PW*LINKS-1:0] n_first, n_last;
    generate
        for (p = 1; p <= LINKS; p = p + 1) begin : g_in
            wire       i_valid, i_ready, i_last, quiet;
            wire [7:0] i_data;
            ni_trap #(.LINK(p), .FRAMES(FRAMES), .MAX_PACKET(MAX_PACKET)) u_trap (
                .clk(clk), .rst(rst),
                .s_valid(m_valid[p]), .s_ready(m_ready[p]), .s_data(m_data[8*p +: 8]), .s_last(m_last[p]),
                .m_valid(i_valid), .m_ready(i_ready), .m_data(i_data), .m_last(i_last),
                .t_valid(h_valid[p+2]), .t_ready(h_ready[p+2]), .t_data(h_data[8*(p+2) +: 8]), .t_last(h_last[p+2]),
                .quiet(quiet), .hold(trapped[p-1]), .resume(resume[p-1]), .retrap(retrap[p-1]), .ev_bad(ev_bad_trap[p-1])
            );
            ni_link_in #(.PAGE_BYTES(PAGE_BYTES), .ADDR_WIDTH(AW)) u_in (
                .clk(clk), .rst(rst),
                .s_valid(i_valid), .s_ready(i_ready), .s_data(i_data), .s_last(i_last),
                .hold(trapped[p-1]), .quiet(quiet), .n_valid(n_valid[p-1]), .n_ready(n_ready[p-1]),
                .n_frame(n_frame[16*(p-1) +: 16]), .n_first(n_first[PW*(p-1) +: PW]), .n_last(n_last[PW*(p-1) +: PW]),
                .look_frame(look_frame[16*(p-1) +: 16]), .allowed(allowed[p-1]),
                .w_valid(w_valid[p]), .w_take(w_take[p]), .w_addr(w_addr[WW*p +: WW]), .w_data(w_data[32*p +: 32]),
                .w_mask(w_mask[4*p +: 4]), .ev_denied(ev_denied[p-1]), .ev_bad(ev_bad_link[p-1])
            );
            assign s_valid[p] = f_valid[p-1];
            assign s_data[8*p +: 8] = f_data;
            assign s_last[p] = f_last;
        end
    endgenerate

    // What arrives from the host.
    wire [LINKS-1:0] f_valid, ev_no_space;
    wire [7:0]       f_data, req_tag, req_status;
    wire             f_last, req_valid, req_done, ev_bad_host;
    wire [4:0]       req_type;
    wire [2:0]       req_via;
    wire [47:0]      req_fields;
    wire             req_turn;
    wire [1:0]       req_lane;
    ni_host_in #(.LINKS(LINKS), .PAGE_BYTES(PAGE_BYTES), .BUFFER_BYTES(BUFFER_BYTES), .ADDR_WIDTH(AW)) u_host_in (
        .clk(clk), .rst(rst),
        .s_valid(m_valid[0]), .s_ready(m_ready[0]), .s_data(m_data[7:0]), .s_last(m_last[0]),
        .f_valid(f_valid), .f_data(f_data), .f_last(f_last), .has_room(has_room[LINKS:1]),
        .req_valid(req_valid), .req_done(req_done), .req_type(req_type), .req_via(req_via), .req_tag(req_tag),
        .req_status(req_status), .req_fields(req_fields),
        .turn(req_turn), .load(reg_done), .value(reg_value), .next(mem_next), .at_last(mem_last), .last_lane(req_lane),
        .w_valid(w_valid[0]), .w_take(w_take[0]), .w_addr(w_addr[WW-1:0]), .w_data(w_data[31:0]), .w_mask(w_mask[3:0]),
        .ev_no_space(ev_no_space), .ev_bad(ev_bad_host)
    );

    // What goes to the host.
    wire        reg_en, reg_write, reg_done, reg_ok;
    wire [15:0] reg_addr;
    wire [31:0] reg_wdata, reg_value;
    wire        notify;
    wire [TO_HOST-1:0]   h_valid, h_ready, h_last;
    wire [8*TO_HOST-1:0] h_data;
    ni_reply #(.LINKS(LINKS), .PAGE_BYTES(PAGE_BYTES)) u_reply (
        .clk(clk), .rst(rst),
        .req_valid(req_valid), .req_done(req_done), .req_type(req_type), .req_via(req_via), .req_tag(req_tag), .req_status(req_status),
        .req_fields(req_fields), .req_turn(req_turn), .trapped(trapped), .resume(resume), .retrap(retrap),
        .reg_en(reg_en), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata),
        .reg_done(reg_done), .reg_ok(reg_ok),
        .mem_en(mem_en), .mem_next(mem_next), .mem_last(mem_last), .last_lane(req_lane), .mem_data(mem_data), .mem_clash(mem_clash),
        .m_valid(h_valid[0]), .m_ready(h_ready[0]), .m_data(h_data[7:0]), .m_last(h_last[0])
    );
    ni_space #(.LINKS(LINKS)) u_space (
        .clk(clk), .rst(rst), .freed_bytes(freed_bytes[16*LINKS+15:16]), .freed_packets(freed_packets[8*LINKS+7:8]),
        .again(link_events[16*0 + `LP_CNT_RESTARTS]), .m_valid(h_valid[1]), .m_ready(h_ready[1]), .m_data(h_data[15:8]), .m_last(h_last[1])
    );
    ni_notify #(.LINKS(LINKS), .FRAMES(FRAMES), .PAGE_BYTES(PAGE_BYTES)) u_notify (
        .clk(clk), .rst(rst), .enable(notify),
        .n_valid(n_valid), .n_ready(n_ready), .n_frame(n_frame), .n_first(n_first), .n_last(n_last),
        .m_valid(h_valid[2]), .m_ready(h_ready[2]), .m_data(h_data[23:16]), .m_last(h_last[2])
    );
    packet_mux #(.N(TO_HOST)) u_to_host (
        .clk(clk), .rst(rst), .s_valid(h_valid), .s_ready(h_ready), .s_data(h_data), .s_last(h_last),
        .m_valid(s_valid[0]), .m_ready(s_ready[0]), .m_data(s_data[7:0]), .m_last(s_last[0])
    );
    wire unused_host = |{has_room[0], freed_bytes[15:0], freed_packets[7:0], s_ready[LINKS:1]};

    // Registers and frame table.
    wire        ft_wr_en, ft_wr_valid, ft_valid;
    wire [15:0] ft_frame;
    wire [2:0]  ft_wr_link, ft_link;
    // A packet that the link drops and one that is dropped behind it may do so in the same clock: the second is counted one clock later.
    wire [LINKS:0] ev_bad_behind = {ev_bad_link | ev_bad_trap, ev_bad_host};
    wire [LINKS:0] ev_bad_before;
    reg  [LINKS:0] bad_waits;
    always @(posedge clk)
        bad_waits <= rst ? {(LINKS + 1){1'b0}} : (ev_bad_before & ev_bad_behind) | (bad_waits & (ev_bad_before | ev_bad_behind));
    generate
        for (p = 0; p <= LINKS; p = p + 1) begin : g_events
            wire denied   = p != 0 && ev_denied[p == 0 ? 0 : p - 1];
            wire no_space = p != 0 && ev_no_space[p == 0 ? 0 : p - 1];
            assign ev_bad_before[p] = link_events[16*p + `LP_CNT_BAD_PACKET];
            assign events[16*p +: 16] = link_events[16*p +: 16] | {15'd0, ev_bad_behind[p] || bad_waits[p]} << `LP_CNT_BAD_PACKET
                | {15'd0, denied} << `LP_CNT_DENIED | {15'd0, no_space} << `LP_CNT_NO_SPACE;
        end
    endgenerate
    wire        main_en, main_done, main_ok;
    wire [31:0] main_value;
    generate
        if (TRACE != 0 || INJECT != 0) begin : g_debug
            ni_debug #(.LINKS(LINKS), .TRACE(TRACE), .INJECT(INJECT)) u_debug (
                .clk(clk), .rst(rst),
                .reg_en(reg_en), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata),
                .reg_done(reg_done), .reg_ok(reg_ok), .reg_value(reg_value),
                .m_en(main_en), .m_done(main_done), .m_ok(main_ok), .m_value(main_value),
                .counted(events), .status(status), .injected(injected),
                .i_wr_en(i_wr_en), .i_wr_reg(i_wr_reg), .i_wr_data(i_wr_data),
                .running(i_running), .cut(i_cut), .symbols(i_symbols), .hits(i_hits)
            );
        end else begin : g_no_debug
            assign {i_wr_en, i_wr_reg, i_wr_data} = 0;
            assign {main_en, reg_done, reg_ok, reg_value} = {reg_en, main_done, main_ok, main_value};
            wire unused_debug = |{injected, i_running, i_cut, i_symbols, i_hits};
        end
    endgenerate
    ni_regs #(
        .LINKS(LINKS), .FRAMES(FRAMES), .PAGE_BYTES(PAGE_BYTES), .REPLAY_BYTES(REPLAY_BYTES), .RX_BYTES(RX_BYTES),
        .TRACE(TRACE), .INJECT(INJECT), .SOURCE_HASH(SOURCE_HASH)
    ) u_regs (
        .clk(clk), .rst(rst),
        .reg_en(main_en), .reg_write(reg_write), .reg_addr(reg_addr), .reg_wdata(reg_wdata),
        .reg_done(main_done), .reg_ok(main_ok), .reg_value(main_value), .status(status_regs), .events(events),
        .admit(admit), .notify(notify),
        .ft_wr_en(ft_wr_en), .ft_frame(ft_frame), .ft_wr_valid(ft_wr_valid), .ft_wr_link(ft_wr_link),
        .ft_valid(ft_valid), .ft_link(ft_link)
    );
    ni_frame_table #(.LINKS(LINKS), .FRAMES(FRAMES)) u_frames (
        .clk(clk), .rst(rst), .wr_en(ft_wr_en), .wr_frame(ft_frame), .wr_valid(ft_wr_valid), .wr_link(ft_wr_link),
        .rd_frame(ft_frame), .rd_valid(ft_valid), .rd_link(ft_link), .look_frame(look_frame), .allowed(allowed)
    );
endmodule
`resetall
