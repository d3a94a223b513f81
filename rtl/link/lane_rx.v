`default_nettype none
// Receiver of a lane: checks frames and keeps the good ones until their turn has come.
//
// Contract:
//   sop .. byte_q, up, restart, key: as of link_rx. A frame that is good, whatever its number, waits in a FIFO of SKEW_BYTES.
//   h_*: the oldest that waits, in beats of WIDTH bytes, h_last with the last one; h_seq: its number; h_malformed, with h_last: the
//   packet's own length field does not fit the frame. h_doomed: it is of no use, since a frame with an earlier number has come behind it,
//   so that its sender will send it again. A frame that finds no room dooms all that wait. `waits`: some do, shown or not.
//   `active`: a frame symbol has come. ev_good: a whole frame; ev_crc, ev_overrun, ev_stray: as of link_rx.
//
// Proven: lane_rx.formal.v. Source: doc/protocol.md, "Lanes".
module lane_rx #(
    parameter SKEW_BYTES = 4096,        // a power of two; two packets and what may come behind STOP
    parameter MAX_PACKET = 1032,
    parameter WIDTH      = 4
) (
    input  wire       clk,
    input  wire       rst,

    input  wire       sop,
    input  wire       eop,
    input  wire       aborted,
    input  wire       data,
    input  wire       err,
    input  wire [7:0] byte_q,
    input  wire       up,
    input  wire       restart,
    input  wire [31:0] key,

    output wire       h_valid,
    input  wire       h_ready,
    output wire [8*WIDTH-1:0] h_data,
    output wire [WIDTH-1:0]   h_keep,
    output wire       h_last,
    output wire [7:0] h_seq,
    output wire       h_malformed,
    output wire       h_doomed,
    output wire       waits,
    output wire       coming,
    output wire       active,

    output reg        ev_good,
    output reg        ev_crc,
    output reg        ev_overrun,
    output reg        ev_stray
);
    localparam LENW = $clog2(MAX_PACKET + 2);
    localparam [LENW-1:0] FULL = MAX_PACKET[LENW-1:0] - 3, NONE = {LENW{1'b1}} - 1'b1;
    localparam BEATS = SKEW_BYTES / WIDTH;
    localparam HELDW = $clog2(BEATS) + 2;
    generate
        if (SKEW_BYTES < 2 * MAX_PACKET) error_skew_bytes_must_hold_two_packets u_check_skew ();
    endgenerate

    // Frame assembly, as in link_rx. The last five bytes wait in a delay line: at EOP it holds the last payload byte and the four
    // CRC bytes.
    reg         in_frame, have_seq, admitted, end_frame, undo;
    assign      coming = in_frame;
    assign      active = in_frame && (data || eop);
    reg  [7:0]  seq;
    reg  [39:0] tail;
    reg  [2:0]  fill;
    reg  [LENW-1:0] written;            // bytes of the packet out of the delay line, less two: what the length field should say
    reg         at_most;                // one more would be too long
    reg  [15:0] length;
    reg         push;
    reg  [8:0]  push_word;
    wire        primed       = fill == 3'd5;
    wire        step         = sop || (data && in_frame);
    wire        payload_byte = data && in_frame && have_seq;
    wire        too_long     = payload_byte && primed && at_most;
    wire        overflow;
    wire        no_room      = overflow && !end_frame;

    wire        crc_ok;
    wire [31:0] unused_crc;
    crc32c_byte u_crc (
        .clk(clk), .init(sop), .key(key), .en(step), .shift(1'b0), .data(byte_q), .crc(unused_crc), .ok(crc_ok)
    );

    reg       end_whole, end_crc_ok, end_admitted, end_length_ok;
    always @(posedge clk) begin
        undo          <= aborted;
        end_frame     <= in_frame && (sop || eop || err || too_long || no_room);
        end_whole     <= eop && primed && !(&written[LENW-1:1]);
        end_crc_ok    <= crc_ok;
        end_admitted  <= admitted && up;
        end_length_ok <= {{(16 - LENW){1'b0}}, written} == length;

        if (data && in_frame) begin
            have_seq <= 1'b1;
            if (have_seq && !primed) fill <= fill + 3'd1;
            if (have_seq && primed) begin
                written <= written + 1'b1;
                at_most <= written == FULL - 1'b1;
            end
        end
        if (!up) admitted <= 1'b0;
        if (eop || aborted || err || too_long || no_room) in_frame <= 1'b0;
        if (sop) begin
            in_frame <= 1'b1;
            have_seq <= 1'b0;
            admitted <= 1'b1;
            fill     <= 3'd0;
            written  <= NONE;
            at_most  <= 1'b0;
        end
        if (rst) begin
            in_frame  <= 1'b0;
            end_frame <= 1'b0;
            undo      <= 1'b0;
            admitted  <= 1'b0;
        end
    end

    always @(posedge clk) begin
        if (data && !have_seq) seq <= byte_q;
        push      <= in_frame && admitted && primed && (payload_byte || eop) && !rst;
        push_word <= {eop, tail[39:32]};
        if (step) tail <= {tail[31:0], byte_q};
        if (payload_byte && fill == 3'd1) length[7:0]  <= byte_q;
        if (payload_byte && fill == 3'd2) length[15:8] <= byte_q;
    end

    // Decision.
    wire intact  = end_frame && end_admitted && end_whole && end_crc_ok;
    wire good    = intact && !overflow;
    wire damaged = end_frame && end_admitted && (!end_whole || !end_crc_ok || overflow);

    // How many frames wait, and how many of them, the oldest ones, are doomed.
    reg  [HELDW-1:0] held, doomed;
    reg  [7:0]       newest;            // number of the last that came
    wire             leaves = h_valid && h_ready && h_last;
    wire [HELDW-1:0] left   = held - {{HELDW-1{1'b0}}, leaves};
    wire [7:0]       beyond = seq - newest;
    wire             unused_beyond = ^beyond[6:0];
    assign waits    = held != 0;
    assign h_doomed = doomed != 0;
    always @(posedge clk) begin
        ev_good    <= good;
        ev_overrun <= damaged && overflow;
        ev_crc     <= damaged && !overflow;
        ev_stray   <= ((data || eop) && !in_frame) || (end_frame && !end_admitted);

        held <= left + {{HELDW-1{1'b0}}, good};
        if (good) newest <= seq;
        if ((good && beyond[7]) || (damaged && overflow)) doomed <= left;
        else if (leaves && h_doomed)                      doomed <= doomed - 1'b1;
        if (rst || restart) {held, doomed} <= 0;
    end

    wire               unused_full, unused_ready, unused_sure, unused_void, beat, beat_last;
    wire [8*WIDTH-1:0] beat_data;
    wire [WIDTH-1:0]   beat_keep;
    wire               rollback = end_frame || undo || !up;
    beat_pack #(.WIDTH(WIDTH)) u_pack (
        .clk(clk), .clear(rollback), .s_valid(push), .s_ready(unused_ready), .s_data(push_word[7:0]), .s_last(push_word[8]),
        .m_valid(beat), .m_ready(1'b1), .m_data(beat_data), .m_keep(beat_keep), .m_last(beat_last)
    );
    wire [$clog2(BEATS):0] unused_used;
    fifo_commit #(.WIDTH(9 * WIDTH + 10), .DEPTH(BEATS)) u_fifo (
        .clk(clk), .rst(rst || restart),
        .wr_en(beat), .wr_data({seq, !end_length_ok, beat_last, beat_keep, beat_data}), .commit(intact), .rollback(rollback),
        .used(unused_used), .full(unused_full), .overflow(overflow),
        .m_valid(h_valid), .m_ready(h_ready), .m_data({h_seq, h_malformed, h_last, h_keep, h_data}), .m_sure(unused_sure),
        .m_void(unused_void)
`ifdef FORMAL
        , .f_held(f_held), .f_firm(f_firm), .f_loose(f_loose), .f_past(f_past), .f_hole(f_hole), .f_words(f_words)
`endif
    );
`ifdef FORMAL
`include "lane_rx.formal.v"
`endif
endmodule
`resetall
