// Packet FIFO for a receiver: words are written on trial, then committed or rolled back.
//
// Contract
//   wr_en writes wr_data. commit publishes every word written so far, that of this clock included.
//   rollback takes back every word since the last commit, that of this clock included; it may be held.
//   Both at once: rollback wins.
//   A write while full is refused: overflow is high in that clock already, and stays until rollback.
//   A commit while it is high is refused too, so a packet with a hole is never published.
//   used is, one clock late, how many words the memory holds, committed or not; full is high
//   when it holds DEPTH, and may be for a clock after a word has left or been taken back. Two words more wait behind it.
//   The reader sees committed words only, one a clock: m_valid rises 2 clocks after commit for a word
//   written at least 1 clock before it, 3 clocks after for one written in the clock of the commit;
//   a clock or two more if there was a rollback since.
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
    localparam [AW:0] ONE = 1, TOP = 1 << AW;

    generate
        if (DEPTH != 1 << AW || DEPTH < 4) error_depth_must_be_a_power_of_two_from_four u_check_depth ();
    endgenerate

    // Words from rp are in memory, below cp committed, below wp written. prior and next stand on both sides of rp.
    reg [AW:0] wp, cp, prior, rp, next;
    reg        hole;
    wire write   = wr_en && !full;
    wire publish = commit && !rollback && !overflow;
    assign overflow = hole || (wr_en && full);

    // The memory's output register holds the word at rp while `fetched`, on trial: it goes on once it is committed.
    reg  fetched;
    wire room;
    wire sure = rp != cp;
    wire move = fetched && sure && room;

    always @(posedge clk)
        if (rst) begin
            wp      <= 0;
            cp      <= 0;
            prior   <= {AW+1{1'b1}};
            rp      <= 0;
            next    <= ONE;
            full    <= 1'b0;
            hole    <= 1'b0;
            fetched <= 1'b0;
        end else begin
            if (rollback)   wp <= cp;
            else if (write) wp <= wp + ONE;
            if (publish)    cp <= wp + {{AW{1'b0}}, write};
            full <= wp == (rp ^ TOP) || (write && wp == (prior ^ TOP));
            hole <= !rollback && overflow;
            if (move) begin
                prior <= rp;
                rp    <= next;
                next  <= next + ONE;
            end
            if (rollback)  fetched <= sure && !move;
            else if (move) fetched <= next != wp;
            else           fetched <= fetched || rp != wp;
        end

    always @(posedge clk) used <= rst ? {AW+1{1'b0}} : wp - rp;

    wire [WIDTH-1:0] word;
`ifdef FORMAL
    wire [AW-1:0]    f_at;
    wire [WIDTH-1:0] f_word, f_second;
`endif
    ram_sdp #(.WIDTH(WIDTH), .DEPTH(DEPTH)) u_ram (
        .clk(clk),
        .wr_en(write), .wr_addr(wp[AW-1:0]), .wr_data(wr_data),
        .rd_en(!fetched || move), .rd_addr(fetched ? next[AW-1:0] : rp[AW-1:0]), .rd_data(word)
`ifdef FORMAL
        , .f_addr(f_at), .f_word(f_word)
`endif
    );

    skid_buffer #(.WIDTH(WIDTH)) u_out (
        .clk(clk), .rst(rst), .s_valid(fetched && sure), .s_ready(room), .s_data(word),
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
