// Wires from a master (h_) to a device (d_) and back through registers, for the tests of both. Broken chooses a violation of the rules.
module spi_through (
    input  wire       clk,
    input  wire       rst,
    input  wire [2:0] broken,
    input  wire       h_sclk, h_cs_n, h_mosi, h_io1_i, h_io2_i, h_io3_i,
    output reg        h_io0_o, h_miso, h_io2_o, h_io3_o,
    output reg        d_sclk, d_cs_n, d_mosi, d_io1_o, d_io2_o, d_io3_o,
    output wire       d_io1_oe,
    input  wire       d_io0_i, d_miso, d_io2_i, d_io3_i
);
    reg [3:0] late;   // MOSI of the clocks before
    reg [3:0] periods;
    assign d_io1_oe = broken == 3'd4;
    always @(posedge clk) begin
        late    <= {late[2:0], h_mosi};
        periods <= h_cs_n ? 4'd0 : periods + {3'd0, h_sclk && !d_sclk};
        d_sclk  <= h_sclk ^ (broken == 3'd1);
        d_cs_n  <= rst || h_cs_n || (broken == 3'd2 && periods > 4'd3);
        {d_mosi, d_io1_o, d_io2_o, d_io3_o} <= {broken == 3'd3 ? late[3] : h_mosi, h_io1_i, h_io2_i, h_io3_i};
        {h_io0_o, h_miso, h_io2_o, h_io3_o} <= {d_io0_i, d_miso, d_io2_i, d_io3_i};
    end
endmodule
