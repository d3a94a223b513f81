`default_nettype none
// Symbol splitter: takes the link state words out of the symbol stream and classifies what remains.
//
// Contract: every output is a one-clock pulse, registered, at most one of `sop eop data err` and of `word word_bad` a clock.
// A symbol shows on the outputs one clock after it was valid; a word two clocks after its last symbol, and only when its
// check, its kind and its reserved bits are good. IDLE is dropped wherever it stands. A K symbol inside a word ends the word
// as bad and then counts on its own, so that a damaged word never hides a frame delimiter.
//
// Source: doc/protocol.md, "Link state word".
module link_split (
    input  wire       clk,
    input  wire       rst,

    input  wire       rx_valid,
    input  wire [8:0] rx_sym,

    output reg        sop,
    output reg        eop,
    output reg        data,
    output reg        err,
    output reg  [7:0] byte_q,

    output reg        word,
    output reg        word_bad,
    output reg  [1:0] word_kind,
    output reg        word_stop,
    output reg  [7:0] word_n,
    output reg  [7:0] word_echo
);
`include "linkproto.vh"

    localparam [2:0] WORD_BYTES = `LP_WORD_SYMBOLS - 1;

    wire       is_k    = rx_sym[8];
    wire       is_idle = rx_sym == `LP_SYM_IDLE;
    wire       is_lsw  = rx_sym == `LP_SYM_LSW;
    wire       is_sop  = rx_sym == `LP_SYM_SOP;
    wire       is_eop  = rx_sym == `LP_SYM_EOP;

    reg  [2:0] left;        // bytes of the present word still to come
    reg        word_end;    // the word registers hold a whole word, `check` its remainder
    reg        reserved_set;
    wire       in_word  = left != 3'd0;
    wire       take     = rx_valid && !is_idle;
    wire       word_byte = take && !is_k && in_word;

    wire check_ok;
    wire [15:0] unused_crc;
    crc16_3740_byte u_crc (
        .clk(clk), .init(rx_valid && is_lsw), .en(word_byte), .shift(1'b0), .data(rx_sym[7:0]), .crc(unused_crc), .ok(check_ok)
    );

    always @(posedge clk) begin
        sop  <= take && is_sop;
        eop  <= take && is_eop;
        err  <= take && is_k && !is_sop && !is_eop && !is_lsw;
        data <= take && !is_k && !in_word;

        word_end <= word_byte && left == 3'd1;
        word     <= word_end && check_ok && !reserved_set;
        word_bad <= (word_end && (!check_ok || reserved_set)) || (take && is_k && in_word);

        if (take) begin
            if (is_lsw)       left <= WORD_BYTES;
            else if (is_k)    left <= 3'd0;
            else if (in_word) left <= left - 3'd1;
        end
        if (rst) begin
            left <= 3'd0;
            {sop, eop, err, data, word_end, word, word_bad} <= 7'd0;
        end
    end

    always @(posedge clk) begin
        byte_q <= rx_sym[7:0];
        if (word_byte)
            case (left)
                3'd5: begin
                    {word_kind, word_stop} <= rx_sym[7:5];
                    reserved_set <= rx_sym[4:0] != 5'd0 || rx_sym[7:6] > `LP_KIND_INIT;
                end
                3'd4: word_n    <= rx_sym[7:0];
                3'd3: word_echo <= rx_sym[7:0];
                default: ;
            endcase
    end
endmodule
`resetall
