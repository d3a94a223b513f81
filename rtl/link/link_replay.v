`default_nettype none
// Replay buffer: keeps every packet from its first byte until the peer has acknowledged it.
//
// Contract:
//   s_*: packets of three bytes or more, in beats of WIDTH bytes, of which s_keep says how many the last one has; none ends within two
//   clocks of the one before, but with WIDTH above 1 behind one of five beats or more. Whoever begins a packet finishes it. At most WINDOW
//   packets and REPLAY_BYTES bytes are held. `cancel` (pulse, s_valid low, `loading` high): the packet that is being loaded is taken back.
//   Bytes are numbered from 1 on, modulo twice the buffer: `base` is the last one freed, `load` the next to be written, load_last the last
//   of those at s_*; freed_bytes and freed_packets count for ever. rd_data is byte rd_addr, with READ - 1 behind it, one clock after rd_en,
//   from the clock in which `load` has passed it. READ: 1 or WIDTH.
//   Packets base_seq .. load_seq-1 are whole; `loading` says that packet load_seq has begun. `loaded` pulses with its last byte.
//   `ack` (pulse, at least 6 clocks apart) with `ack_n`, the peer's next expected sequence number, which stays for a clock: packets before
//   it are freed, one in two clocks, if it lies between the last good one and sent_seq; otherwise nothing changes and ev_bad_ack pulses.
//   `acked` pulses when a good one has been carried out, `progress` for each packet freed. At most WINDOW-1 packets are in base_seq ..
//   sent_seq.
//   look/look_seq: `look_done` pulses one clock later with the place of the last byte of packet look_seq, one of those that are whole.
//   `restart` (pulse): all packets not acknowledged are dropped, one in the middle of its loading too. `dropping` from the next clock on
//   until none is held, for one clock at least: no other is taken, and who reads is to be in reset. Then numbers begin at 0. ev_acked and
//   ev_lost pulse once for each packet freed and for each dropped.
//   `rst`, two clocks or more, ends with such a restart that drops nothing: `dropping` until the clock behind it.
//   has_room: a packet of MAX_PACKET bytes fits, and would be taken without s_ready falling; up to three clocks stale after s_last, but
//   with WIDTH above 1 never, since it leaves some beats and packets out.
//   takes: the same for a packet of size+1 bytes, a clock behind `size`.
//   `gap` rises when a restart drops packets, or with `refused` (pulse: whoever asks has_room has dropped one himself), and stays until
//   `admit` (pulse). From the clock of such a restart on has_room is low, so that nothing is let in behind what was dropped.
//   `queued`, a clock late: packets are held.
//
// Proven: link_replay.formal.v. Source: doc/protocol.md, "Sender".
module link_replay #(
    parameter REPLAY_BYTES = 4096,
    parameter MAX_PACKET   = 2056,
    parameter WIDTH        = 1,
    parameter READ         = 1
) (
    input  wire        clk,
    input  wire        rst,

    input  wire        s_valid,
    output wire        s_ready,
    input  wire [8*WIDTH-1:0] s_data,
    input  wire [WIDTH-1:0]   s_keep,
    input  wire        s_last,
    input  wire        cancel,
    output wire        has_room,
    input  wire [15:0] size,
    output wire        takes,
    output wire [15:0] freed_bytes,
    output reg  [7:0]  freed_packets,
    output reg         queued,
    input  wire        refused,
    input  wire        admit,
    output reg         gap,

    output wire [$clog2(REPLAY_BYTES):0]   base,
    output wire [7:0]  base_seq,
    output wire [$clog2(REPLAY_BYTES):0]   load,
    output wire [$clog2(REPLAY_BYTES):0]   load_last,
    output reg  [7:0]  load_seq,
    output reg         loading,
    output wire        loaded,
    input  wire                            rd_en,
    input  wire [$clog2(REPLAY_BYTES)-1:0] rd_addr,
    output wire [8*READ-1:0] rd_data,

    input  wire        look,
    input  wire [7:0]  look_seq,
    output reg         look_done,
    output wire [$clog2(REPLAY_BYTES):0]   look_last,

    input  wire        restart,
    output reg         dropping,
    input  wire        ack,
    input  wire [7:0]  ack_n,
    input  wire [7:0]  sent_seq,
    output reg         acked,
    output reg         progress,

    output reg         ev_bad_ack,
    output wire        ev_acked,
    output wire        ev_lost
);
`include "linkproto.vh"

    localparam AW = $clog2(REPLAY_BYTES);
    localparam integer LATE = WIDTH == 1 ? 0 : 5;       // clocks that has_room allows for, in beats and packets
    localparam [7:0]   FEW  = `LP_WINDOW_MAX - LATE[7:0];
    localparam integer ROOM = REPLAY_BYTES > MAX_PACKET + LATE * WIDTH ? REPLAY_BYTES - MAX_PACKET - LATE * WIDTH : 0;
    generate
        if (REPLAY_BYTES != (1 << AW) || REPLAY_BYTES > 32768)
            error_replay_bytes_must_be_a_power_of_two_up_to_32768 u_check_size ();
        if (REPLAY_BYTES < MAX_PACKET) error_replay_bytes_must_hold_one_packet u_check_packet ();
    endgenerate

    // Bytes are numbered from 1 on: `next` is the number of the next to be loaded, that of the last one freed is how many have been freed.
    // What is subtracted is kept inverted: a carry chain subtracts it without a row of inverters.
    reg  [15:0] next, first, not_freed;      // first: of the packet that is being loaded
    reg  [7:0]  not_base;
    assign freed_bytes = ~not_freed;
    assign base     = ~not_freed[AW:0];
    assign base_seq = ~not_base;
    assign load     = next[AW:0];

    // Loading. Spans are measured a clock late; what was loaded meanwhile is allowed for.
    reg         window_full, loaded_q, room, tight;
    reg  [AW:0] used;
    reg  [7:0]  packets;
    wire        accept = s_valid && s_ready;
    wire        held   = load_seq != base_seq || loading || accept;
    reg         same;                   // load_seq was base_seq, a clock ago
    wire        empty  = same && !loaded_q && !loading;     // while dropping, when none begins
    wire        drop   = dropping ? !empty : restart;
    wire        begins = dropping && empty;
    wire        full;                   // there is no room for what is at s_*
    wire [15:0] last_byte;              // at s_*
    assign s_ready = !full && (loading || !window_full);
    assign loaded  = accept && s_last;

    wire        crowded;
    at_least #(.WIDTH(AW + 1), .LIMIT(ROOM + 1)) u_crowded (.x(used), .y(crowded));
    wire          open   = !packets[7] && !restart && !gap && !dropping;
    wire [16:0]   sized  = {1'b0, size};
    wire [AW+1:0] filled = {1'b0, used} + sized[AW+1:0];    // less one
    wire          unused = ^{sized, filled};

    always @(posedge clk) begin
        loaded_q    <= loaded;
        same        <= load_seq == base_seq;
        used        <= load + not_freed[AW:0];
        packets     <= load_seq + not_base + 8'd1;
        window_full <= drop || packets[7] || (&packets[6:0] && (loaded || loaded_q));
        room        <= open && !crowded && (LATE == 0 || packets < FEW);
        tight       <= open && filled[AW+1:AW] == 2'd0;

        if (accept) next <= last_byte + 16'd1;
        if (!loading) first <= next;
        load_seq <= load_seq + {7'd0, loaded};
        if (accept) loading <= !s_last;
        if (cancel) {loading, next} <= {1'b0, first};
        if (begins) load_seq <= 8'd0;
        if (rst) begin
            {loading, room, tight, loaded_q} <= 4'd0;
            {same, window_full} <= 2'b11;
            next    <= 16'd1;
            packets <= 8'd0;
        end
    end

    wire [WIDTH-1:0] writes;
    generate
        if (WIDTH == 1) begin : g_byte
            reg no_room, accept_q;
            always @(posedge clk) begin
                accept_q <= accept && !rst;
                no_room  <= !rst && !drop && (used[AW] || (&used[AW-1:1] && (used[0] ? accept || accept_q : accept && accept_q)));
            end
            assign {full, last_byte, writes} = {no_room, next, accept};
            wire unused_keep = s_keep;
        end else begin : g_beat
            localparam [AW:0] ALL = REPLAY_BYTES[AW:0];
            localparam LW = $clog2(WIDTH);
            reg  [LW-1:0] more;             // bytes at s_*, less one
            integer k;
            always @* begin
                more = {LW{1'b0}};
                for (k = 1; k < WIDTH; k = k + 1) if (s_keep[k]) more = k[LW-1:0];
            end
            wire [AW:0] held_bytes = last_byte[AW:0] + not_freed[AW:0] + 1'b1;
            assign full      = !dropping && held_bytes > ALL;
            assign last_byte = next + {{(16 - LW){1'b0}}, more};
            assign writes    = s_keep & {WIDTH{accept}};
        end
    endgenerate
    assign load_last = last_byte[AW:0];
    ram_bytes #(.WIDTH(WIDTH), .DEPTH(REPLAY_BYTES), .READ(READ)) u_bytes (
        .clk(clk),
        .wr_en(writes), .wr_addr(load[AW-1:0]), .wr_data(s_data),
        .rd_en(rd_en), .rd_addr(rd_addr), .rd_data(rd_data)
    );

    // Where each packet ends. A look-up for the packet being sent goes before one for that to be freed next.
    wire [15:0] last;
    assign look_last = last[AW:0];
    ram_sdp #(.WIDTH(16), .DEPTH(256)) u_lasts (
        .clk(clk),
        .wr_en(loaded), .wr_addr(load_seq), .wr_data(last_byte),
        .rd_en(1'b1), .rd_addr(look ? look_seq : base_seq), .rd_data(last)
    );

    // Packets are freed one at a time, in two clocks each: up to `goal`, as far as they are acknowledged, and after a restart the others
    // too.
    reg  [7:0] not_goal;
    reg        check, in_range, accepted, free, losing;
    wire [7:0] goal        = ~not_goal;
    wire [7:0] beyond_goal = ack_n + not_goal + 8'd1;
    wire [7:0] beyond_sent = ack_n + ~sent_seq;             // negative: before or at sent_seq
    wire       unused_spans = ^{beyond_goal[6:0], beyond_sent[6:0]};
    wire       reached     = base_seq == goal;
    always @(posedge clk) begin
        look_done  <= look;
        check      <= ack;
        in_range   <= !beyond_goal[7] && beyond_sent[7];
        ev_bad_ack <= check && !in_range;
        accepted   <= (check && in_range) || (accepted && !reached);
        acked      <= accepted && reached;
        if (check && in_range && !restart) not_goal <= ~ack_n;
        free     <= (losing ? load_seq != base_seq : !reached) && !look && !free;
        progress <= ev_acked;
        dropping <= drop;
        losing   <= drop && (losing || reached);
        if (free) not_freed <= ~last;
        not_base      <= not_base - {7'd0, free};
        freed_packets <= freed_packets + {7'd0, free};
        if (begins) {not_base, not_goal} <= 16'hFFFF;
        if (restart || dropping) {look_done, check, accepted, progress, acked, ev_bad_ack} <= 6'd0;
        if (rst) begin
            {free, dropping, losing} <= 3'b010;
            not_freed     <= 16'hFFFF;
            freed_packets <= 8'd0;
        end
    end
    assign ev_acked = free && !losing;
    assign ev_lost  = free && losing;

    // Whether a restart drops anything.
    assign has_room = room && !restart;
    assign takes    = tight && !restart;
    always @(posedge clk) begin
        queued <= held;
        gap    <= !rst && (refused || (restart && !dropping && (load_seq != goal || loading || accept)) || (gap && !admit));
    end
`ifdef FORMAL
`include "link_replay.formal.v"
`endif
endmodule
`resetall
