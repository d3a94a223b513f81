// An SPI master for the tests of the models: it exchanges words of 16 bits in any mode, four clocks a bit. A word begins with start.
module spi_master (
    input  wire        clk,
    input  wire        rst,
    input  wire [1:0]  mode,
    input  wire        start,
    input  wire [15:0] out,
    output reg  [15:0] in,
    output reg         done,
    output reg         sclk,
    output reg         mosi,
    input  wire        miso,
    output reg         cs_n
);
    reg [6:0]  clocks;   // of a word
    reg [15:0] shift;
    wire [1:0] quarter = clocks[1:0];
    wire       last = clocks == 7'd67;
    always @(posedge clk) begin
        done <= 1'b0;
        if (cs_n) begin
            clocks <= 7'd0;
            shift  <= mode[0] ? out : {out[14:0], 1'b0};
            sclk   <= mode[1];
            cs_n   <= !start;
            if (!mode[0]) mosi <= out[15];
        end else begin
            clocks <= clocks + 7'd1;
            if (clocks < 7'd64 && quarter == 2'd1) begin         // first edge of a bit
                sclk <= !mode[1];
                if (mode[0]) {mosi, shift} <= {shift, 1'b0};
                else in <= {in[14:0], miso};
            end
            if (clocks < 7'd64 && quarter == 2'd3) begin         // second edge
                sclk <= mode[1];
                if (mode[0]) in <= {in[14:0], miso};
                else {mosi, shift} <= {shift, 1'b0};
            end
            done <= last;
            cs_n <= last;
        end
        if (rst) {cs_n, sclk, done} <= {1'b1, mode[1], 1'b0};
    end
endmodule
