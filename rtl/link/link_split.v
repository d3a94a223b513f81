`default_nettype none
// Symbol splitter: takes the link state words out of the symbol stream and classifies what remains.
//
// Contract: every output but `barrier` is a one-clock pulse, registered, at most one of `sop eop aborted data err` and of `word init
// word_bad` a clock.
// A symbol shows on the outputs one clock after it was valid; a word two clocks after its last symbol, and only when its check, its key,
// its kind and its reserved bits are good. IDLE is dropped wherever it stands. A K symbol inside a word ends the word as bad and then
// counts on its own, so that a damaged word never hides a frame delimiter.
//   key: that of frames and words from the peer. A word of which a part came before `restart` (pulse, the clock behind a change of it) is
//   bad.
//   barrier (pulse, no register), BARRIER 1: a good BARRIER, with word_group and word_n, a clock before it would be a word. With BARRIER 0
//   any is bad.
//   i_*: bytes of words as they come, for link_peer, a clock after their symbol; init_bad is its verdict. `init`: they were a good INIT.
//
// Source: doc/protocol.md, "Link state word".
module link_split #(
    parameter BARRIER = 0
) (
    input  wire        clk,
    input  wire        rst,

    input  wire        rx_valid,
    input  wire [8:0]  rx_sym,
    input  wire [31:0] key,
    input  wire        restart,

    output reg         sop,
    output reg         eop,
    output reg         aborted,
    output reg         data,
    output reg         err,
    output reg  [7:0]  byte_q,

    output reg         word,
    output reg         init,
    output wire        barrier,
    output reg         word_bad,
    output reg         word_lost,
    output reg         word_stop,
    output reg  [7:0]  word_n,
    output reg  [4:0]  word_group,

    output reg         i_en,
    output reg  [3:0]  i_at,
    output wire [7:0]  i_byte,
    input  wire        init_bad
);
`include "linkproto.vh"

    localparam [3:0] WORD_LAST = `LP_WORD_SYMBOLS - 2, INIT_LAST = `LP_INIT_SYMBOLS - 2;

    wire       is_k    = rx_sym[8];
    wire       is_idle = rx_sym == `LP_SYM_IDLE;
    wire       is_lsw  = rx_sym == `LP_SYM_LSW;
    wire       is_sop  = rx_sym == `LP_SYM_SOP;
    wire       is_eop  = rx_sym == `LP_SYM_EOP;
    wire       is_abort = rx_sym == `LP_SYM_ABORT;

    reg        in_word;
    reg  [3:0] at;          // of the next byte of the word
    reg        is_init, is_barrier;     // from its first byte on
    reg        word_end;    // the word registers hold a whole word, `check` its remainder
    reg        wrong;       // key, kind, reserved bits, or a restart
    reg        first;       // it is b0
    reg        second;      // it is b1, of no INIT
    wire       take      = rx_valid && !is_idle;
    wire       word_byte = rx_valid && !is_k && in_word;
    wire       last      = at == (is_init ? INIT_LAST : WORD_LAST);
    assign     i_byte = byte_q;

    // The first two bytes are combined with the key, but for an INIT's; the next two are the key's other half, compared a clock late.
    wire [7:0]  key_byte = second ? key[15:8] : key[7:0];
    wire        sealed   = second || (first && rx_sym[7:6] != `LP_KIND_INIT);
    reg         told_key, told_high;    // byte_q is of the key's other half, and its higher byte
    wire        check_ok;
    wire [15:0] unused_crc;
    crc16_3740_byte u_crc (
        .clk(clk), .init(take && is_k), .en(word_byte), .shift(1'b0), .data(rx_sym[7:0] ^ (key_byte & {8{sealed}})),
        .crc(unused_crc), .ok(check_ok)
    );

    wire good = check_ok && !wrong && !restart && !(is_init && init_bad);
    assign barrier = word_end && good && is_barrier;
    always @(posedge clk) begin
        sop  <= take && is_sop;
        eop  <= take && is_eop;
        aborted <= take && is_abort;
        err  <= take && is_k && !is_sop && !is_eop && !is_abort && !is_lsw;
        data <= rx_valid && !is_k && !in_word;

        word_end <= word_byte && last;
        word     <= word_end && good && !is_init && !is_barrier;
        init     <= word_end && good && is_init;
        word_bad <= (word_end && !good) || (take && is_k && in_word);
        i_en     <= word_byte && (first || is_init);
        i_at     <= at;

        if (take) begin
            if (is_k)                                 in_word <= is_lsw;
            else if (in_word && last)                  in_word <= 1'b0;
            at     <= is_lsw ? 4'd0 : at + {3'd0, in_word};
            first  <= is_lsw;
            second <= word_byte && first && rx_sym[7:6] != `LP_KIND_INIT;
        end
        if (rst) begin
            in_word <= 1'b0;
            {sop, eop, aborted, err, data, word_end, word, init, word_bad, i_en} <= 10'd0;
        end
    end

    always @(posedge clk) begin
        byte_q <= rx_sym[7:0];
        if (word_byte && first) begin
            is_init   <= rx_sym[7:6] == `LP_KIND_INIT;
            word_lost <= rx_sym[6];
            word_stop <= rx_sym[`LP_WORD_STOP_BIT];
            is_barrier <= BARRIER != 0 && rx_sym[7:6] == `LP_KIND_BARRIER;
            wrong     <= rx_sym[7:6] == `LP_KIND_BARRIER ? BARRIER == 0 || rx_sym[`LP_WORD_STOP_BIT]
                : (rx_sym[7:0] & `LP_WORD_RESERVED) != 8'd0;
            word_group <= rx_sym[4:0];
        end
        if (word_byte && at == 4'd1) word_n <= rx_sym[7:0];
        told_key  <= word_byte && !is_init && at[3:1] == 3'd1;
        told_high <= at[0];
        if (told_key && byte_q != (told_high ? key[31:24] : key[23:16])) wrong <= 1'b1;
        if (restart && in_word) wrong <= 1'b1;
    end
endmodule
`resetall
