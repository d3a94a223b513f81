`default_nettype none
// Receive buffer: dual-port block RAM, the links write one port, the host reads the other.
//
// Contract:
//   w_*: WRITERS sources of masked words of WORD bytes; each holds its word until w_take, one clock. A bank takes one word a clock, of each
//   source at most one in two clocks, round robin. BANKS 2: even words are in one bank and odd ones in the other, so that twice as many are
//   written. PROMPT 1: of a source one a clock, the word going in the clock in which its turn comes. A word is in the memory
//   from the clock after w_take.
//   rd_data: the word at rd_addr, one clock after rd_en; it stays until the next rd_en. rd_clash, in the clock after rd_en only: the word
//   was written in the clock of rd_en and rd_data is undefined; read again.
//
// Source: LMMC's receive buffer. iCE40 block RAM has one write port, hence the arbiter.
module ni_buffer #(
    parameter WRITERS = 2,
    parameter WORDS   = 1024,
    parameter BANKS   = 1,
    parameter WORD    = 4,
    parameter PROMPT  = 0
) (
    input  wire                             clk,
    input  wire                             rst,

    input  wire [WRITERS-1:0]               w_valid,
    output wire [WRITERS-1:0]               w_take,
    input  wire [WRITERS*$clog2(WORDS)-1:0] w_addr,
    input  wire [WRITERS*8*WORD-1:0]        w_data,
    input  wire [WRITERS*WORD-1:0]          w_mask,

    input  wire                             rd_en,
    input  wire [$clog2(WORDS)-1:0]         rd_addr,
    output wire [8*WORD-1:0]                rd_data,
    output wire                             rd_clash
);
    localparam AW = $clog2(WORDS);
    localparam IW = WRITERS > 1 ? $clog2(WRITERS) : 1;
    localparam BW = BANKS == 2 ? 1 : 0;         // bits of the address that name the bank
    localparam PAIRS = (AW + 1) / 2;
    generate
        if (BANKS != 1 && BANKS != 2) error_banks_must_be_1_or_2 u_check_banks ();
    endgenerate

    // Of each bank, that of even words lowest.
    wire [WRITERS*BANKS-1:0] takes;
    wire [8*WORD*BANKS-1:0]  words;
    wire [BANKS-1:0]         clashes;
    reg                      odd;               // rd_data is of an odd word
    always @(posedge clk) if (rd_en) odd <= rd_addr[0];
    assign w_take   = takes[WRITERS-1:0] | takes[WRITERS*(BANKS-1) +: WRITERS];
    assign rd_data  = BANKS == 2 && odd ? words[8*WORD*(BANKS-1) +: 8*WORD] : words[8*WORD-1:0];
    assign rd_clash = clashes != {BANKS{1'b0}};

    genvar b, w;
    generate
        for (b = 0; b < BANKS; b = b + 1) begin : g_bank
            wire [WRITERS-1:0] request;
            for (w = 0; w < WRITERS; w = w + 1) begin : g_writer
                assign request[w] = w_valid[w] && (BANKS == 1 || w_addr[AW*w] == b);
            end
            wire [IW-1:0] from;
            wire          write   = takes[WRITERS*b +: WRITERS] != 0;
            wire [AW-1:0] wr_addr = w_addr[AW*from +: AW];
            if (PROMPT == 0) begin : g_arbiter
                arbiter_rr #(.N(WRITERS)) u_arbiter (
                    .clk(clk), .rst(rst), .request(request), .last(1'b1), .grant(takes[WRITERS*b +: WRITERS]), .index(from)
                );
            end else begin : g_prompt
                // The first one behind that which came last, in the same clock.
                reg  [IW-1:0] latest, first;
                integer s;
                always @* begin
                    first = {IW{1'b0}};
                    for (s = WRITERS - 1; s >= 0; s = s - 1) if (request[s]) first = s[IW-1:0];
                    for (s = WRITERS - 1; s >= 0; s = s - 1) if (request[s] && s[IW-1:0] > latest) first = s[IW-1:0];
                end
                assign from = first;
                assign takes[WRITERS*b +: WRITERS] = request & ({{WRITERS-1{1'b0}}, 1'b1} << first);
                always @(posedge clk)
                    if (rst)                latest <= {IW{1'b0}};
                    else if (request != 0)  latest <= first;
            end
            ram_sdp #(.WIDTH(8 * WORD), .DEPTH(WORDS / BANKS), .WORD_BYTES(WORD)) u_ram (
                .clk(clk),
                .wr_en(write ? w_mask[WORD*from +: WORD] : {WORD{1'b0}}), .wr_addr(wr_addr[AW-1:BW]),
                .wr_data(w_data[8*WORD*from +: 8*WORD]),
                .rd_en(rd_en), .rd_addr(rd_addr[AW-1:BW]), .rd_data(words[8*WORD*b +: 8*WORD])
            );

            // Two bits of the addresses are compared at a time, and the rest a clock later.
            wire [2*PAIRS-1:0] differ = {{(2*PAIRS - AW){1'b0}}, wr_addr ^ rd_addr};
            reg                both;
            reg  [PAIRS-1:0]   apart;
            integer k;
            always @(posedge clk) begin
                both <= write && rd_en && !rst;
                for (k = 0; k < PAIRS; k = k + 1) apart[k] <= differ[2*k +: 2] != 2'd0;
            end
            assign clashes[b] = both && apart == {PAIRS{1'b0}};
        end
    endgenerate
endmodule
`resetall
