// An SPI device for the tests of the models, in any mode: it answers each byte with the one before it, plus one. It samples SCLK with its clock.
module spi_slave (
    input  wire       clk,
    input  wire       rst,
    input  wire [1:0] mode,
    input  wire       sclk,
    input  wire       cs_n,
    input  wire       mosi,
    output reg        miso
);
    reg       was;
    reg [2:0] bits;
    reg [7:0] in, out;
    wire      edge_  = sclk != was && !cs_n;
    wire      first  = sclk != mode[1];
    wire      sample = edge_ && first != mode[0];
    wire      put    = edge_ && first == mode[0];
    wire [7:0] now   = {in[6:0], mosi};
    always @(posedge clk) begin
        was <= sclk;
        if (cs_n) begin
            bits <= 3'd0;
            out  <= 8'h01;
            if (!mode[0]) miso <= 1'b0;
        end
        if (sample) begin
            in   <= now;
            bits <= bits + 3'd1;
            if (bits == 3'd7) out <= now + 8'd1;
        end
        if (put) miso <= out[3'd7 - bits];
        if (rst) was <= mode[1];
    end
endmodule
