`default_nettype none
// What stands at port 0 of a router in the place of a link, which needs no cable: a queue of this node's packets.
//
// Contract:
//   s_*, cancel, has_room, size, takes, refused, admit, freed_*: packets of this node, as of link_replay, but that they are freed when the
//   router has taken them, whatever becomes of them, and that nothing restarts. s_valid needs no ready: one begins only while has_room, or
//   `takes` for its size, is high, three clocks or more behind the one before, but with WIDTH above 1 behind one of
//   five beats or more. queued, gap: as of link_replay.
//   m_*: those packets, as of link_rx, for the router; on trial while they come.
//
// Proven: net_local.formal.v. Source: doc/network.md.
module net_local #(
    parameter REPLAY_BYTES = 4096,
    parameter MAX_PACKET   = 1049,
    parameter WIDTH        = 1
) (
    input  wire               clk,
    input  wire               rst,

    input  wire               s_valid,
    input  wire [8*WIDTH-1:0] s_data,
    input  wire [WIDTH-1:0]   s_keep,
    input  wire               s_last,
    input  wire               cancel,
    output reg                has_room,
    input  wire [15:0]        size,
    output reg                takes,
    input  wire               refused,
    input  wire               admit,
    output reg  [15:0]        freed_bytes,
    output reg  [7:0]         freed_packets,
    output reg                queued,
    output reg                gap,

    output wire               m_valid,
    input  wire               m_ready,
    output wire [8*WIDTH-1:0] m_data,
    output wire [WIDTH-1:0]   m_keep,
    output wire               m_last,
    output wire               m_void
);
    localparam AW    = $clog2(REPLAY_BYTES);
    localparam BEATS = WIDTH == 1 ? REPLAY_BYTES : 2 * REPLAY_BYTES / WIDTH;   // packets end within beats
    localparam BW    = $clog2(BEATS);
    localparam integer LEFT = REPLAY_BYTES - MAX_PACKET, BEATS_LEFT = BEATS - (MAX_PACKET + WIDTH - 1) / WIDTH - 4;
    generate
        if (REPLAY_BYTES < MAX_PACKET) error_replay_bytes_must_hold_one_packet u_check_packet ();
    endgenerate

    function [15:0] bytes(input [WIDTH-1:0] keep);
        integer k;
        begin
            bytes = 16'd0;
            for (k = 0; k < WIDTH; k = k + 1) if (keep[k]) bytes = 16'd1 + k[15:0];
        end
    endfunction

    // What comes, and what the router has taken. Spans are measured a clock late.
    reg  [15:0] next, first;            // bytes that have come; up to the packet that is coming
    reg         coming;
    reg  [15:0] taken;                  // of the packet that the router takes
    reg  [7:0]  come;                   // packets
    reg  [AW:0] held;
    reg         many;                   // packets: a window
    wire        take  = m_valid && m_ready;
    wire [15:0] after = taken + bytes(m_keep);
    wire [7:0]  packets = come - freed_packets;
    wire        open  = !many && !gap;
    wire        crowded, crammed;
    at_least #(.WIDTH(AW + 1), .LIMIT(LEFT + 1)) u_crowded (.x(held), .y(crowded));
    wire [AW+1:0] filled = {1'b0, held} + size[AW+1:0];     // less one
    wire [BW:0]   used;
    generate
        if (WIDTH == 1) begin : g_byte
            assign crammed = 1'b0;
            wire unused_used = ^used;
        end else begin : g_beat
            at_least #(.WIDTH(BW + 1), .LIMIT(BEATS_LEFT + 1)) u_crammed (.x(used), .y(crammed));
        end
    endgenerate
    always @(posedge clk) begin
        if (s_valid) {coming, next} <= {!s_last, next + bytes(s_keep)};
        if (!coming) first <= next;
        if (cancel)  {coming, next} <= {1'b0, first};
        come <= come + {7'd0, s_valid && s_last};
        if (take) taken <= m_last ? 16'd0 : after;
        if (m_void) taken <= 16'd0;
        if (take && m_last) begin
            freed_bytes   <= freed_bytes + after;
            freed_packets <= freed_packets + 8'd1;
        end
        held     <= next[AW:0] - freed_bytes[AW:0];
        many     <= packets[7];
        has_room <= open && !crowded && !crammed;
        takes    <= open && filled[AW+1:AW] == 2'd0 && !crammed;
        queued   <= coming || packets != 8'd0;
        gap      <= refused || (gap && !admit);
        if (rst) begin
            {coming, has_room, takes, queued, gap} <= 5'd0;
            {next, freed_bytes, taken}     <= 48'd0;
            {come, freed_packets, many} <= 17'd0;
            held <= {AW + 1{1'b0}};
        end
    end
    wire unused_size = ^{size, filled};

    wire full, overflow, sure;
    wire unused = ^{full, sure, overflow};
`ifdef FORMAL
    wire [7:0]  f_held, f_firm;
    wire        f_loose, f_hole;
    wire [15:0] f_past;
    wire [(9*WIDTH+1)*BEATS-1:0] f_words;
`endif
    fifo_commit #(.WIDTH(9 * WIDTH + 1), .DEPTH(BEATS), .EARLY(1)) u_fifo (
        .clk(clk), .rst(rst), .wr_en(s_valid), .wr_data({s_last, s_keep, s_data}), .commit(s_valid && s_last), .rollback(cancel),
        .used(used), .full(full), .overflow(overflow),
        .m_valid(m_valid), .m_ready(m_ready), .m_data({m_last, m_keep, m_data}), .m_sure(sure), .m_void(m_void)
`ifdef FORMAL
        , .f_held(f_held), .f_firm(f_firm), .f_loose(f_loose), .f_past(f_past), .f_hole(f_hole), .f_words(f_words)
`endif
    );
`ifdef VERILATOR
    always @(posedge clk) if (!rst) assert (!overflow);
`endif
`ifdef FORMAL
`include "net_local.formal.v"
`endif
endmodule
`resetall
