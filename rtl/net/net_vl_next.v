`default_nettype none
// Chooses what net_vl_engine carries out next, and on which virtual link.
//
// Contract:
//   chosen while idle: the next event is `choice`, of link vl. Each is chosen while it is asked for: LOOK and HEAR by look and hear, with
//   r_vl, HOST by c_en with c_vl, PUT by `put` with p_vl. AHEAD is by `begins`, TALK and AHEAD while send_idle, TELL while told_ready, WAKE
//   while m_room.
//   to_* (pulses): of_vl waits for its turn to send, to be told, for room, or to acknowledge what has come, which is TALK, TELL, WAKE, and,
//   ACK_DELAY paces later, SETTLE. It does once in each queue, and is chosen in its turn.
//   TIMES: from a tick on each link is looked through, one a pace; behind a tick that comes meanwhile each is again.
//   PUT and TALK: each is chosen behind BEFORE events of other kinds at most, and the two take turns. So neither waits for more than
//   2 * BEFORE + 1 events, whatever asks. HOST is not chosen twice in a row while another waits.
//
// Proven: net_vl_next.formal.v.
module net_vl_next #(
    parameter VIRTUAL   = 4,
    parameter ACK_DELAY = 32
) (
    input  wire               clk,
    input  wire               rst,
    input  wire               tick,
    input  wire               pace,
    input  wire               idle,
    output wire               chosen,
    output wire [3:0]         choice,
    output wire [VIRTUAL-1:0] vl,

    input  wire               look,
    input  wire               hear,
    input  wire [VIRTUAL-1:0] r_vl,
    input  wire               put,
    input  wire               begins,
    input  wire [VIRTUAL-1:0] p_vl,
    input  wire               c_en,
    input  wire [VIRTUAL-1:0] c_vl,
    input  wire               send_idle,
    input  wire               told_ready,
    input  wire               m_room,
    input  wire               to_turn,
    input  wire               to_tell,
    input  wire               to_wake,
    input  wire               to_settle,
    input  wire [VIRTUAL-1:0] of_vl
);
    // Events; the low three bits say where the link comes from.
    localparam [3:0] LOOK = 4'd0, HEAR = 4'd8, PUT = 4'd2, HOST = 4'd3, TALK = 4'd4, TIMES = 4'd5, WAKE = 4'd6, TELL = 4'd7,
        SETTLE = 4'd1, AHEAD = 4'd10;
    localparam [1:0] BEFORE = 2'd3;

    reg               put_last, host_last;      // those had their turn, and others theirs next
    reg [1:0]         passed;                   // events since PUT or TALK, while one of them was asked for
    reg               scans, scan_due;          // the table is looked through; the next link is due
    reg [VIRTUAL-1:0] scan, scan_end;           // the next link, and that before which it ends

    localparam TURNS = 0, TELLS = 1, WAKES = 2, SETTLES = 3;
    wire [3:0]           waits;
    wire [4*VIRTUAL-1:0] firsts;
    wire takes   = idle && chosen;
    wire talks   = waits[TURNS] && send_idle;
    wire settles = waits[SETTLES];
    wire tells   = waits[TELLS] && told_ready;
    wire wakes   = waits[WAKES] && m_room;
    wire sends   = put || talks;
    wire others  = look || hear || settles || tells || wakes || sends;
    wire overdue = sends && passed == BEFORE;
    wire times   = scans && scan_due;
    wire [3:0] sending = put && !(put_last && talks) ? PUT : TALK;
    assign choice = overdue ? sending : times ? TIMES : c_en && !(host_last && others) ? HOST : look ? LOOK : hear ? HEAR :
                    settles ? SETTLE : tells ? TELL : wakes ? WAKE : sends ? sending : AHEAD;
    assign chosen = times || c_en || others || (begins && send_idle);
    wire [VIRTUAL-1:0] low  = choice[1] ? (choice[0] ? c_vl : p_vl) : choice[0] ? firsts[VIRTUAL*SETTLES +: VIRTUAL] : r_vl;
    wire [VIRTUAL-1:0] high = choice[1] ? (choice[0] ? firsts[VIRTUAL*TELLS +: VIRTUAL] : firsts[VIRTUAL*WAKES +: VIRTUAL]) :
        choice[0] ? scan : firsts[VIRTUAL*TURNS +: VIRTUAL];
    assign vl = choice[2] ? high : low;
    wire [3:0] taken = {choice == SETTLE, choice == WAKE, choice == TELL, choice == TALK} & {4{takes}};
    net_vl_queues #(.VIRTUAL(VIRTUAL), .DELAY(ACK_DELAY)) u_queues (
        .clk(clk), .rst(rst), .pace(pace), .put({to_settle, to_wake, to_tell, to_turn}), .vl(of_vl), .valid(waits), .first(firsts),
        .take(taken)
    );

    wire [VIRTUAL-1:0] next = scan + {{VIRTUAL-1{1'b0}}, takes && choice == TIMES};
    always @(posedge clk) begin
        if (takes) begin
            host_last <= choice == HOST;
            if (choice == PUT || choice == TALK) {put_last, passed} <= {choice == PUT, 2'd0};
            else if (sends) passed <= passed + 2'd1;
            if (choice == TIMES) {scans, scan_due} <= {next != scan_end, 1'b0};
        end
        scan <= next;
        if (pace) scan_due <= 1'b1;
        if (tick) {scans, scan_end} <= {1'b1, next};
        if (rst) begin
            {scans, scan_due, put_last, host_last, passed} <= 6'd0;
            scan <= {VIRTUAL{1'b0}};
        end
    end
`ifdef FORMAL
`include "net_vl_next.formal.v"
`endif
endmodule
`resetall
