// A RAM of 256 words on Wishbone B4 for the tests of the models. pipelined says which mode; it holds up the master at times, and answers an
// access to the last word with an error. broken chooses a violation of the rules (TestViolationsOfSlaves).
module wb_ram (
    input  wire        clk,
    input  wire        rst,
    input  wire        pipelined,
    input  wire [3:0]  broken,
    input  wire        wb_cyc,
    input  wire        wb_stb,
    input  wire        wb_we,
    input  wire [7:0]  wb_adr,
    input  wire [31:0] wb_dat_i,
    input  wire [3:0]  wb_sel,
    output wire        wb_stall,
    output wire        wb_ack,
    output wire        wb_err,
    output wire [31:0] wb_dat_o
);
    reg [31:0] store [0:255];
    reg [7:0]  random;
    reg        ack, err;
    reg [31:0] data;

    wire hold  = random[0] && random[3];
    wire take  = wb_cyc && wb_stb && !hold && (pipelined || !(wb_ack || wb_err));
    wire bad   = wb_adr == 8'hFF;
    wire stray = broken == 4'd1 ? !wb_cyc : broken == 4'd2 && wb_cyc && !wb_stb && !ack && !err;

    assign wb_stall = pipelined && hold;
    assign wb_ack   = (ack && wb_cyc) || (broken == 4'd3 && wb_err) || stray;
    assign wb_err   = err && wb_cyc;
    assign wb_dat_o = data;

    integer i;
    always @(posedge clk) begin
        random <= {random[6:0], random[7] ^ random[5] ^ random[4] ^ random[3]};
        ack    <= take && !bad;
        err    <= take && bad;
        data   <= store[wb_adr];
        for (i = 0; i < 4; i = i + 1)
            if (take && wb_we && wb_sel[i]) store[wb_adr][8*i +: 8] <= wb_dat_i[8*i +: 8];
        if (rst) begin
            random     <= 8'd1;
            {ack, err} <= 2'b00;
        end
    end
endmodule
