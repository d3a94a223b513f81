// MDC and MDIO through registers, for tests in which a model is a station. Broken chooses a violation of the rules.
module mdio_pins (
    input  wire       clk,
    input  wire       rst,
    input  wire [2:0] broken,
    input  wire       h_mdc,
    input  wire       h_mdio_i,
    output reg        h_mdio_o,
    output reg        d_mdc,
    output wire       d_mdio_o,
    output reg        d_mdio_t,
    input  wire       d_mdio_i
);
    reg [4:0] late;
    reg       out, reading;
    reg [5:0] bits;
    assign d_mdio_o = broken == 3'd1 ? late[4] : out;
    always @(posedge clk) begin
        late     <= {late[3:0], h_mdio_i};
        out      <= h_mdio_i;
        d_mdc    <= h_mdc;
        h_mdio_o <= d_mdio_i;
        if (h_mdc && !d_mdc) begin
            bits <= bits == 6'd0 && h_mdio_i ? 6'd0 : bits + 6'd1;
            if (bits == 6'd2) reading <= h_mdio_i;
            if (bits == 6'd32) bits <= 6'd0;
        end
        if (!h_mdc && d_mdc) d_mdio_t <= bits >= 6'd14 && bits != 6'd32 && reading && broken != 3'd2 && !(broken == 3'd3 && bits > 6'd20);
        if (rst) {d_mdc, d_mdio_t, bits} <= 8'd0;
    end
endmodule
