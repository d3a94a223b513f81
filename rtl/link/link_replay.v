`default_nettype none
// Replay buffer: keeps every packet from its first byte until the peer has acknowledged it.
//
// Contract:
//   s_*: packets of three bytes or more, a byte a clock. Whoever begins a packet finishes it. At most WINDOW packets and REPLAY_BYTES bytes are held.
//   Pointers count bytes modulo twice the buffer: `base` is the oldest byte held, `load` the next to be written; freed_bytes and
//   freed_packets count for ever. rd_data is byte rd_addr one clock after rd_en, from the clock in which `load` has passed it.
//   Packets base_seq .. load_seq-1 are whole; `loading` says that packet load_seq has begun. `loaded` pulses with its last byte.
//   `ack` (pulse, at least 6 clocks apart) with `ack_n`, the peer's next expected sequence number: packets before it are freed, if
//   ack_n lies in base_seq .. sent_seq; otherwise nothing changes and ev_bad_ack pulses. `acked` pulses when a good one has
//   been carried out, `progress` with it when it freed anything.
//   look/look_seq: `look_done` pulses one clock later with the place where packet look_seq begins (look_seq <= load_seq).
//   `restart` (pulse): all packets are dropped, one in the middle of its loading too.
//   ev_acked and ev_lost pulse once for each packet freed and for each dropped; one that was being loaded counts when it has gone by.
//   has_room: a packet of MAX_PACKET bytes fits, and would be taken without s_ready falling; up to three clocks stale after s_last.
//   `gap` rises when a restart drops packets, or with `refused` (pulse: whoever asks has_room has dropped one himself), and stays until
//   `admit` (pulse). From the clock of such a restart on has_room is low, so that nothing is let in behind what was dropped.
//   `queued`, a clock late: packets are held.
//
// Proven: link_replay.formal.v. Source: doc/protocol.md, "Sender".
module link_replay #(
    parameter REPLAY_BYTES = 4096,
    parameter MAX_PACKET   = 2056
) (
    input  wire        clk,
    input  wire        rst,

    input  wire        s_valid,
    output wire        s_ready,
    input  wire [7:0]  s_data,
    input  wire        s_last,
    output wire        has_room,
    output wire [15:0] freed_bytes,
    output reg  [7:0]  freed_packets,
    output reg         queued,
    input  wire        refused,
    input  wire        admit,
    output reg         gap,

    output wire [$clog2(REPLAY_BYTES):0]   base,
    output reg  [7:0]  base_seq,
    output wire [$clog2(REPLAY_BYTES):0]   load,
    output reg  [7:0]  load_seq,
    output reg         loading,
    output wire        loaded,
    input  wire                            rd_en,
    input  wire [$clog2(REPLAY_BYTES)-1:0] rd_addr,
    output wire [7:0]  rd_data,

    input  wire        look,
    input  wire [7:0]  look_seq,
    output reg         look_done,
    output wire [$clog2(REPLAY_BYTES):0]   look_start,

    input  wire        restart,
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
    localparam integer ROOM = REPLAY_BYTES - MAX_PACKET;
    generate
        if (REPLAY_BYTES != (1 << AW) || REPLAY_BYTES > 32768)
            error_replay_bytes_must_be_a_power_of_two_up_to_32768 u_check_size ();
        if (REPLAY_BYTES < MAX_PACKET) error_replay_bytes_must_hold_one_packet u_check_packet ();
    endgenerate

    // Loading. Spans are measured a clock late; what `load` and `load_seq` did meanwhile is allowed for.
    localparam [AW:0] TOP = 1 << AW;
    reg         discarding, full, window_full, loaded_q, room;
    reg  [15:0] oldest, next, after;    // base and load, and load + 1, as cumulative counts
    reg  [AW:0] used;
    reg  [7:0]  packets_q;
    wire [7:0]  packets   = load_seq - base_seq;
    wire        accept    = s_valid && s_ready;
    wire        write     = accept && !discarding;
    wire        unfinished = accept ? !s_last : (loading || discarding);
    assign s_ready = discarding || (!full && (loading || !window_full));
    assign loaded  = write && s_last;
    assign freed_bytes = oldest;
    assign base = oldest[AW:0];
    assign load = next[AW:0];

    always @(posedge clk) begin
        loaded_q    <= loaded;
        used        <= load - base;
        packets_q   <= packets;
        full        <= load == (base ^ TOP) || (write && after[AW:0] == (base ^ TOP));
        window_full <= packets_q[7] || (&packets_q[6:0] && (loaded || loaded_q));
        room        <= used <= ROOM[AW:0] && !packets_q[7] && !restart && !gap;

        if (accept) begin
            next  <= after;
            after <= after + 16'd1;
        end
        if (write)            loading    <= !s_last;
        if (loaded)           load_seq   <= load_seq + 8'd1;
        if (accept && s_last) discarding <= 1'b0;
        if (restart) begin
            loading    <= 1'b0;
            discarding <= unfinished;
            load_seq   <= 8'd0;
        end
        if (rst) begin
            {loading, discarding, full, window_full, room, loaded_q} <= 6'd0;
            next     <= 16'd0;
            after    <= 16'd1;
            load_seq <= 8'd0;
            packets_q <= 8'd0;
        end
    end

    ram_sdp #(.WIDTH(8), .DEPTH(REPLAY_BYTES)) u_bytes (
        .clk(clk),
        .wr_en(write), .wr_addr(load[AW-1:0]), .wr_data(s_data),
        .rd_en(rd_en), .rd_addr(rd_addr), .rd_data(rd_data)
    );

    // Where each packet begins. A look-up for the packet being sent goes before one for an acknowledgement.
    reg  [7:0]  ack_seq;
    wire [15:0] start;
    assign look_start = start[AW:0];
    ram_sdp #(.WIDTH(16), .DEPTH(256)) u_starts (
        .clk(clk),
        .wr_en(loaded), .wr_addr(load_seq + 8'd1), .wr_data(after),
        .rd_en(1'b1), .rd_addr(look ? look_seq : ack_seq), .rd_data(start)
    );

    // Acknowledgement: measure both spans, check, look the pointer up, free.
    reg        check, wanted, found;
    reg  [7:0] ack_span, sent_span;
    wire       check_ok = ack_span <= sent_span;
    always @(posedge clk) begin
        look_done  <= look;
        check      <= ack;
        ev_bad_ack <= check && !check_ok;
        if (check && check_ok && ack_span != 8'd0) wanted <= 1'b1;
        else if (found)                            wanted <= 1'b0;
        found      <= wanted && !found && !look;
        progress   <= found;
        acked      <= found || (check && ack_span == 8'd0);
        if (ack) begin
            ack_seq   <= ack_n;
            ack_span  <= ack_n - base_seq;
            sent_span <= sent_seq - base_seq;
        end
        if (found) begin
            oldest   <= start;
            base_seq <= ack_seq;
        end
        if (discarding && accept) oldest <= after;
        if (restart) begin
            oldest   <= accept ? after : next;
            base_seq <= 8'd0;
        end
        if (rst || restart) {look_done, check, wanted, found, progress, acked} <= 6'd0;
        if (rst) begin
            oldest   <= 16'd0;
            base_seq <= 8'd0;
        end
    end

    // Whether a restart drops anything.
    wire   held = load_seq != base_seq || loading || write;
    assign has_room = room && !restart;
    always @(posedge clk) begin
        queued <= held;
        gap    <= !rst && (refused || (restart && held) || (gap && !admit));
    end

    // Packets freed and dropped, counted out one a clock. Those that a restart drops whole are counted in the clock after it, one that it
    // met in the middle when its last byte has come: nothing else is held until then.
    reg        dropping;
    reg  [7:0] dropped;
    reg  [8:0] freed, lost;
    wire [7:0] freed_now = found && !restart ? ack_span : 8'd0;
    wire [7:0] lost_now  = dropping ? dropped : 8'd0;
    assign ev_acked = freed != 9'd0;
    assign ev_lost  = lost != 9'd0;
    always @(posedge clk) begin
        dropping      <= (restart || (discarding && accept && s_last)) && !rst;
        dropped       <= packets + {7'd0, accept && s_last};
        freed         <= freed + {1'b0, freed_now} - {8'd0, ev_acked};
        lost          <= lost + {1'b0, lost_now} - {8'd0, ev_lost};
        freed_packets <= freed_packets + (dropping ? dropped : freed_now);
        if (rst) begin
            freed         <= 9'd0;
            lost          <= 9'd0;
            freed_packets <= 8'd0;
        end
    end
`ifdef FORMAL
`include "link_replay.formal.v"
`endif
endmodule
`resetall
