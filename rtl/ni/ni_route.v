`default_nettype none
// Takes routed packets out of the ROUTEs that have come to their node.
//
// Contract:
//   s_*: packets as of link_rx, those on trial included, of MAX_PACKET bytes at most. m_*: the same but for ROUTEs: of one for this node, a
//   datagram, whose CRC-32C and lengths are right, the packet inside. Order is kept. A datagram for a multicast group is for this node: the
//   network brings it to members only.
//   node: this one; 0: it has no number yet, and nothing is for it.
//   It holds HOLD_BYTES. room: a packet of MAX_PACKET fits, two clocks late; with WIDTH above 1 it leaves some beats out for that.
//   overdue: ROUTEs for this node are not kept waiting: those that come are dropped, ev_late, those for the host not.
//   A ROUTE for this node is for its host, as it is, if it is a datagram that carries an answer, REG_DATA or DONE, or a MESSAGE, or if it
//   is of a virtual link: its state is no datagram's, and only its length is looked at. It does not come out: `put` says that what moves at
//   s_* may be of one, and behind that `told` (pulse) that it was, and all right; `untold`, which is high besides, that it was not.
//   With `gateway`, which is for VIRTUAL 0, so is such a one for another node, but not a multicast group.
//   One of a virtual link with a number below 2^VIRTUAL, and no INIT, is for net_vl, and is dropped here, if VIRTUAL is not 0.
//   Any other ROUTE is dropped, ev_bad.
//   pause: nothing is taken.
//   A packet shows on m_* three clocks after it came, on trial, unless EARLY is 0.
//
// Proven: ni_route.formal.v. Source: doc/protocol.md, "Routed packets".
`include "linkproto.vh"
module ni_route #(
    parameter MAX_PACKET = 1049,
    parameter HOLD_BYTES = MAX_PACKET,
    parameter EARLY      = 0,
    parameter VIRTUAL    = 0,
    parameter WIDTH      = 1
) (
    input  wire               clk,
    input  wire               rst,
    input  wire [15:0]        node,
    input  wire               gateway,

    input  wire               s_valid,
    output wire               s_ready,
    input  wire [8*WIDTH-1:0] s_data,
    input  wire [WIDTH-1:0]   s_keep,
    input  wire               s_last,
    input  wire               s_void,

    output wire               m_valid,
    input  wire               m_ready,
    output wire [8*WIDTH-1:0] m_data,
    output wire [WIDTH-1:0]   m_keep,
    output wire               m_last,
    output wire               m_sure,
    output wire               m_void,

    output wire               room,
    input  wire               overdue,

    input  wire               pause,
    output wire               put,
    output wire               told,
    output wire               untold,
    output reg                ev_bad,
    output reg                ev_late
);
    localparam DW    = 8 * WIDTH;
    localparam DEPTH = 1 << $clog2((HOLD_BYTES + WIDTH - 1) / WIDTH);
    localparam TAKEN = (MAX_PACKET + WIDTH - 1) / WIDTH + (WIDTH == 1 ? 0 : 3);
    localparam SPARE = DEPTH > TAKEN ? DEPTH - TAKEN : 0;
    localparam SHIFT = `LP_ROUTE_FIELDS % WIDTH;                // lane in which the packet inside begins
    localparam [31:0] START = `LP_ROUTE_FIELDS / WIDTH + (SHIFT > 0 ? 1 : 0);   // beat with which its first beat is whole
    localparam [31:0] SEEN = (`LP_ROUTE_FIELDS + `LP_HEADER_BYTES) / WIDTH + 1; // beats that are looked at
    localparam [31:0] STATE = `LP_ROUTE_STATE / WIDTH;          // beat with the state
    localparam [31:0] KIND = `LP_ROUTE_FIELDS / WIDTH;          // beat with the type of the packet inside
    localparam [31:0] DEST = `LP_ROUTE_DEST / WIDTH, DEST_HIGH = (`LP_ROUTE_DEST + 1) / WIDTH;
    localparam [31:0] LOW = 1 / WIDTH, HIGH = 2 / WIDTH;                        // of the length
    localparam [31:0] BEAT = WIDTH;
    localparam [15:0] OUTSIDE = `LP_ROUTE_EXTRA - `LP_HEADER_BYTES, EXTRA = `LP_ROUTE_EXTRA, LEAST = `LP_MIN_PACKET;
    localparam [31:0] POLY = `LP_CRC32C_POLY;

    reg  [5:0]  at;                 // beats that have come, as many as are looked at
    reg         routed, wrong;      // the packet is a ROUTE; and is dropped
    reg         strange;            // it is no datagram as it must be
    reg         closing;            // it has come whole, and its CRC is judged
    reg         foreign;            // it is for another node, and at most for the host
    reg         other, group;       // the low byte of its destination is not this node's; it is for a multicast group
    reg         linked, answer;     // it is of a virtual link; or the packet inside is an answer or a MESSAGE
    reg         skip;               // it is dropped as late
    reg  [15:0] length, left;       // in its header; bytes of the packet inside that have not been passed on
    reg  [31:0] crc;
    reg  [DW-1:0] final_data;
    reg  [WIDTH-1:0] final_keep;

    wire full, overflow;
    wire route  = at == 6'd0 ? s_data[7:0] == {3'd0, `LP_TYPE_ROUTE} : routed;
    wire skipped = overdue || (skip && (closing || at != 6'd0));
    assign s_ready = !closing && !pause && (!full || (skipped && route));
    wire accept = s_valid && s_ready;
    wire gone   = s_void && !closing;
    wire done   = accept && s_last;

    // What a datagram must have at a place: {it matters, byte}.
    function [8:0] rule(input integer place, input [15:0] inner);
        case (place)
            `LP_ROUTE_PATH + 1, `LP_ROUTE_PATH + 2, `LP_ROUTE_STATE + 1, `LP_ROUTE_STATE + 2: rule = {1'b1, 8'd0};
            `LP_ROUTE_FIELDS + 1: rule = {1'b1, inner[7:0]};
            `LP_ROUTE_FIELDS + 2: rule = {1'b1, inner[15:8]};
            default:              rule = 9'd0;
        endcase
    endfunction
    function [31:0] after(input [31:0] state, input [7:0] x);       // CRC-32C after a byte
        integer b;
        begin
            after = state ^ {24'd0, x};
            for (b = 0; b < 8; b = b + 1) after = {1'b0, after[31:1]} ^ (POLY & {32{after[0]}});
        end
    endfunction

    reg  [31:0] crc_next;
    reg         mismatch;           // at what a datagram must have
    wire [7:0]  dest_low  = s_data[8*(`LP_ROUTE_DEST % WIDTH) +: 8];
    wire [7:0]  dest_high = s_data[8*((`LP_ROUTE_DEST + 1) % WIDTH) +: 8];
    wire        other_now = at == DEST[5:0] ? dest_low != node[7:0] : other;
    wire        group_now = at == DEST_HIGH[5:0] ? {dest_high, 8'd0} >= `LP_MULTICAST_BASE : group;
    wire        astray = at == DEST_HIGH[5:0] && !group_now && (other_now || dest_high != node[15:8]);
    reg  [8:0]  want;
    integer k, place;
    always @* begin
        crc_next = at == 6'd0 ? `LP_CRC32C_INIT : crc;
        mismatch = 1'b0;
        for (k = 0; k < WIDTH; k = k + 1) begin
            place = {26'd0, at} * WIDTH + k;
            want  = rule(place, length - EXTRA);
            if (s_keep[k] && place != `LP_ROUTE_PATH) crc_next = after(crc_next, s_data[8*k +: 8]);
            if (at != SEEN[5:0] && want[8] && s_data[8*k +: 8] != want[7:0]) mismatch = 1'b1;
        end
    end

    // The packet inside, beat by beat. Its last one waits until the ROUTE has been judged.
    wire [DW-1:0] inner;
    generate
        if (SHIFT == 0) begin : g_same
            assign inner = s_data;
        end else begin : g_shift
            reg [DW-8*SHIFT-1:0] high;      // of the beat before
            always @(posedge clk) if (accept) high <= s_data[DW-1:8*SHIFT];
            assign inner = {s_data[8*SHIFT-1:0], high};
        end
    endgenerate
    wire reached = accept && route && at >= START[5:0];
    wire more    = left > BEAT[15:0];
    wire [4:0] kind = s_data[8*SHIFT +: `LP_TYPE_WIDTH];
    wire linked_now = at == STATE[5:0] ? s_data[8*(`LP_ROUTE_STATE % WIDTH) +: 8] != `LP_ROUTE_DATAGRAM : linked;
    wire answer_now = at == KIND[5:0] ? kind == `LP_TYPE_REG_DATA || kind == `LP_TYPE_DONE || kind == `LP_TYPE_MESSAGE : answer;
    wire passed  = reached && more && !wrong && !foreign && !strange && !mismatch && !linked && !answer_now && !skipped;
    wire whole   = linked || answer;
    wire good    = closing && !wrong && (linked ? !group : !strange && crc == `LP_CRC32C_RESIDUE) && (whole || !foreign);
    wire judged  = closing && (!full || skipped);
    wire carried;                   // it is net_vl's
    generate
        if (VIRTUAL != 0) begin : g_virtual
            localparam [31:0] NUMBER = `LP_ROUTE_VL / WIDTH, NUMBER_HIGH = (`LP_ROUTE_VL + 1) / WIDTH;
            reg [15:0] number;
            reg        is_init;
            always @(posedge clk) if (accept) begin
                if (at == NUMBER[5:0])      number[7:0]  <= s_data[8*(`LP_ROUTE_VL % WIDTH) +: 8];
                if (at == NUMBER_HIGH[5:0]) number[15:8] <= s_data[8*((`LP_ROUTE_VL + 1) % WIDTH) +: 8];
                if (at == STATE[5:0])       is_init      <= s_data[8*(`LP_ROUTE_STATE % WIDTH) + 6 +: 2] == `LP_KIND_INIT;
            end
            assign carried = linked && !is_init && number >> VIRTUAL == 16'd0;
        end else begin : g_software
            assign carried = 1'b0;
        end
    endgenerate
    wire gives   = judged && good && !whole && !skipped;
    assign put    = accept && route && (at <= KIND[5:0] || whole);
    assign told   = judged && good && whole && !carried;
    assign untold = gone || judged;
    wire measured = at == START[5:0] - 6'd1;
    wire short    = (measured && length < OUTSIDE) || (s_last && at < START[5:0]);
    wire empty    = measured && length < OUTSIDE + LEAST;
    always @(posedge clk) begin
        ev_bad  <= judged && !good;
        ev_late <= judged && good && !whole && skipped;
        closing <= closing ? !judged : done && route;
        if (accept || closing) skip <= skipped;
        if (accept) begin
            crc    <= crc_next;
            if (at != SEEN[5:0]) at <= at + 6'd1;
            routed <= route;
            other  <= other_now;
            group  <= group_now;
            linked <= linked_now;
            answer <= answer_now;
            foreign <= (at != 6'd0 && foreign) || (astray && gateway);
            wrong   <= (at != 6'd0 && wrong) || (astray && !gateway) || short || node == 16'd0;
            strange <= (at != 6'd0 && strange) || mismatch || empty;
            left   <= !reached ? length - OUTSIDE : more ? left - BEAT[15:0] : 16'd0;
            if (reached && !more && left != 16'd0) {final_data, final_keep} <= {inner, ~({WIDTH{1'b1}} << left)};
        end
        if (accept && at == LOW[5:0])  length[7:0]  <= s_data[8*(1 % WIDTH) +: 8];
        if (accept && at == HIGH[5:0]) length[15:8] <= s_data[8*(2 % WIDTH) +: 8];
        if (done || gone) at <= 6'd0;
        if (rst) {at, closing, ev_bad, ev_late} <= 9'd0;
    end

    wire [9*WIDTH:0] word = closing ? {1'b1, final_keep, final_data} : route ? {1'b0, {WIDTH{1'b1}}, inner} : {s_last, s_keep, s_data};
    wire [$clog2(DEPTH):0] used;
    wire unused = overflow;
`ifdef FORMAL
    wire [7:0]  f_held, f_firm;
    wire        f_loose, f_hole;
    wire [15:0] f_past;
    wire [(9*WIDTH+1)*DEPTH-1:0] f_words;
`endif
    wire crowded;
    at_least #(.WIDTH($clog2(DEPTH) + 1), .LIMIT(SPARE + 1)) u_crowded (.x(used), .y(crowded));
    assign room = !crowded;
    fifo_commit #(.WIDTH(9 * WIDTH + 1), .DEPTH(DEPTH), .EARLY(EARLY)) u_fifo (
        .clk(clk), .rst(rst), .wr_en((accept && !route) || passed || gives), .wr_data(word),
        .commit((done && !route) || gives), .rollback(gone || (judged && !gives)), .used(used), .full(full), .overflow(overflow),
        .m_valid(m_valid), .m_ready(m_ready), .m_data({m_last, m_keep, m_data}), .m_sure(m_sure), .m_void(m_void)
`ifdef FORMAL
        , .f_held(f_held), .f_firm(f_firm), .f_loose(f_loose), .f_past(f_past), .f_hole(f_hole), .f_words(f_words)
`endif
    );
`ifdef FORMAL
`include "ni_route.formal.v"
`endif
endmodule
`resetall
