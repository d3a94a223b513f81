`default_nettype none
// Symbol multiplexer: merges link state words and frame symbols into one stream, and decides when a word is due.
//
// Contract:
//   A word is sent at once when the state, the kind or the stop bit differs from the last word sent, or on `answer`; when only
//   `expected` has moved: at once if no frame symbol is waiting, else ACK_DELAY symbol times after the last word; ACK_DELAY after the
//   last word too if that was no ACK; and WORD_TIMER symbol times after the last word in any case; if EARLY, from half of them on while no
//   frame symbol is waiting. It stands between any two symbols, also inside a frame; its content is latched at LSW.
//   say, BARRIER 1: {valid, group, value} of a BARRIER, sent while `up` as soon as nothing else has to be sent at once; say_take (pulse):
//   it has been. It changes nothing about when other words are due. With several lanes `say` may go away before that; a word that has
//   begun is sent nevertheless.
//   `soon`: a packet is coming, and a word that may wait does as if its symbols did.
//   Frame symbols pass only while `up` and not `peer_stop`: after peer_stop rises at most one more leaves (the output register).
//   LANES, LANE: of the link, and which of them this is. With several, a word for what has arrived alone is sent on none of these terms but
//   while `untold`: at once if no frame symbol is waiting or `hurry`; `telling` pulses when a word says it.
//   `tick` is high one clock a symbol time. tx_sym holds until tx_ready.
//
// Source: doc/protocol.md, "When a word is sent".
module link_mux #(
    parameter PAGE_BYTES = 2048,
    parameter ROUTES     = 0,
    parameter ACK_DELAY  = 512,
    parameter WORD_TIMER = 4096,
    parameter EARLY      = 0,
    parameter LANES      = 1,
    parameter LANE       = 0,
    parameter BARRIER    = 0
) (
    input  wire       clk,
    input  wire       rst,
    input  wire       tick,

    input  wire       up,
    input  wire [31:0] own,
    input  wire [15:0] node,
    input  wire       known,
    input  wire [31:0] key,
    input  wire [7:0] expected,
    input  wire       lost,
    input  wire       stop,
    input  wire       answer,
    input  wire       soon,
    input  wire       peer_stop,
    input  wire       untold,
    input  wire       hurry,
    output wire       telling,
    input  wire [13:0] say,
    output wire       say_take,

    input  wire       f_valid,
    input  wire [8:0] f_sym,
    output wire       f_take,

    output reg  [8:0] tx_sym,
    input  wire       tx_ready
);
`include "linkproto.vh"

    localparam AGEW = $clog2(WORD_TIMER + 1);
    localparam [31:0] PAGE = $clog2(PAGE_BYTES);
    localparam [31:0] VERSION = `LP_VERSION;
    localparam [31:0] WHICH = LANES - 1 + (LANE << `LP_INIT_LANE_LSB);
    localparam [3:0]  PAUSE = 4'd15, KEY_END = 4'd3, CHECK_HI = `LP_INIT_CHECK, CHECK_LO = CHECK_HI + 4'd1;

    // What a word would say now, what the last one said, and whether the difference makes a new one due.
    reg  [1:0] said_kind;
    wire       said_init = said_kind == `LP_KIND_INIT;
    wire [1:0] kind = !up && !(known && said_init) ? `LP_KIND_INIT : lost ? `LP_KIND_LOST : `LP_KIND_ACK;
    reg        said_stop;
    reg  [7:0] said_n;
    reg        asked, urgent, moved, old, due, idle;
    reg  [AGEW-1:0] age;
    reg  [3:0] place;           // behind LSW, of the next byte; that of a check stands behind an INIT's other bytes
    wire [3:0] next = place + 4'd1;
    wire       waiting  = f_valid && up && !peer_stop;
    reg        want, said_barrier;
    reg  [7:0] value;           // of the BARRIER
    wire       says     = BARRIER != 0 && say[13] && up;
    wire       barrier  = says && !said_init && !urgent;    // what a word would be
    wire       wanted   = want || says;
    wire       starting = tx_ready && place == PAUSE && wanted;

    wire       late, half, latest;
    at_least #(.WIDTH(AGEW), .LIMIT(ACK_DELAY))  u_late (.x(age), .y(late));
    at_least #(.WIDTH(AGEW), .LIMIT(WORD_TIMER / 2)) u_half (.x(age), .y(half));
    at_least #(.WIDTH(AGEW), .LIMIT(WORD_TIMER)) u_latest (.x(age), .y(latest));
    always @(posedge clk) begin
        urgent <= asked || (up && kind != said_kind) || stop != said_stop;
        moved  <= up && (LANES == 1 ? expected != said_n : untold);
        old    <= late;
        due    <= latest || (old && (!up || said_kind != `LP_KIND_ACK));
        idle   <= EARLY != 0 && half && !starting;
        want   <= urgent || due || (moved && (LANES == 1 ? old : hurry)) || ((moved || idle) && !waiting && !soon);

        age    <= starting && !barrier ? {AGEW{1'b0}} : age + {{AGEW-1{1'b0}}, tick && !latest};
        if (answer || rst) asked <= 1'b1;
        else if (starting && !barrier) asked <= 1'b0;
        if (starting) {said_barrier, value} <= {barrier, say[7:0]};
        if (starting && !barrier) begin
            said_kind  <= kind;
            said_stop  <= stop;
            said_n     <= expected;
        end
    end

    // The next byte of the word is looked up while the one before it is sent.
    wire [7:0]  told_value = LANES == 1 ? say[7:0] : value;
    wire        checking = place == CHECK_HI || place == CHECK_LO;
    wire [7:0]  key_next = key[8*next[1:0] +: 8];
    reg  [7:0]  following;
    always @*
        case (place)
            PAUSE:                   following = barrier ? {`LP_KIND_BARRIER, 1'b0, say[12:8]} : {kind, stop, 5'd0};
            `LP_INIT_VERSION - 1:    following = said_barrier ? told_value : said_init ? VERSION[7:0] : said_n;
            `LP_INIT_NODE - 1:       following = said_init ? node[7:0] : key_next;
            `LP_INIT_NODE:           following = said_init ? node[15:8] : key_next;
            `LP_INIT_LIFE - 1:       following = own[7:0];
            `LP_INIT_LIFE:           following = own[15:8];
            `LP_INIT_LIFE + 1:       following = own[23:16];
            `LP_INIT_LIFE + 2:       following = own[31:24];
            `LP_INIT_PAGE - 1:       following = PAGE[7:0] | ROUTES[7:0] << `LP_INIT_ROUTES_BIT;
            default:                 following = WHICH[7:0];
        endcase
    wire        sealed = place == PAUSE ? kind != `LP_KIND_INIT : place == 4'd0 && !said_init;      // the byte that follows
    reg  [7:0]  word_byte, check_of;    // as it is sent, and as it is checked
    always @(posedge clk)
        if (tx_ready) begin
            word_byte <= following;
            check_of  <= following ^ (key_next & {8{sealed}});
        end
    wire [7:0]  check_byte;
    wire [7:0]  unused_check;
    wire        unused_ok;
    crc16_3740_byte u_crc (
        .clk(clk), .init(starting), .en(tx_ready && place != PAUSE), .shift(checking), .data(check_of),
        .crc({check_byte, unused_check}), .ok(unused_ok)
    );

    assign say_take = BARRIER != 0 && said_barrier && place == 4'd0 && tx_ready;
    assign telling = starting && !barrier && kind != `LP_KIND_INIT;
    assign f_take = tx_ready && place == PAUSE && !wanted && waiting;
    always @(posedge clk)
        if (rst) begin
            place  <= PAUSE;
            tx_sym <= `LP_SYM_IDLE;
        end else if (tx_ready) begin
            if (place == PAUSE) begin
                place  <= wanted ? 4'd0 : PAUSE;
                tx_sym <= wanted ? `LP_SYM_LSW : waiting ? f_sym : `LP_SYM_IDLE;
            end else begin
                place  <= place == CHECK_LO ? PAUSE : place == KEY_END && !said_init ? CHECK_HI : next;
                tx_sym <= {1'b0, checking ? check_byte : word_byte};
            end
        end
endmodule
`resetall
