`default_nettype none
// Frame receiver: checks frames, delivers the packets of good ones in order, exactly once.
//
// Contract:
//   A frame's payload is written into the packet FIFO as it comes and committed only when the frame is whole, its CRC-32C is
//   right, its sequence number is the expected one and the packet's own length field agrees with it; otherwise it is
//   rolled back and exactly one event pulse says why. A frame that holds an `err`, is too long or finds no room ends at once.
//   `aborted` ends a frame as if it had never begun: it is rolled back without an event. `coming`: a frame is in progress.
//   `expected`, `lost` and `stop` are the absolute state that the link state word carries.
//   `stop` rises when HIGH bytes are used and falls at LOW. RX_BYTES - HIGH = HEADROOM bytes are for what is in flight: if
//   at most HEADROOM-3 symbols come behind STOP, nothing is ever dropped on an error-free link. LOW >= MAX_PACKET, so that one
//   unfinished frame alone never keeps the link stopped.
//   `restart` (pulse) sets the sequence back; packets already committed stay. A frame that starts while `up` is low, or sees it
//   low, is ignored; one whose `sop` comes in the clock before `up` rises follows the word that raised it, and counts.
//   m_*: packets, in beats of WIDTH bytes, `m_last` with the last one, whose m_keep says how many it has. The first byte shows four clocks
//   after `eop` or, if EARLY is 1, nine after it has come, if it is 2, three; then it is on trial until m_sure, and m_void may take back
//   what of the packet has been shown, as fifo_commit has it. A last byte is never on trial. A beat shows when its last byte would, and
//   counts as WIDTH bytes used. SPACED, 1: one in two clocks at most, which takes fewer cells.
//
// Proven: link_rx.formal.v, link_rx_stop.formal.v.
// Source: doc/protocol.md, "Receiver"; GigaE PM's go-back-N, with STOP/GO after PM/Myrinet.
module link_rx #(
    parameter RX_BYTES   = 4096,
    parameter MAX_PACKET = 2056,
    parameter HEADROOM   = 256,
    parameter EARLY      = 0,
    parameter SPACED     = 0,
    parameter WIDTH      = 1
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
    output reg  [7:0] expected,
    output reg        lost,
    output reg        stop,
    output wire       coming,

    output reg        ev_packet,
    output reg        ev_crc,
    output reg        ev_dup,
    output reg        ev_gap,
    output reg        ev_overrun,
    output reg        ev_stray,
    output reg        ev_malformed,

    output wire       m_valid,
    input  wire       m_ready,
    output wire [8*WIDTH-1:0] m_data,
    output wire [WIDTH-1:0]   m_keep,
    output wire       m_last,
    output wire       m_sure,
    output wire       m_void
);
`include "linkproto.vh"

    localparam LENW = $clog2(MAX_PACKET + 3);
    localparam BEATS = RX_BYTES / WIDTH;
    localparam USEDW = $clog2(BEATS) + 1;
    localparam integer HIGH = RX_BYTES - HEADROOM;
    localparam integer LOW  = (HIGH + MAX_PACKET) / 2;
    generate
        if (RX_BYTES - HEADROOM <= MAX_PACKET + 1)
            error_rx_bytes_must_exceed_one_packet_plus_headroom u_error ();
    endgenerate

    // Frame assembly.
    reg         in_frame, have_seq, admitted, mine, old, end_frame, undo;
    assign      coming = in_frame;
    reg  [2:0]  fill;                   // bytes of the payload, up to 5, or to 3 and then as said below
    reg         at_most;                // one more would be too long
    reg  [15:0] length;
    wire        push, whole, length_ok;
    wire [8:0]  push_word;
    wire        step         = sop || (data && in_frame);
    wire        payload_byte = data && in_frame && have_seq;
    wire        too_long     = payload_byte && at_most;
    wire        overflow;
    reg         hole;                   // the FIFO has refused a byte before this clock
    wire        spilt        = EARLY == 1 ? overflow : hole;    // known at the frame's end: only with EARLY 1 a byte is written then
    wire        no_room      = overflow && !end_frame;

    wire        crc_ok;
    wire [31:0] unused_crc;
    crc32c_byte u_crc (
        .clk(clk), .init(sop), .key(key), .en(step), .shift(1'b0), .data(byte_q), .crc(unused_crc), .ok(crc_ok)
    );

    // What is known of a frame at its end, for the decision one clock later.
    reg       end_whole, end_crc_ok, end_admitted, end_length_ok, end_fits;      // end_fits: all of them but end_crc_ok
    wire [7:0] ahead = byte_q - expected;       // of the sequence number, when it comes: no frame before it is still to be judged

    always @(posedge clk) begin
        undo          <= aborted;
        end_frame     <= in_frame && (sop || eop || err || too_long || no_room);
        end_whole     <= eop && whole;
        end_crc_ok    <= crc_ok;
        end_admitted  <= admitted && up;
        end_length_ok <= length_ok;
        end_fits      <= in_frame && eop && whole && length_ok && up && admitted;
        if (data && !have_seq) {mine, old} <= {ahead == 8'd0, ahead[7]};

        if (data && in_frame) have_seq <= 1'b1;
        if (!up) admitted <= 1'b0;
        if (eop || aborted || err || too_long || no_room) in_frame <= 1'b0;
        if (sop) begin
            in_frame <= 1'b1;
            have_seq <= 1'b0;
            admitted <= 1'b1;
        end
        if (rst) begin
            in_frame  <= 1'b0;
            end_frame <= 1'b0;
            end_fits  <= 1'b0;
            undo      <= 1'b0;
            admitted  <= 1'b0;
        end
    end

    wire [15:0] told = {byte_q, length[7:0]};   // the length field, when its second byte comes
    always @(posedge clk) begin
        if (payload_byte && fill == 3'd1) length[7:0]  <= byte_q;
        if (payload_byte && fill == 3'd2) length[15:8] <= byte_q;
    end

    generate
        if (EARLY == 0) begin : g_plain
            // A byte waits for the next one. Which is the packet's last its length tells: behind it fill counts the four bytes of the CRC,
            // from 4 on, and a fifth one takes it back to 3.
            localparam [LENW-1:0] MOST = MAX_PACKET[LENW-1:0] - 3;
            reg  [LENW-1:0] count;      // bytes behind the header, and one
            reg             beyond;     // length has bits that count has not
            reg             enough;     // for a header and a CRC
            reg             last;       // held is the packet's last byte
            reg             most;       // or that of the longest packet
            reg             goes;       // held is to be pushed
            reg  [7:0]      held;
            wire            headed = fill[2] || (&fill[1:0]);
            always @(posedge clk) begin
                if (payload_byte) begin
                    goes <= fill == 3'd0 ? mine && admitted : goes && !last && !most;
                    fill <= fill == 3'd3 ? {last, {2{!last}}} : fill == 3'd7 ? 3'd3 : fill + 3'd1;
                    last <= fill == 3'd2 ? told == 16'd0 : headed && count == length[LENW-1:0] && !beyond;
                    most <= headed && count == MOST;
                    at_most <= headed && count == MOST + 4;
                    enough  <= enough || (headed && count[2:0] == 3'd4);
                    if (fill == 3'd1) beyond <= {8'd0, byte_q} >> LENW != 16'd0;
                    if (fill == 3'd2) beyond <= beyond || {byte_q, 8'd0} >> LENW != 16'd0;
                end
                count <= count + {{LENW-1{1'b0}}, payload_byte && headed};
                if (data) held <= byte_q;
                if (!up) goes <= 1'b0;
                if (sop) begin
                    {fill, last, most, at_most, enough, goes} <= 8'd0;
                    count <= 1;
                end
            end
            wire   unused_length = ^length;
            assign push      = data && in_frame && goes;
            assign push_word = {last, held};
            assign whole     = enough;
            assign length_ok = fill == 3'd7;
        end else begin : g_early
            localparam [LENW-1:0] FULL = MAX_PACKET[LENW-1:0] - 3, NONE = {LENW{1'b1}} - 1'b1;
            reg  [LENW-1:0] written;    // bytes of the packet with five behind them, less two: what the length field should say
            wire            primed = fill == 3'd5;
            assign whole     = primed && !(&written[LENW-1:1]);
            assign length_ok = {{(16 - LENW){1'b0}}, written} == length;
            always @(posedge clk) begin
                if (payload_byte && !primed) fill <= fill + 3'd1;
                if (payload_byte && primed) begin
                    written <= written + 1'b1;
                    at_most <= written == FULL - 1'b1;
                end
                if (sop) begin
                    fill    <= 3'd0;
                    written <= NONE;
                    at_most <= 1'b0;
                end
            end
            if (EARLY == 2) begin : g_prompt
                // Only the packet's last byte waits, which its length tells.
                reg             next_one;       // the frame is the next in sequence
                reg  [LENW-1:0] rest;           // bytes behind the last one that has come
                reg             ending, over;   // the next one is the packet's last; that has come
                reg  [7:0]      last_byte;
                wire            header = fill == 3'd2;
                wire            fresh  = payload_byte && (fill < 3'd3 || !over);
                wire            ends   = header ? told == 16'd0 : fill > 3'd2 && ending;
                always @(posedge clk) begin
                    if (data && !have_seq) next_one <= byte_q == expected;
                    if (fresh) begin
                        last_byte <= byte_q;
                        rest      <= header ? told[LENW-1:0] : rest - 1'b1;
                        ending    <= header ? told == 16'd1 : rest == 2;
                        over      <= ends;
                    end
                end
                assign push      = in_frame && admitted && next_one && ((fresh && !ends) || (primed && eop));
                assign push_word = {eop, eop ? last_byte : byte_q};
            end else begin : g_delay
                // The last five bytes wait: at EOP they are the packet's last one and the CRC.
                reg [39:0] tail;
                reg        push_q;
                reg [8:0]  push_word_q;
                wire       unused_told = ^told;
                always @(posedge clk) begin
                    if (step) tail <= {tail[31:0], byte_q};
                    push_q      <= in_frame && admitted && mine && primed && (payload_byte || eop) && !rst;
                    push_word_q <= {eop, tail[39:32]};
                end
                assign {push, push_word} = {push_q, push_word_q};
            end
        end
    endgenerate

    // Decision.
    wire intact    = end_frame && end_admitted && end_whole && end_crc_ok;
    wire good      = intact && !spilt;
    wire in_order  = good && mine;
    wire duplicate = good && old;
    wire gap       = good && !mine && !old;
    wire damaged   = end_frame && end_admitted && (!end_whole || !end_crc_ok || spilt);
    wire fits      = end_fits && end_crc_ok && mine && !spilt;      // good, in order, of the right length

    always @(posedge clk) begin
        ev_packet    <= fits;
        ev_malformed <= in_order && !end_length_ok;
        ev_dup       <= duplicate;
        ev_gap       <= gap;
        ev_overrun   <= damaged && spilt;
        ev_crc       <= damaged && !spilt;
        ev_stray     <= ((data || eop) && !in_frame) || (end_frame && !end_admitted);

        if (in_order) begin
            expected <= expected + 8'd1;
            lost     <= 1'b0;
        end
        if (damaged || gap) lost <= 1'b1;
        if (rst || restart) begin
            expected <= 8'd0;
            lost     <= 1'b0;
        end
    end

    wire [USEDW-1:0] used;
    wire             high, above_low;
    always @(posedge clk)
        if (rst)               stop <= 1'b0;
        else                   stop <= high || (stop && above_low);
    at_least #(.WIDTH(USEDW), .LIMIT(HIGH / WIDTH))    u_high (.x(used), .y(high));
    at_least #(.WIDTH(USEDW), .LIMIT(LOW / WIDTH + 1)) u_low (.x(used), .y(above_low));

    wire               unused_full, unused_ready, beat, beat_last;
    wire [8*WIDTH-1:0] beat_data;
    wire [WIDTH-1:0]   beat_keep;
    wire               rollback = end_frame || undo || !up;
    always @(posedge clk) hole <= !rst && !rollback && overflow;
    beat_pack #(.WIDTH(WIDTH)) u_pack (
        .clk(clk), .clear(rollback), .s_valid(push), .s_ready(unused_ready), .s_data(push_word[7:0]), .s_last(push_word[8]),
        .m_valid(beat), .m_ready(1'b1), .m_data(beat_data), .m_keep(beat_keep), .m_last(beat_last)
    );
    // Of a beat of one byte there is no need to say that it has it.
    localparam KEEPW = WIDTH == 1 ? 0 : WIDTH;
    wire [KEEPW+8*WIDTH:0] word, m_word;
    generate
        if (WIDTH == 1) begin : g_byte
            assign word   = {beat_last, beat_data};
            assign {m_last, m_data} = m_word;
            assign m_keep = 1'b1;
            wire unused_keep = beat_keep;
        end else begin : g_beat
            assign word = {beat_last, beat_keep, beat_data};
            assign {m_last, m_keep, m_data} = m_word;
        end
    endgenerate
    fifo_commit #(.WIDTH(KEEPW + 8 * WIDTH + 1), .DEPTH(BEATS), .EARLY(EARLY), .SPACED(SPACED), .APART(EARLY == 1 ? 0 : 1)) u_fifo (
        .clk(clk), .rst(rst),
        .wr_en(beat), .wr_data(word), .commit(fits), .rollback(rollback),
        .used(used), .full(unused_full), .overflow(overflow),
        .m_valid(m_valid), .m_ready(m_ready), .m_data(m_word), .m_sure(m_sure), .m_void(m_void)
`ifdef FORMAL
        , .f_state({f_hole, f_written, f_left, f_trial, f_there})
`endif
    );
`ifdef FORMAL
`include "link_rx.formal.v"
`endif
endmodule
`resetall
