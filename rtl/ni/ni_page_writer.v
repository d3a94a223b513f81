`default_nettype none
// Page writer: packs a run of bytes into masked 32-bit words for the receive buffer's write port.
//
// Contract:
//   `start` (pulse) sets the byte address of the next byte; the writer must not be busy with a run then (it may still hold its last word).
//   s_*: the bytes. A word is handed on when it is full or the run ends; full throughput as long as a word is granted within
//   three clocks.
//   w_valid holds, with w_* stable, until w_take. `idle`: nothing is held.
module ni_page_writer #(
    parameter ADDR_WIDTH = 12           // of a byte address
) (
    input  wire                  clk,
    input  wire                  rst,

    input  wire                  start,
    input  wire [ADDR_WIDTH-1:0] start_addr,
    input  wire                  s_valid,
    output wire                  s_ready,
    input  wire [7:0]            s_data,
    input  wire                  s_last,

    output reg                   w_valid,
    input  wire                  w_take,
    output reg  [ADDR_WIDTH-3:0] w_addr,
    output reg  [31:0]           w_data,
    output reg  [3:0]            w_mask,
    output wire                  idle
);
    reg [ADDR_WIDTH-1:0] addr;
    reg [23:0]           data;
    reg [2:0]            mask;
    wire [1:0] lane = addr[1:0];
    reg        third;               // lane is 3
    wire       ends = third || s_last;
    assign s_ready = !(w_valid && ends);
    wire       take = s_valid && s_ready;
    assign idle    = !w_valid;

    always @(posedge clk) begin
        if (take) begin
            addr  <= addr + 1'b1;
            third <= lane == 2'd2;
            case (lane)
                2'd0: data[7:0]   <= s_data;
                2'd1: data[15:8]  <= s_data;
                2'd2: data[23:16] <= s_data;
                default: ;
            endcase
            mask <= ends ? 3'd0 : mask | (3'd1 << lane);
        end
        if (start) begin
            addr  <= start_addr;
            third <= &start_addr[1:0];
            mask  <= 3'd0;
        end

        if (w_take) w_valid <= 1'b0;
        if (take && ends) begin
            w_valid <= 1'b1;
            w_addr  <= addr[ADDR_WIDTH-1:2];
            w_mask  <= {1'b0, mask} | (4'd1 << lane);
            w_data  <= {s_data, lane == 2'd2 ? s_data : data[23:16], lane == 2'd1 ? s_data : data[15:8],
                        lane == 2'd0 ? s_data : data[7:0]};
        end
        if (rst) w_valid <= 1'b0;
    end
endmodule
`resetall
