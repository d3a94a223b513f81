// Packet FIFO for a receiver: words are written on trial, then committed or rolled back.
//
// Contract
//   wr_en writes wr_data. commit publishes every word written so far, that of this clock included.
//   rollback takes back every word since the last commit, that of this clock included; it may be held.
//   A write while full is refused: overflow is high in that clock already, and stays until rollback.
//   A commit while it is high is refused too, so a packet with a hole is never published. Both at once: a commit that is not refused wins.
//   used is, one clock late, how many words the memory holds, committed or not; full is high
//   when it holds DEPTH, and may be for two clocks after a word has left or been taken back. Three words more wait behind it.
//   The reader sees committed words only, one a clock: m_valid rises 3 clocks after commit.
//   m_valid and m_data are registers, and m_ready reaches no further than them.
//
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
    output reg                    full,
    output wire                   overflow,

    output wire                   m_valid,
    input  wire                   m_ready,
    output wire [WIDTH-1:0]       m_data
);
    localparam AW = $clog2(DEPTH);
    localparam [AW:0] ONE = 1;

    generate
        if (DEPTH != 1 << AW || DEPTH < 4) error_depth_must_be_a_power_of_two_from_four u_check_depth ();
    endgenerate

    // Words from rp are in memory, below cp committed, below wp written. What is subtracted is kept inverted: a carry chain subtracts it
    // without a row of inverters.
    reg  [AW:0] wp, cp, not_rp;
    reg         hole, write_q;
    wire        write   = wr_en && !full;
    wire        publish = commit && !overflow;
    wire        undo    = rollback && !publish;
    wire [AW:0] wp_n    = wp + {{AW{1'b0}}, write};
    assign overflow = hole || (wr_en && full);

    // The memory's output register holds the word before rp while `fetched`.
    reg  fetched;
    wire room;
    wire read  = !fetched || room;
    wire fetch = read && ~not_rp != cp;

    always @(posedge clk) begin
        wp      <= undo ? cp : wp_n;
        if (publish) cp <= wp_n;
        not_rp  <= not_rp - {{AW{1'b0}}, fetch};
        used    <= wp + not_rp + ONE;
        write_q <= write;
        full    <= used[AW] || (&used[AW-1:1] && (used[0] ? write || write_q : write && write_q));
        hole    <= !rollback && overflow;
        fetched <= fetch || (fetched && !room);
        if (rst) begin
            wp     <= 0;
            cp     <= 0;
            not_rp <= {AW+1{1'b1}};
            used   <= 0;
            {write_q, full, hole, fetched} <= 4'd0;
        end
    end

    wire [WIDTH-1:0] word;
`ifdef FORMAL
    wire [AW-1:0]    f_at;
    wire [WIDTH-1:0] f_word, f_second;
`endif
    ram_sdp #(.WIDTH(WIDTH), .DEPTH(DEPTH)) u_ram (
        .clk(clk),
        .wr_en(write), .wr_addr(wp[AW-1:0]), .wr_data(wr_data),
        .rd_en(read), .rd_addr(~not_rp[AW-1:0]), .rd_data(word)
`ifdef FORMAL
        , .f_addr(f_at), .f_word(f_word)
`endif
    );

    skid_buffer #(.WIDTH(WIDTH)) u_out (
        .clk(clk), .rst(rst), .s_valid(fetched), .s_ready(room), .s_data(word),
        .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data)
`ifdef FORMAL
        , .f_aside(f_second)
`endif
    );
`ifdef FORMAL
`include "fifo_commit.formal.v"
`endif
endmodule

`resetall
