// Packet FIFO for a receiver: words are written on trial, then committed or rolled back.
//
// Contract
//   wr_en writes wr_data. commit publishes every word written so far, that of this clock included.
//   rollback takes back every word since the last commit, that of this clock included; it may be held.
//   Both at once: rollback wins.
//   A write while full is refused: overflow rises on the next clock and stays until rollback.
//   A commit in that clock or later is refused too, so a packet with a hole is never published.
//   used counts words written and not yet read, committed or not; it and full are exact every clock.
//   DEPTH words fit. A word read frees its place on the next clock.
//   The reader sees committed words only, one a clock. The head of a packet is fetched before its
//   commit: m_valid rises 1 clock after commit for a word written at least 1 clock before it
//   into an empty FIFO, 2 clocks after for a word written in the clock of the commit.
//   m_data is the memory's own output register.
//
// HX8K: 116 LUT4, 150 to 176 MHz at 2048x9; 98 LUT4, 168 MHz at 512x9.
// Proven: fifo_commit.formal.v, by induction.
`default_nettype none

module fifo_commit #(
    parameter WIDTH = 9,
    parameter DEPTH = 2048              // power of two
) (
    input  wire                   clk,
    input  wire                   rst,

    input  wire                   wr_en,
    input  wire [WIDTH-1:0]       wr_data,
    input  wire                   commit,
    input  wire                   rollback,
    output reg  [$clog2(DEPTH):0] used,
    output wire                   full,
    output reg                    overflow,

    output reg                    m_valid,
    input  wire                   m_ready,
    output wire [WIDTH-1:0]       m_data
);
    localparam AW = $clog2(DEPTH);
    localparam [AW:0] ONE = 1;

    generate
        if (DEPTH != 1 << AW || DEPTH < 4) error_depth_must_be_a_power_of_two_from_four u_check_depth ();
    endgenerate

    // Words from rp are unread, below cp committed, below wp written.
    reg [AW-1:0] wp, cp, rp;
    reg [AW:0]   kept;                  // committed and unread: what used falls back to

    assign full = used[AW];

    wire write   = wr_en && !full;
    wire publish = commit && !rollback && !overflow && !(wr_en && full);
    wire pop     = m_valid && m_ready;

    wire [AW:0]   pop_w  = {{AW{1'b0}}, pop};
    wire [AW-1:0] wp_n   = wp + {{AW-1{1'b0}}, write};
    wire [AW-1:0] rp_n   = rp + {{AW-1{1'b0}}, pop};
    wire [AW:0]   used_n = used + {{AW{1'b0}}, write} - pop_w;
    wire [AW:0]   kept_n = kept - pop_w;

    // The memory is read every clock at the word that is the oldest unread one afterwards, committed
    // or not. That word shows if it was in memory before this clock and is committed after it.
    wire written   = used > ONE || (used == ONE && !pop);
    wire committed = kept > ONE || (kept == ONE && !pop);

    always @(posedge clk)
        if (rst) begin
            wp       <= 0;
            cp       <= 0;
            rp       <= 0;
            used     <= 0;
            kept     <= 0;
            overflow <= 1'b0;
            m_valid  <= 1'b0;
        end else begin
            wp       <= rollback ? cp : wp_n;
            rp       <= rp_n;
            used     <= rollback ? kept_n : used_n;
            kept     <= publish ? used_n : kept_n;
            overflow <= !rollback && (overflow || (wr_en && full));
            m_valid  <= publish ? written : committed;
            if (publish) cp <= wp_n;
        end

`ifdef FORMAL
    wire [AW-1:0]    f_at;
    wire [WIDTH-1:0] f_word;
`endif
    ram_sdp #(.WIDTH(WIDTH), .DEPTH(DEPTH)) u_ram (
        .clk(clk),
        .wr_en(write), .wr_addr(wp), .wr_data(wr_data),
        .rd_en(1'b1), .rd_addr(rp_n), .rd_data(m_data)
`ifdef FORMAL
        , .f_addr(f_at), .f_word(f_word)
`endif
    );
`ifdef FORMAL
`include "fifo_commit.formal.v"
`endif
endmodule

`resetall
