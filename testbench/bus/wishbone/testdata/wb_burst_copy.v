// A Wishbone B4 master with registered feedback (chapter 4) for the tests of the models: it reads a burst of each of four lines of 16 words, and
// writes what it has read, plus one, 128 words further on by a burst of the same kind. kind is 0 to 3 for an incrementing burst of that BTE, or 4 for a
// constant address. pause lets STB fall between words. broken chooses a violation of the rules (TestViolationsOfBursts).
module wb_burst_copy (
    input  wire        clk,
    input  wire        rst,
    input  wire [2:0]  kind,
    input  wire        pause,
    input  wire [3:0]  broken,
    output reg         cyc_o,
    output reg         stb_o,
    output reg         we_o,
    output reg  [7:0]  adr_o,
    output reg  [31:0] dat_o,
    output reg  [3:0]  sel_o,
    output reg  [2:0]  cti_o,
    output wire [1:0]  bte_o,
    input  wire        ack_i,
    input  wire        err_i,
    input  wire [31:0] dat_i,
    output reg         done
);
    reg [31:0] held [0:15];
    reg [6:0]  line;
    reg [3:0]  count;
    reg [7:0]  random;
    reg        turned;

    wire       constant = kind[2];
    wire       sent  = cyc_o && stb_o && (ack_i || err_i);
    wire [7:0] mask  = kind[1:0] == 2'd0 ? 8'hFF : (8'd2 << kind[1:0]) - 8'd1;
    wire [3:0] last  = constant ? 4'd7 : kind[1:0] == 2'd0 ? 4'd15 : mask[3:0];
    wire [7:0] next  = constant && broken != 4'd3 ? adr_o : (adr_o & ~mask) | ((adr_o + (broken == 4'd3 ? 8'd2 : 8'd1)) & mask);
    wire [3:0] after = count + 4'd1;
    wire [2:0] cycle = broken == 4'd6 ? 3'd3 : constant ? 3'd1 : 3'd2;
    assign bte_o = constant ? 2'd0 : kind[1:0] ^ {1'b0, turned};

    always @(posedge clk) begin
        random <= {random[6:0], random[7] ^ random[5] ^ random[4] ^ random[3]};
        if (!cyc_o && !done) begin
            {cyc_o, stb_o} <= 2'b11;
            count  <= 4'd0;
            adr_o  <= {we_o, line} + (kind == 3'd0 ? 8'd0 : 8'd5);
            dat_o  <= held[0];
            sel_o  <= 4'hF;
            cti_o  <= cycle;
            turned <= 1'b0;
        end else if (sent) begin
            if (!we_o) held[count] <= dat_i + 32'd1;
            count <= after;
            adr_o <= next;
            dat_o <= held[after];
            stb_o <= !(pause && random[0]);
            if (after == last && broken != 4'd1) cti_o <= 3'd7;
            if (count == last || (broken == 4'd8 && count == 4'd2)) begin
                {cyc_o, stb_o} <= 2'b00;
                we_o <= !we_o;
                if (we_o) begin
                    line <= line + 7'd16;
                    done <= line == 7'd48;
                end
            end
            if (count == 4'd1) begin
                if (broken == 4'd2) cti_o <= 3'd0;
                if (broken == 4'd4) we_o <= !we_o;
                if (broken == 4'd5) sel_o <= 4'h3;
                if (broken == 4'd7) turned <= 1'b1;
            end
        end else begin
            if (cyc_o && !stb_o) stb_o <= random[1];
            if (broken == 4'd9 && cyc_o && stb_o && random[0]) cti_o <= 3'd7;
        end
        if (rst) begin
            {cyc_o, stb_o, we_o, done} <= 4'd0;
            line   <= 7'd0;
            random <= 8'd1;
        end
    end
endmodule
