// An Avalon-ST FIFO of 16 words for the tests of sources and sinks. With late, both sides have a ready latency of one cycle. Broken chooses a violation
// of the rules.
module avst_fifo (
    input  wire        clk,
    input  wire        rst,
    input  wire        late,
    input  wire [2:0]  broken,
    input  wire [31:0] in_data,
    input  wire        in_valid,
    output wire        in_ready,
    input  wire        in_startofpacket,
    input  wire        in_endofpacket,
    input  wire [1:0]  in_empty,
    input  wire [3:0]  in_channel,
    input  wire        in_error,
    output wire [31:0] out_data,
    output wire        out_valid,
    input  wire        out_ready,
    output wire        out_startofpacket,
    output wire        out_endofpacket,
    output wire [1:0]  out_empty,
    output wire [3:0]  out_channel,
    output wire        out_error
);
    reg [40:0] store [0:15];
    reg [4:0]  head, tail;
    reg        ready_was, stalled;
    wire [4:0] used = head - tail;
    wire       take = in_valid && (late || in_ready);
    wire       may  = late ? ready_was || broken == 3'd4 : out_ready;
    wire       some = used != 5'd0;
    wire [1:0] empty;
    wire       first;
    assign in_ready  = used < 5'd12;
    assign out_valid = some && !(broken == 3'd1 && stalled) && (!late || may);
    assign {out_data, first, out_endofpacket, empty, out_channel, out_error} = store[tail[3:0]];
    assign out_startofpacket = first && broken != 3'd2;
    assign out_empty         = broken == 3'd3 && !out_endofpacket ? 2'd1 : empty;
    always @(posedge clk) begin
        ready_was <= out_ready;
        stalled   <= out_valid && !may;
        if (take) store[head[3:0]] <= {in_data, in_startofpacket, in_endofpacket, in_empty, in_channel, in_error};
        head <= head + {4'd0, take};
        tail <= tail + {4'd0, out_valid && may};
        if (rst) {head, tail} <= 10'd0;
    end
endmodule
