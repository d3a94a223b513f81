// An Avalon-MM agent that answers a read with readdatavalid in the very cycle of the request, which is too early.
module avmm_quick (
    input  wire       clk,
    input  wire       rst,
    input  wire [7:0] s_address,
    input  wire       s_read,
    input  wire       s_write,
    input  wire [7:0] s_writedata,
    output wire       s_waitrequest,
    output reg  [7:0] s_readdata,
    output wire       s_readdatavalid
);
    assign s_waitrequest   = 1'b0;
    assign s_readdatavalid = s_read;
    always @(posedge clk) if (rst || s_write) s_readdata <= rst ? 8'd0 : s_address ^ s_writedata;
endmodule
