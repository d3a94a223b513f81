// A Wishbone B4 master for the tests of the models: it copies COUNT words from FROM to TO and adds one to each. In pipelined mode it asks for
// up to eight words before the first has come. broken chooses a violation of the rules (TestViolationsOfMasters).
module wb_copy #(
    parameter COUNT = 32
) (
    input  wire        clk,
    input  wire        rst,
    input  wire        pipelined,
    input  wire [3:0]  broken,
    output reg         cyc_o,
    output reg         stb_o,
    output reg         we_o,
    output reg  [9:0]  adr_o,
    output reg  [31:0] dat_o,
    output wire [3:0]  sel_o,
    input  wire        stall_i,
    input  wire        ack_i,
    input  wire        err_i,
    input  wire [31:0] dat_i,
    output reg         done,
    output reg         failed
);
    localparam [9:0] TO = 10'd512;
    reg [31:0] held [0:7];
    reg [9:0]  base;
    reg [3:0]  asked, came;
    reg [5:0]  age;
    wire       term = ack_i || err_i;
    wire       sent = cyc_o && stb_o && (pipelined ? !stall_i : term);
    wire [3:0] next = asked + {3'd0, sent};
    wire [3:0] now  = came + {3'd0, cyc_o && term};
    assign sel_o = 4'hF;

    always @(posedge clk) begin
        age   <= cyc_o && stb_o && !sent ? age + 6'd1 : 6'd0;
        asked <= next;
        came  <= now;
        if (ack_i && !we_o) held[came[2:0]] <= dat_i + 32'd1;
        if (err_i && cyc_o) failed <= 1'b1;
        if (!cyc_o && !done) begin
            {cyc_o, stb_o} <= 2'b11;
            asked <= 4'd0;
            came  <= 4'd0;
            adr_o <= we_o ? TO + base : base;
            dat_o <= held[0];
        end else if (cyc_o && now == 4'd8) begin
            {cyc_o, stb_o} <= 2'b00;
            we_o <= !we_o;
            if (we_o) begin
                base <= base + 10'd8;
                done <= base + 10'd8 == COUNT;
            end
        end else if (cyc_o) begin
            stb_o <= next != 4'd8 && !(!pipelined && sent && base[3]);
            if (sent || !stb_o) begin
                adr_o <= (we_o ? TO + base : base) + {6'd0, next};
                dat_o <= held[next[2:0]];
            end
        end
        if (broken == 4'd1 && cyc_o && age == 6'd2) cyc_o <= 1'b0;
        if (broken == 4'd2 && age == 6'd2) stb_o <= 1'b0;
        if (broken == 4'd3 && age == 6'd2) adr_o <= ~adr_o;
        if (broken == 4'd4 && age == 6'd2) we_o <= ~we_o;
        if (broken == 4'd5 && age == 6'd2) dat_o <= ~dat_o;
        if (rst) begin
            {cyc_o, stb_o, we_o} <= {broken == 4'd6, 2'b00};
            {done, failed} <= 2'b00;
            base <= 10'd0;
            age  <= 6'd0;
            if (broken == 4'd7) stb_o <= 1'b1;
        end
    end
endmodule
