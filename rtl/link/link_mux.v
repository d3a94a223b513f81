`default_nettype none
// Symbol multiplexer: merges link state words and frame symbols into one stream, and decides when a word is due.
//
// Contract:
//   A word is sent at once when the state, the kind or the stop bit differs from the last word sent, or on `answer`; when only
//   `expected` has moved: at once if no frame symbol is waiting, else ACK_DELAY symbol times after the last word; ACK_DELAY after the
//   last word too if that was no ACK; and WORD_TIMER symbol times after the last word in any case. It stands between any two symbols, also
//   inside a frame; its content is latched at LSW.
//   Frame symbols pass only while `up` and not `peer_stop`: after peer_stop rises at most one more leaves (the output register).
//   `tick` is high one clock a symbol time. tx_sym holds until tx_ready.
//
// Source: doc/protocol.md, "When a word is sent".
module link_mux #(
    parameter ACK_DELAY  = 512,
    parameter WORD_TIMER = 4096
) (
    input  wire       clk,
    input  wire       rst,
    input  wire       tick,

    input  wire       up,
    input  wire [7:0] epoch,
    input  wire [7:0] peer_epoch,
    input  wire [7:0] expected,
    input  wire       lost,
    input  wire       stop,
    input  wire       answer,
    input  wire       peer_stop,

    input  wire       f_valid,
    input  wire [8:0] f_sym,
    output wire       f_take,

    output reg  [8:0] tx_sym,
    input  wire       tx_ready
);
`include "linkproto.vh"

    localparam AGEW = $clog2(WORD_TIMER + 1);
    localparam [2:0] PAUSE = 3'd0, B0 = 3'd1, B1 = 3'd2, CHECK_HI = 3'd4, CHECK_LO = 3'd5;   // B2 is between

    // What a word would say now, what the last one said, and whether the difference makes a new one due.
    wire [1:0] kind = !up ? `LP_KIND_INIT : lost ? `LP_KIND_LOST : `LP_KIND_ACK;
    wire [7:0] n    = up ? expected : epoch;
    reg  [1:0] said_kind;
    reg        said_stop;
    reg  [7:0] said_n, said_echo;
    reg        asked, urgent, moved, old, due;
    reg  [AGEW-1:0] age;
    reg  [2:0] step;
    wire       waiting  = f_valid && up && !peer_stop;
    reg        want;
    wire       starting = tx_ready && step == PAUSE && want;

    wire       late, latest;
    at_least #(.WIDTH(AGEW), .LIMIT(ACK_DELAY))  u_late (.x(age), .y(late));
    at_least #(.WIDTH(AGEW), .LIMIT(WORD_TIMER)) u_latest (.x(age), .y(latest));
    always @(posedge clk) begin
        urgent <= asked || kind != said_kind || stop != said_stop || peer_epoch != said_echo || (!up && n != said_n);
        moved  <= n != said_n;
        old    <= late;
        due    <= latest || (old && said_kind != `LP_KIND_ACK);
        want   <= urgent || due || (moved && (old || !waiting));

        age    <= starting ? {AGEW{1'b0}} : age + {{AGEW-1{1'b0}}, tick && !latest};
        if (answer || rst) asked <= 1'b1;
        else if (starting) asked <= 1'b0;
        if (starting) begin
            said_kind <= kind;
            said_stop <= stop;
            said_n    <= n;
            said_echo <= peer_epoch;
        end
    end

    wire [7:0]  word_byte = step == B0 ? {said_kind, said_stop, 5'd0} : step == B1 ? said_n : said_echo;
    wire        checking  = step == CHECK_HI || step == CHECK_LO;
    wire [7:0]  check_byte;
    wire [7:0]  unused_check;
    wire        unused_ok;
    crc16_3740_byte u_crc (
        .clk(clk), .init(starting), .en(tx_ready && step != PAUSE), .shift(checking), .data(word_byte),
        .crc({check_byte, unused_check}), .ok(unused_ok)
    );

    assign f_take = tx_ready && step == PAUSE && !want && waiting;
    always @(posedge clk)
        if (rst) begin
            step   <= PAUSE;
            tx_sym <= `LP_SYM_IDLE;
        end else if (tx_ready) begin
            if (step == PAUSE) begin
                step   <= want ? B0 : PAUSE;
                tx_sym <= want ? `LP_SYM_LSW : waiting ? f_sym : `LP_SYM_IDLE;
            end else begin
                step   <= step == CHECK_LO ? PAUSE : step + 3'd1;
                tx_sym <= {1'b0, checking ? check_byte : word_byte};
            end
        end
endmodule
`resetall
