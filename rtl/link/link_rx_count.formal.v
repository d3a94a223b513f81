`default_nettype none
// Stands in for fifo_commit where a proof is about how many words it holds: the same ports and contract, with a reader that takes committed
// words whenever the solver likes, and shows any.
module fifo_commit #(
    parameter WIDTH = 9,
    parameter DEPTH = 8,
    parameter EARLY = 0,
    parameter SPACED = 0,
    parameter APART = 0
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire                   wr_en,
    input  wire [WIDTH-1:0]       wr_data,
    input  wire                   commit,
    input  wire                   rollback,
    output reg  [$clog2(DEPTH):0] used,
    output wire                   full,
    output wire                   overflow,
    output wire                   m_valid,
    input  wire                   m_ready,
    output wire [WIDTH-1:0]       m_data,
    output wire                   m_sure,
    output wire                   m_void
);
    localparam AW = $clog2(DEPTH);
    (* anyseq *) wire             any_full, leaves, any_valid, any_sure, any_void;
    (* anyseq *) wire [WIDTH-1:0] any_data;
    assign {m_valid, m_data, m_sure, m_void} = {any_valid, any_data, any_sure, any_void};

    reg  [AW:0] held, kept;             // words in memory, and how many of them are committed
    reg         hole, written;
    reg  [AW:0] peak;                   // what it held two clocks ago and has taken since: `full` may not know better
    assign      full     = held == DEPTH || (any_full && peak == DEPTH);
    assign      overflow = hole || (wr_en && full);
    wire        publish = commit && !(APART != 0 ? hole : overflow);
    wire        undo    = rollback && !publish;
    wire        fetch   = leaves && (EARLY != 0 ? held : kept) != 0;
    wire        loosens = fetch && kept == 0;           // what leaves is on trial
    wire [AW:0] held_n  = held + (wr_en && !full) - fetch;
    always @(posedge clk) begin
        used <= held;
        held <= undo ? kept - (fetch && !loosens) : held_n;
        if (publish)       kept <= held_n;
        else if (!loosens) kept <= kept - fetch;
        hole <= !rollback && overflow;
        written <= wr_en && !full;
        peak    <= used + written + (wr_en && !full);
        if (rst) {used, held, kept, peak, hole, written} <= 0;
    end
endmodule
`resetall
