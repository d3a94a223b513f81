`default_nettype none
// A timer with registers on an APB: CTRL (0: bit 0 run, bit 1 interrupts), PERIOD (4), COUNT (8, read only), STATUS (12: bit 0 expired, cleared
// by writing 1). Other addresses answer with PSLVERR. COUNT runs from 0 to PERIOD and begins again.
module timer (
    input  wire        clk,
    input  wire        rst_n,

    input  wire        psel,
    input  wire        penable,
    input  wire        pwrite,
    input  wire [7:0]  paddr,
    input  wire [31:0] pwdata,
    output reg  [31:0] prdata,
    output wire        pready,
    output wire        pslverr,

    output wire        irq
);
    localparam [7:0] CTRL = 8'd0, PERIOD = 8'd4, COUNT = 8'd8, STATUS = 8'd12;

    reg         run, enable, expired;
    reg  [15:0] period, count;
    wire        write = psel && penable && pwrite;
    wire        ends  = run && count >= period;

    wire        unused = |pwdata[31:16];

    assign pready  = 1'b1;
    assign pslverr = psel && penable && (paddr > STATUS || paddr[1:0] != 2'd0 || (pwrite && paddr == COUNT));
    assign irq     = expired && enable;

    always @* case (paddr)
        CTRL:    prdata = {30'd0, enable, run};
        PERIOD:  prdata = {16'd0, period};
        COUNT:   prdata = {16'd0, count};
        STATUS:  prdata = {31'd0, expired};
        default: prdata = 32'd0;
    endcase

    always @(posedge clk) begin
        if (run) count <= ends ? 16'd0 : count + 16'd1;
        if (write && paddr == CTRL) {enable, run} <= pwdata[1:0];
        if (write && paddr == PERIOD) period <= pwdata[15:0];
        if (ends) expired <= 1'b1;                                           // wins over a clear in the same clock
        else if (write && paddr == STATUS && pwdata[0]) expired <= 1'b0;
        if (!rst_n) begin
            run     <= 1'b0;
            enable  <= 1'b0;
            expired <= 1'b0;
            period  <= 16'hFFFF;
            count   <= 16'd0;
        end
    end
endmodule
`resetall
