`default_nettype none
// Two buses with inout ports; for the tests of such ports.

// Sends a byte over open-drain lines as I2C does, most significant bit first, and takes the acknowledgement: a clock of four phases a bit.
module open_drain (
    input  wire       clk,
    input  wire       rst,
    input  wire [7:0] data,
    inout  wire       scl,
    inout  wire       sda,
    output reg        done,
    output reg        acked
);
    reg [5:0] phase;
    reg [8:0] shift;
    wire      low = phase[1:0] == 0 || phase[1:0] == 3;  // scl
    assign scl = low && !done ? 1'b0 : 1'bz;
    assign sda = !shift[8] && !done ? 1'b0 : 1'bz;
    always @(posedge clk) begin
        if (rst) begin
            phase <= 0;
            shift <= {data, 1'b1};
            done  <= 0;
        end else if (!done && !(phase[1:0] == 2 && !scl)) begin  // a slave may stretch the clock
            phase <= phase + 1;
            if (phase[1:0] == 2 && phase[5:2] == 8) acked <= !sda;
            if (phase[1:0] == 3) begin
                shift <= {shift[7:0], 1'b1};
                done  <= phase[5:2] == 8;
            end
        end
    end
endmodule

module memory_pins (
    input  wire       drive,
    input  wire [7:0] value,
    inout  wire [7:0] io
);
    assign io = drive ? value : 8'hzz;
endmodule

// Copies bytes of a memory at its pins: reads address n, writes it to n + HALF.
module memory_bus #(
    parameter HALF = 8
) (
    input  wire       clk,
    input  wire       rst,
    output wire [4:0] addr,
    output wire       write,
    inout  wire [7:0] dq
);
    reg [5:0] step;
    reg [7:0] held;
    assign write = step[0];
    assign addr  = {1'b0, step[4:1]} + (write ? HALF[4:0] : 5'd0);
    memory_pins u_pins (.drive(write), .value(held), .io(dq));
    always @(posedge clk) begin
        if (rst) step <= 0;
        else if (!step[5]) step <= step + 1;
        if (!write) held <= dq;
    end
endmodule
`resetall
