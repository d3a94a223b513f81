// A PHY of clause 22 at address ADDRESS with 32 registers, for the tests of the models. It samples MDC with its clock.
module mdio_regs #(
    parameter [4:0] ADDRESS = 5'd5
) (
    input  wire clk,
    input  wire rst,
    input  wire mdc,
    input  wire mdio_i,
    output reg  mdio_o,
    output reg  mdio_oe
);
    reg        was, reading;
    reg [5:0]  bits;
    reg [31:0] shift;
    reg [15:0] store [0:31];
    reg [15:0] send;
    wire        rise = mdc && !was;
    wire [31:0] now  = {shift[30:0], mdio_i};
    always @(posedge clk) begin
        was <= mdc;
        if (rise) begin
            shift <= now;
            if (bits != 6'd0 || !mdio_i) bits <= bits + 6'd1;
            if (bits == 6'd13) begin
                reading <= now[11:10] == 2'b10 && now[9:5] == ADDRESS;
                send    <= store[now[4:0]];
            end
            if (reading && bits == 6'd14) {mdio_oe, mdio_o} <= 2'b10;
            if (reading && bits > 6'd14) {mdio_o, send} <= {send, 1'b0};
            if (bits == 6'd31) begin
                bits <= 6'd0;
                if (now[31:28] == 4'b0101 && now[27:23] == ADDRESS) store[now[22:18]] <= now[15:0];
                {reading, mdio_oe} <= 2'b00;
            end
        end
        if (rst) {bits, mdio_oe, reading, was} <= 9'd0;
    end
endmodule
