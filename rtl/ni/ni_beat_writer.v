`default_nettype none
// Beat writer: turns the beats of a run of bytes to where its words lie in the receive buffer, as ni_page_writer does with bytes.
//
// Contract:
//   `start` (pulse) sets the byte address of what would be at lane 0 of the first beat; the writer must be idle then.
//   s_*: the run in beats of WIDTH bytes. Those of its first that s_keep leaves out are not part of it, nor are those of its last behind
//   its end; between there is none missing. Nothing on trial may be here. A beat makes one word, and the last one maybe two.
//   w_valid holds, with w_* stable, until w_take; a word that is taken at once does not hold up the beats. `idle`: nothing is held.
module ni_beat_writer #(
    parameter ADDR_WIDTH = 12,          // of a byte address
    parameter WIDTH      = 8
) (
    input  wire                  clk,
    input  wire                  rst,

    input  wire                  start,
    input  wire [ADDR_WIDTH-1:0] start_addr,
    input  wire                  s_valid,
    output wire                  s_ready,
    input  wire [8*WIDTH-1:0]    s_data,
    input  wire [WIDTH-1:0]      s_keep,
    input  wire                  s_last,

    output reg                   w_valid,
    input  wire                  w_take,
    output reg  [ADDR_WIDTH-$clog2(WIDTH)-1:0] w_addr,
    output reg  [8*WIDTH-1:0]    w_data,
    output reg  [WIDTH-1:0]      w_mask,
    output wire                  idle
);
    localparam LW = $clog2(WIDTH);

    // Lane i of a beat goes to lane i + turn, and those that go beyond wait for the next word.
    reg  [LW-1:0]            turn;
    reg  [ADDR_WIDTH-LW-1:0] word;
    reg  [8*WIDTH-1:0]       rest;
    reg  [WIDTH-1:0]         rest_mask;
    reg                      ended;         // the run has, and what is left of it is a word
    wire [2*WIDTH-1:0]  mask = {{WIDTH{1'b0}}, s_keep} << turn;
    wire [16*WIDTH-1:0] data = {{8*WIDTH{1'b0}}, s_data} << {turn, 3'd0};
    wire                free = !w_valid || w_take;
    wire                take = s_valid && s_ready;
    assign s_ready = free && !ended;
    assign idle    = !w_valid && !ended;

    genvar i;
    generate
        for (i = 0; i < WIDTH; i = i + 1) begin : g_lane
            always @(posedge clk)
                if (free) w_data[8*i +: 8] <= rest_mask[i] ? rest[8*i +: 8] : data[8*i +: 8];
        end
    endgenerate

    always @(posedge clk) begin
        if (free) begin
            w_addr  <= word;
            w_mask  <= rest_mask | (ended ? {WIDTH{1'b0}} : mask[WIDTH-1:0]);
            w_valid <= ended || (take && (rest_mask | mask[WIDTH-1:0]) != {WIDTH{1'b0}});
            ended   <= take && s_last && mask[2*WIDTH-1:WIDTH] != {WIDTH{1'b0}};
        end
        if (take) begin
            rest      <= data[16*WIDTH-1:8*WIDTH];
            rest_mask <= mask[2*WIDTH-1:WIDTH];
            word      <= word + 1'b1;
        end
        if (start) begin
            {word, turn} <= start_addr;
            rest_mask    <= {WIDTH{1'b0}};
        end
        if (rst) {w_valid, ended} <= 2'b00;
    end
endmodule
`resetall
