`default_nettype none
// Memory of bytes: up to WIDTH of them are written in a clock, at any address, and one or WIDTH are read.
//
// Contract:
//   Byte i of wr_data goes to address wr_addr + i, modulo DEPTH, if wr_en[i].
//   Byte i of rd_data is that at rd_addr + i, modulo DEPTH. When it shows, and what of it is undefined: as ram_sdp's.
module ram_bytes #(
    parameter WIDTH = 4,                // 1, or a power of two
    parameter DEPTH = 4096,             // a power of two
    parameter READ  = 1                 // bytes that are read, 1 or WIDTH
) (
    input  wire                     clk,
    input  wire [WIDTH-1:0]         wr_en,
    input  wire [$clog2(DEPTH)-1:0] wr_addr,
    input  wire [8*WIDTH-1:0]       wr_data,
    input  wire                     rd_en,
    input  wire [$clog2(DEPTH)-1:0] rd_addr,
    output wire [8*READ-1:0]        rd_data
);
    localparam AW = $clog2(DEPTH);
    genvar b;
    generate
        if (WIDTH == 1) begin : g_byte
            ram_sdp #(.WIDTH(8), .DEPTH(DEPTH)) u_ram (
                .clk(clk), .wr_en(wr_en), .wr_addr(wr_addr), .wr_data(wr_data), .rd_en(rd_en), .rd_addr(rd_addr), .rd_data(rd_data)
            );
        end else begin : g_beat
            // Byte i of a write lies in bank wr_addr + i; those that go round lie a row further.
            localparam LW = $clog2(WIDTH);
            localparam [AW-LW-1:0] ONE = 1;
            wire [LW-1:0]       turn = wr_addr[LW-1:0];
            wire [2*WIDTH-1:0]  en   = {{WIDTH{1'b0}}, wr_en} << turn;
            wire [16*WIDTH-1:0] data = {{8*WIDTH{1'b0}}, wr_data} << {turn, 3'd0};
            wire [AW-LW-1:0]    row  = wr_addr[AW-1:LW];
            wire [8*WIDTH-1:0]  banks;
            reg  [LW-1:0]       bank;
            wire [LW-1:0]       rd_turn = READ == 1 ? {LW{1'b0}} : rd_addr[LW-1:0];
            always @(posedge clk) if (rd_en) bank <= rd_addr[LW-1:0];
            if (READ == 1) begin : g_one
                assign rd_data = banks[8*bank +: 8];
            end else begin : g_all
                wire [16*WIDTH-1:0] twice = {banks, banks} >> {bank, 3'd0};
                wire                unused = ^twice[16*WIDTH-1:8*WIDTH];
                assign rd_data = twice[8*WIDTH-1:0];
            end
            for (b = 0; b < WIDTH; b = b + 1) begin : g_bank
                ram_sdp #(.WIDTH(8), .DEPTH(DEPTH / WIDTH)) u_ram (
                    .clk(clk), .wr_en(en[b] || en[WIDTH+b]), .wr_addr(b < turn ? row + ONE : row),
                    .wr_data(data[8*b +: 8] | data[8*(WIDTH+b) +: 8]),
                    .rd_en(rd_en), .rd_addr(b < rd_turn ? rd_addr[AW-1:LW] + ONE : rd_addr[AW-1:LW]),
                    .rd_data(banks[8*b +: 8])
                );
            end
        end
    endgenerate
endmodule
`resetall
