`default_nettype none
// Receive buffer: dual-port block RAM, the links write one port, the host reads the other.
//
// Contract:
//   w_*: WRITERS sources of masked 32-bit words; each holds its word until w_take, one clock. One word a clock in all, at most one in two
//   clocks a source, round robin. A word is in the memory from the clock after w_take.
//   rd_data: the word at rd_addr, one clock after rd_en; it stays until the next rd_en. rd_clash, in the clock after rd_en only: the word
//   was written in the clock of rd_en and rd_data is undefined; read again.
//
// Source: LMMC's receive buffer. iCE40 block RAM has one write port, hence the arbiter.
module ni_buffer #(
    parameter WRITERS = 2,
    parameter WORDS   = 1024
) (
    input  wire                             clk,
    input  wire                             rst,

    input  wire [WRITERS-1:0]               w_valid,
    output wire [WRITERS-1:0]               w_take,
    input  wire [WRITERS*$clog2(WORDS)-1:0] w_addr,
    input  wire [WRITERS*32-1:0]            w_data,
    input  wire [WRITERS*4-1:0]             w_mask,

    input  wire                             rd_en,
    input  wire [$clog2(WORDS)-1:0]         rd_addr,
    output wire [31:0]                      rd_data,
    output wire                             rd_clash
);
    localparam AW = $clog2(WORDS);
    localparam IW = WRITERS > 1 ? $clog2(WRITERS) : 1;

    wire [IW-1:0] from;
    wire          write   = w_take != 0;
    wire [AW-1:0] wr_addr = w_addr[AW*from +: AW];
    arbiter_rr #(.N(WRITERS)) u_arbiter (
        .clk(clk), .rst(rst), .request(w_valid), .last(1'b1), .grant(w_take), .index(from)
    );
    ram_sdp #(.WIDTH(32), .DEPTH(WORDS), .WORD_BYTES(4)) u_ram (
        .clk(clk),
        .wr_en(write ? w_mask[4*from +: 4] : 4'd0), .wr_addr(wr_addr), .wr_data(w_data[32*from +: 32]),
        .rd_en(rd_en), .rd_addr(rd_addr), .rd_data(rd_data)
    );

    // Two bits of the addresses are compared at a time, and the rest a clock later.
    localparam PAIRS = (AW + 1) / 2;
    wire [2*PAIRS-1:0] differ = {{(2*PAIRS - AW){1'b0}}, wr_addr ^ rd_addr};
    reg                both;
    reg  [PAIRS-1:0]   apart;
    integer k;
    always @(posedge clk) begin
        both <= write && rd_en && !rst;
        for (k = 0; k < PAIRS; k = k + 1) apart[k] <= differ[2*k +: 2] != 2'd0;
    end
    assign rd_clash = both && apart == {PAIRS{1'b0}};
endmodule
`resetall
