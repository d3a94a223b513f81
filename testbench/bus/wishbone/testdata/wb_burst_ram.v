// A RAM of 256 words on Wishbone B4 with registered feedback (chapter 4), for the tests of the models: a word each clock in bursts, with pauses.
// With broken it acknowledges once more after the end of a burst.
module wb_burst_ram (
    input  wire        clk,
    input  wire        rst,
    input  wire        hold,
    input  wire        broken,
    input  wire        wb_cyc,
    input  wire        wb_stb,
    input  wire        wb_we,
    input  wire [7:0]  wb_adr,
    input  wire [31:0] wb_dat_i,
    input  wire [3:0]  wb_sel,
    input  wire [2:0]  wb_cti,
    input  wire [1:0]  wb_bte,
    output reg         wb_ack,
    output reg  [31:0] wb_dat_o
);
    reg [31:0] store [0:255];
    reg [7:0]  random, expected;
    reg        burst;

    wire       done = wb_cyc && wb_stb && wb_ack;
    wire       more = wb_cti == 3'd1 || wb_cti == 3'd2;
    wire [7:0] mask = wb_bte == 2'd0 ? 8'hFF : (8'd2 << wb_bte) - 8'd1;
    wire [7:0] next = wb_cti == 3'd1 ? wb_adr : (wb_adr & ~mask) | ((wb_adr + 8'd1) & mask);
    wire [7:0] look = done ? next : burst ? expected : wb_adr;

    integer i;
    always @(posedge clk) begin
        random   <= {random[6:0], random[7] ^ random[5] ^ random[4] ^ random[3]};
        wb_dat_o <= store[look];
        wb_ack   <= wb_cyc && !(hold && random[0] && random[3]) && (done ? more || broken : burst || (wb_stb && !wb_ack));
        if (done) begin
            burst    <= more;
            expected <= next;
            for (i = 0; i < 4; i = i + 1)
                if (wb_we && wb_sel[i]) store[wb_adr][8*i +: 8] <= wb_dat_i[8*i +: 8];
        end
        if (rst || !wb_cyc) {burst, wb_ack} <= 2'b00;
        if (rst) random <= 8'd1;
    end
endmodule
