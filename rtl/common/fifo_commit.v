// Packet FIFO for a receiver: words are written on trial, then committed or rolled back.
//
// Contract
//   wr_en writes wr_data. commit publishes every word written so far, that of this clock included.
//   rollback takes back every word since the last commit, that of this clock included; it may be held.
//   A write while full is refused: overflow is high in that clock already, and stays until rollback.
//   A commit while it is high is refused too, so a packet with a hole is never published. Both at once: a commit that is not refused
//   wins. APART, 1: nothing is written in the clock of a commit, which takes fewer cells in a row.
//   used is, one clock late, how many words the memory holds, committed or not; full is high
//   when it holds DEPTH, and may be for two clocks after a word has left or been taken back. Three words more wait behind it.
//   The reader sees the words in order, one a clock, 3 clocks after they were written if EARLY, else 3 clocks after their commit.
//   SPACED: one in two clocks, and two words more wait.
//   m_sure: the word at m_*, or the last one taken if there is none, is committed; it rises a clock after commit. m_void (pulse): what the
//   reader has seen of words that are not, is taken back; every committed word has been read then, and m_valid is low.
//   m_valid, m_data, m_sure and m_void are registers, and m_ready reaches no further than them.
//
// Proven: fifo_commit.formal.v, by induction.
`default_nettype none

module fifo_commit #(
    parameter WIDTH  = 9,
    parameter DEPTH  = 2048,            // power of two
    parameter EARLY  = 0,               // show words on trial
    parameter SPACED = 0,               // one word in two clocks, and none on trial, for fewer cells
    parameter APART  = 0                // no write and commit at once
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

    output reg                    m_valid,
    input  wire                   m_ready,
    output reg  [WIDTH-1:0]       m_data,
    output wire                   m_sure,
    output reg                    m_void
);
    localparam AW = $clog2(DEPTH);
    localparam [AW:0] ONE = 1;

    generate
        if (SPACED != 0 && EARLY != 0) error_spaced_shows_none_on_trial u_check_spaced ();
        if (DEPTH != 1 << AW || DEPTH < 4) error_depth_must_be_a_power_of_two_from_four u_check_depth ();
    endgenerate

    // Words from rp are in memory, below cp committed, below wp written. What is subtracted is kept inverted: a carry chain subtracts it
    // without a row of inverters.
    reg  [AW:0] wp, cp, not_rp;
    reg         hole, write_q;
    wire        write   = wr_en && !full;
    wire        publish = commit && !(APART != 0 ? hole : overflow);
    wire        undo    = rollback && !publish;
    wire [AW:0] wp_n    = wp + {{AW{1'b0}}, write};
    assign overflow = hole || (wr_en && full);

    // The memory's output register holds the word before rp while `fetched`; behind it come `aside`, while `room` is low, and m_data.
    // Those that are on trial say so: all after the first of them are. `ahead`: rp has passed cp.
    reg              fetched, room, ahead, word_trial, aside_trial, m_trial;
    reg  [WIDTH-1:0] aside;
    wire [WIDTH-1:0] word;
    wire at_cp = ~not_rp == cp;
    wire trial = ahead || at_cp;        // the word to be fetched is on trial
    wire pass  = SPACED != 0 ? !m_valid : room;     // the memory's output goes on
    wire read  = !fetched || pass;
    wire fetch = read && (EARLY != 0 ? ~not_rp != wp : !at_cp);
    wire move  = (SPACED == 0 && m_ready) || !m_valid;      // the output register takes a new word
    wire keep  = EARLY == 0 || !undo;   // otherwise what is on trial goes

    // As they are a clock later, unless there is a commit.
    wire word_trial_n  = EARLY != 0 && (fetch ? trial : word_trial);
    wire aside_trial_n = EARLY != 0 && (room ? word_trial : aside_trial);
    wire m_trial_n     = EARLY != 0 && (move ? (room ? (fetched ? word_trial : m_trial) : aside_trial) : m_trial);
    assign m_sure = !m_trial;

    always @(posedge clk) begin
        wp      <= undo ? cp : wp_n;
        if (publish) cp <= APART != 0 ? wp : wp_n;
        not_rp  <= !keep && trial ? ~cp : not_rp - {{AW{1'b0}}, fetch};
        used    <= wp + not_rp + ONE;
        write_q <= write;
        full    <= used[AW] || (&used[AW-1:1] && (used[0] ? write || write_q : write && write_q));
        hole    <= !rollback && overflow;
        fetched <= (fetch || (fetched && !pass)) && (keep || !word_trial_n);
        room    <= SPACED != 0 || move || (room && !fetched) || (!keep && aside_trial_n);
        m_valid <= (move ? fetched || !room : SPACED == 0 || !m_ready) && (keep || !m_trial_n);
        m_void  <= !keep && m_trial_n;
        ahead       <= EARLY != 0 && keep && !publish && (ahead || (fetch && at_cp));
        word_trial  <= keep && !publish && word_trial_n;
        aside_trial <= keep && !publish && aside_trial_n;
        m_trial     <= keep && !publish && m_trial_n;
        if (rst) begin
            wp     <= 0;
            cp     <= 0;
            not_rp <= {AW+1{1'b1}};
            used   <= 0;
            room   <= 1'b1;
            {write_q, full, hole, fetched, m_valid, m_void, ahead, word_trial, aside_trial, m_trial} <= 10'd0;
        end
    end

    always @(posedge clk) begin
        if (room) aside <= word;
        if (move) m_data <= room ? word : aside;
    end

`ifdef VERILATOR
    always @(posedge clk) if (!rst && APART != 0) assert (!(wr_en && commit));
`endif
`ifdef FORMAL
    wire [AW-1:0]    f_at;
    wire [WIDTH-1:0] f_word;
`endif
    ram_sdp #(.WIDTH(WIDTH), .DEPTH(DEPTH)) u_ram (
        .clk(clk),
        .wr_en(write), .wr_addr(wp[AW-1:0]), .wr_data(wr_data),
        .rd_en(read), .rd_addr(~not_rp[AW-1:0]), .rd_data(word)
`ifdef FORMAL
        , .f_addr(f_at), .f_word(f_word)
`endif
    );
`ifdef FORMAL
`include "fifo_commit.formal.v"
`endif
endmodule

`resetall
