`default_nettype none
// Registers with a field of every access type, for tests of models of them. BUG plants a mistake.
module every #(
    parameter BUG = 0
) (
    input  wire        clk,
    input  wire        rst,

    input  wire        sel,
    input  wire        write,
    input  wire [5:0]  addr,
    input  wire [31:0] wdata,
    output reg  [31:0] rdata,

    input  wire [3:0]  raise,  // sources of interrupts
    output wire        irq
);
    reg        enable;
    reg [1:0]  mode;
    reg [7:0]  key;
    reg [31:0] flags;
    reg [23:0] more;
    reg [31:0] clears;
    reg [31:0] count;
    reg [3:0]  pending, mask;
    reg [31:0] table_words [0:3];

    wire       w = sel && write, r = sel && !write;
    wire       unused = ^{key, addr[1:0]};

    assign irq = |(pending & mask);

    always @* case (addr[5:2])
        4'd0: rdata = {26'd0, mode, 3'd0, enable};
        4'd1: rdata = flags;
        4'd2: rdata = {8'd0, more};
        4'd3: rdata = clears;
        4'd4: rdata = 32'h00C0_FFEE;
        4'd5: rdata = count;
        4'd6: rdata = {28'd0, pending};
        4'd7: rdata = {28'd0, mask};
        4'd8, 4'd9, 4'd10, 4'd11: rdata = table_words[addr[3:2]];
        default: rdata = 32'd0;
    endcase

    integer i;
    always @(posedge clk) begin
        count   <= count + 32'd1;
        pending <= pending | raise;
        if (w) case (addr[5:2])
            4'd0: begin
                enable <= wdata[0];
                if (BUG != 1 || wdata[0]) mode <= wdata[5:4];
                key    <= wdata[15:8];
            end
            4'd1: flags <= {flags[31:24] & wdata[31:24], flags[23:16] ^ wdata[23:16], flags[15:8] | wdata[15:8],
                            BUG == 2 ? wdata[7:0] : flags[7:0] & ~wdata[7:0]};
            4'd2: more <= {8'hFF, 8'h00, more[7:0] | ~wdata[7:0]};
            4'd3: clears[31:16] <= wdata[31:16];
            4'd6: pending <= pending & ~wdata[3:0] | raise;
            4'd7: mask <= wdata[3:0];
            4'd8, 4'd9, 4'd10, 4'd11: table_words[BUG == 3 ? {1'b0, addr[2]} : addr[3:2]] <= wdata;
            default: ;
        endcase
        if (r && addr[5:2] == 4'd3) begin
            if (BUG != 4) clears[7:0] <= 8'h00;
            clears[15:8]  <= 8'hFF;
            clears[23:16] <= 8'h00;
            clears[31:24] <= 8'hFF;
        end
        if (rst) begin
            enable  <= 1'b0;
            mode    <= BUG == 5 ? 2'd0 : 2'd1;
            key     <= 8'd0;
            flags   <= 32'hA5A5_A5A5;
            more    <= 24'h11_22_33;
            clears  <= 32'h4433_2211;
            count   <= 32'd0;
            pending <= 4'd0;
            mask    <= 4'd0;
            for (i = 0; i < 4; i = i + 1) table_words[i] <= 32'd0;
        end
    end
endmodule
`resetall
