`default_nettype none
// Receive buffer: dual-port block RAM, the links write one port, the host reads the other.
//
// Contract:
//   w_*: WRITERS sources of masked 32-bit words; each holds its word until w_take, one clock. One word a clock in all, at most one in two
//   clocks a source, round robin. A word is in the memory from the clock after w_take.
//   rd_data: the word at rd_addr, one clock after rd_en; it stays until the next rd_en. rd_clash, two clocks after rd_en, for one clock:
//   the word was written in the clock of rd_en and rd_data is undefined; read again.
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
    output reg                              rd_clash
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

    reg          both;
    reg [AW-1:0] wr_addr_q, rd_addr_q;
    always @(posedge clk) begin
        both      <= write && rd_en && !rst;
        rd_clash  <= both && wr_addr_q == rd_addr_q;
        wr_addr_q <= wr_addr;
        rd_addr_q <= rd_addr;
    end
endmodule
`resetall
