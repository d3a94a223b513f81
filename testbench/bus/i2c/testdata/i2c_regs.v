// An I2C target for the tests of the models: 16 registers behind a pointer, which the first byte of a write sets; a write beyond the last is not
// acknowledged. It stretches the clock before it acknowledges. Its address has 7 bits, the low ones, or 10 with ten. With push it drives SDA to 1 as well.
module i2c_regs #(
    parameter [9:0] ADDRESS = 10'h242
) (
    input  wire clk,
    input  wire rst,
    input  wire ten,
    input  wire push,
    input  wire scl_i,
    output wire scl_oe,
    input  wire sda_i,
    output wire sda_o,
    output wire sda_oe
);
    localparam [2:0] IDLE = 0, TO_US = 1, POINTER = 2, DATA = 3, LOW = 4;
    reg        scl, sda, pull, reading, whole;
    reg [2:0]  state;
    reg [3:0]  bits;
    reg [7:0]  shift;
    reg [4:0]  pointer;
    reg [7:0]  store [0:15];
    reg [3:0]  slow;
    wire start = scl && scl_i && sda && !sda_i;
    wire stop  = scl && scl_i && !sda && sda_i;
    wire rise  = !scl && scl_i;
    wire fall  = scl && !scl_i;
    wire mine  = ten ? shift[7:1] == {5'b11110, ADDRESS[9:8]} && (!shift[0] || whole) : shift[7:1] == ADDRESS[6:0];
    assign sda_o  = !pull;
    assign sda_oe = pull || push;
    assign scl_oe = slow != 4'd0;

    always @(posedge clk) begin
        {scl, sda} <= {scl_i, sda_i};
        if (slow != 4'd0) slow <= slow - 4'd1;
        if (start) begin
            state   <= TO_US;
            bits    <= 4'd0;
            reading <= 1'b0;
            pull    <= 1'b0;
        end else if (stop) begin
            state <= IDLE;
            pull  <= 1'b0;
            whole <= 1'b0;
        end else if (state != IDLE && rise) begin
            bits <= bits + 4'd1;
            if (bits != 4'd8) shift <= {shift[6:0], sda_i};
            else if (reading && sda_i) state <= IDLE;
        end else if (state != IDLE && fall && bits == 4'd8) begin
            slow <= 4'd9;
            pull <= !reading;
            case (state)
                TO_US: begin
                    reading <= shift[0];
                    pull    <= mine;
                    if (!mine) {state, whole} <= {IDLE, 1'b0};
                end
                LOW: begin
                    whole <= shift == ADDRESS[7:0];
                    pull  <= shift == ADDRESS[7:0];
                    if (shift != ADDRESS[7:0]) state <= IDLE;
                end
                POINTER: pointer <= shift[4:0];
                default: if (!reading) begin
                    if (!pointer[4]) store[pointer[3:0]] <= shift;
                    pull    <= !pointer[4];
                    pointer <= pointer + 5'd1;
                end
            endcase
        end else if (state != IDLE && fall && bits == 4'd9) begin
            bits  <= 4'd0;
            state <= state == TO_US && !reading ? (ten ? LOW : POINTER) : state == LOW ? POINTER : DATA;
            pull  <= 1'b0;
            if (reading) begin
                shift   <= store[pointer[3:0]];
                pull    <= !store[pointer[3:0]][7];
                pointer <= pointer + 5'd1;
            end
        end else if (state == DATA && reading && fall) pull <= !shift[7];
        if (rst) begin
            state      <= IDLE;
            {scl, sda} <= 2'b11;
            pull       <= 1'b0;
            slow       <= 4'd0;
            whole      <= 1'b0;
        end
    end
endmodule
