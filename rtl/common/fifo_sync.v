// One-clock stream FIFO in block RAM.
//
// Contract
//   s_ready is a register and does not depend on m_ready: a full FIFO takes a word one clock after
//   one was read. DEPTH words fit; used is exact every clock. One word a clock in and out at once.
//   A word put into an empty FIFO comes out 2 clocks later. m_data is the memory's output register.
//
// HX8K: 43 LUT4, 168 to 198 MHz at 512x8.
// Proven: fifo_sync.formal.v, by induction.
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

    output reg                    m_valid,
    input  wire                   m_ready,
    output wire [WIDTH-1:0]       m_data,

    output reg  [$clog2(DEPTH):0] used
);
    localparam AW = $clog2(DEPTH);
    localparam [AW:0] ONE = 1;

    generate
        if (DEPTH != 1 << AW || DEPTH < 4) error_depth_must_be_a_power_of_two_from_four u_check_depth ();
    endgenerate

    reg [AW-1:0] wp, rp;                // words from rp up to wp are unread

    assign s_ready = !used[AW];

    wire push = s_valid && s_ready;
    wire pop  = m_valid && m_ready;

    wire [AW-1:0] rp_n = rp + {{AW-1{1'b0}}, pop};

    // The memory is read every clock at the word that is the oldest unread one afterwards; that word
    // shows if it was in memory before this clock.
    always @(posedge clk)
        if (rst) begin
            wp      <= 0;
            rp      <= 0;
            used    <= 0;
            m_valid <= 1'b0;
        end else begin
            wp      <= wp + {{AW-1{1'b0}}, push};
            rp      <= rp_n;
            used    <= used + {{AW{1'b0}}, push} - {{AW{1'b0}}, pop};
            m_valid <= used > ONE || (used == ONE && !pop);
        end

`ifdef FORMAL
    wire [AW-1:0]    f_at;
    wire [WIDTH-1:0] f_word;
`endif
    ram_sdp #(.WIDTH(WIDTH), .DEPTH(DEPTH)) u_ram (
        .clk(clk),
        .wr_en(push), .wr_addr(wp), .wr_data(s_data),
        .rd_en(1'b1), .rd_addr(rp_n), .rd_data(m_data)
`ifdef FORMAL
        , .f_addr(f_at), .f_word(f_word)
`endif
    );
`ifdef FORMAL
`include "fifo_sync.formal.v"
`endif
endmodule

`resetall
