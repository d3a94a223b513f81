`default_nettype none
// Page writer: packs a run of bytes into masked 32-bit words for the receive buffer's write port.
//
// Contract:
//   `start` (pulse) sets the byte address of the next byte; the writer must be idle then.
//   s_*: the bytes. A word is handed on when it is full, or a clock after the run ends; full throughput as long as a word is granted
//   within three clocks.
//   A byte that makes a word full is taken only while s_sure; at the end of a run it must be. start drops what was taken before.
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
    input  wire                  s_sure,

    output reg                   w_valid,
    input  wire                  w_take,
    output reg  [ADDR_WIDTH-3:0] w_addr,
    output reg  [31:0]           w_data,
    output reg  [3:0]            w_mask,
    output wire                  idle
);
    // Bytes gather in `data`, a whole word's last one excepted; a word that the run's end leaves short goes on a clock later.
    reg [1:0]  lane;
    reg [23:0] data;
    reg [2:0]  mask;
    reg        short;                   // the run has ended, and `data` holds the rest of it
    wire       full = lane == 2'd3;
    wire       take = s_valid && s_ready;
    assign s_ready = !(w_valid && (full || s_last)) && (s_sure || !full);
    assign idle    = !w_valid && !short;

    always @(posedge clk) begin
        short <= take && s_last && !full;
        if (take) begin
            lane <= lane + 2'd1;
            case (lane)
                2'd0: data[7:0]   <= s_data;
                2'd1: data[15:8]  <= s_data;
                2'd2: data[23:16] <= s_data;
                default: ;
            endcase
            mask <= full ? 3'd0 : mask | (3'd1 << lane);
        end
        if (w_take) begin
            w_valid <= 1'b0;
            w_addr  <= w_addr + 1'b1;
        end
        if (start) begin
            w_addr <= start_addr[ADDR_WIDTH-1:2];
            lane   <= start_addr[1:0];
            mask   <= 3'd0;
        end
        if (!w_valid) begin             // as it is whenever a word is complete
            w_mask <= {!short, mask};
            w_data <= {s_data, data};
        end
        if (short || (take && full)) w_valid <= 1'b1;
        if (rst) {w_valid, short} <= 2'b00;
    end
endmodule
`resetall
