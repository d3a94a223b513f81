// One-clock stream FIFO in block RAM.
//
// Contract
//   s_ready is a register and does not depend on m_ready: a full FIFO takes a word one clock after
//   one was read. DEPTH words fit; used is exact every clock. One word a clock in and out at once.
//   A word put into an empty FIFO comes out 2 clocks later. m_data is the memory's output register.
//
// This is fifo_commit with every word committed as it is written; synthesis merges the registers
// that are then equal.
`default_nettype none

module fifo_sync #(
    parameter WIDTH = 8,
    parameter DEPTH = 512               // power of two
) (
    input  wire                   clk,
    input  wire                   rst,

    input  wire                   s_valid,
    output wire                   s_ready,
    input  wire [WIDTH-1:0]       s_data,

    output wire                   m_valid,
    input  wire                   m_ready,
    output wire [WIDTH-1:0]       m_data,

    output wire [$clog2(DEPTH):0] used
);
    wire full;
    wire overflow;                      // cannot matter: a write while full is never offered
    wire unused = overflow;

    assign s_ready = !full;

    fifo_commit #(.WIDTH(WIDTH), .DEPTH(DEPTH)) u_fifo (
        .clk(clk), .rst(rst),
        .wr_en(s_valid && !full), .wr_data(s_data), .commit(1'b1), .rollback(1'b0),
        .used(used), .full(full), .overflow(overflow),
        .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data)
    );
endmodule

`resetall
