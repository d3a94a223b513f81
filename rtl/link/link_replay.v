`default_nettype none
// Replay buffer: keeps every packet from its first byte until the peer has acknowledged it.
//
// Contract:
//   s_*: packets, a byte a clock. Whoever begins a packet finishes it. At most WINDOW packets and REPLAY_BYTES bytes are held.
//   Pointers count bytes modulo 2^16: `base` is the oldest byte held (and so the cumulative count of bytes freed), `load` the
//   next to be written; byte p is read at rd_addr = p, one clock later, from the second clock after it was written.
//   Packets base_seq .. load_seq-1 are whole; `loading` says that packet load_seq has begun. `loaded` pulses with its last byte.
//   `ack` (pulse, at least 6 clocks apart) with `ack_n`, the peer's next expected sequence number: packets before it are freed, if
//   ack_n lies in base_seq .. sent_seq; otherwise nothing changes and ev_bad_ack pulses. `acked` pulses when a good one has
//   been carried out, `progress` with it when it freed anything.
//   look/look_seq: `look_done` pulses one clock later with the place where packet look_seq begins (look_seq <= load_seq).
//   `restart` (pulse): all packets are dropped, one in the middle of its loading too.
//   ev_acked and ev_lost pulse once for each packet freed and for each dropped.
//   has_room: a packet of MAX_PACKET bytes fits; up to two clocks stale after s_last.
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
    output reg         has_room,
    output wire [15:0] freed_bytes,
    output wire [7:0]  freed_packets,

    output reg  [15:0] base,
    output reg  [7:0]  base_seq,
    output reg  [15:0] load,
    output reg  [7:0]  load_seq,
    output reg         loading,
    output wire        loaded,
    input  wire [15:0] rd_addr,
    output wire [7:0]  rd_data,

    input  wire        look,
    input  wire [7:0]  look_seq,
    output reg         look_done,
    output wire [15:0] look_start,

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

    // Loading.
    reg         discarding, full, window_full;
    reg  [7:0]  total_packets;
    wire [15:0] used      = load - base;
    wire [7:0]  packets   = load_seq - base_seq;
    wire [15:0] load_next = load + 16'd1;
    wire        accept    = s_valid && s_ready;
    wire        write     = accept && !discarding;
    wire        unfinished = accept ? !s_last : (loading || discarding);
    assign s_ready = discarding || (!full && (loading || !window_full));
    assign loaded  = write && s_last;
    assign freed_bytes   = base;
    assign freed_packets = total_packets - packets;

    always @(posedge clk) begin
        full        <= used[AW] || (write && &used[AW-1:0]);
        window_full <= packets >= `LP_WINDOW_MAX || (loaded && packets == `LP_WINDOW_MAX - 1);
        has_room    <= used <= ROOM[15:0] && packets < `LP_WINDOW_MAX;

        if (accept) load <= load_next;
        if (write)  loading <= !s_last;
        if (loaded) load_seq <= load_seq + 8'd1;
        if (accept && s_last) begin
            discarding    <= 1'b0;
            total_packets <= total_packets + 8'd1;
        end
        if (restart) begin
            loading    <= 1'b0;
            discarding <= unfinished;
            load_seq   <= 8'd0;
        end
        if (rst) begin
            {loading, discarding, full, window_full, has_room} <= 5'd0;
            load          <= 16'd0;
            load_seq      <= 8'd0;
            total_packets <= 8'd0;
        end
    end

    wire [15:AW] unused_rd_addr = rd_addr[15:AW];
    ram_sdp #(.WIDTH(8), .DEPTH(REPLAY_BYTES)) u_bytes (
        .clk(clk),
        .wr_en(write), .wr_addr(load[AW-1:0]), .wr_data(s_data),
        .rd_en(1'b1), .rd_addr(rd_addr[AW-1:0]), .rd_data(rd_data)
    );

    // Where each packet begins. A look-up for the packet being sent goes before one for an acknowledgement.
    reg  [7:0] ack_seq;
    ram_sdp #(.WIDTH(16), .DEPTH(256)) u_starts (
        .clk(clk),
        .wr_en(loaded), .wr_addr(load_seq + 8'd1), .wr_data(load_next),
        .rd_en(1'b1), .rd_addr(look ? look_seq : ack_seq), .rd_data(look_start)
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
            base     <= look_start;
            base_seq <= ack_seq;
        end
        if (discarding && accept) base <= load_next;
        if (restart) begin
            base     <= accept ? load_next : load;
            base_seq <= 8'd0;
        end
        if (rst || restart) {look_done, check, wanted, found, progress, acked} <= 6'd0;
        if (rst) begin
            base     <= 16'd0;
            base_seq <= 8'd0;
        end
    end

    // Packets freed and dropped, counted out one a clock.
    reg [8:0] freed, lost;
    assign ev_acked = freed != 9'd0;
    assign ev_lost  = lost != 9'd0;
    always @(posedge clk)
        if (rst) begin
            freed <= 9'd0;
            lost  <= 9'd0;
        end else begin
            freed <= freed + (found && !restart ? {1'b0, ack_span} : 9'd0) - {8'd0, ev_acked};
            lost  <= lost + (restart ? {1'b0, packets} + {8'd0, loading || write} : 9'd0) - {8'd0, ev_lost};
        end
`ifdef FORMAL
`include "link_replay.formal.v"
`endif
endmodule
`resetall
