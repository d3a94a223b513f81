`default_nettype none
// Stands in for fifo_commit where a proof is about what is written, committed and rolled back: the same ports and contract, with a reader
// that never stalls, and a write refused whenever the solver likes. Packets of MAX words are kept; of what a longer one has, the number.
module fifo_commit #(
    parameter WIDTH = 9,
    parameter DEPTH = 8,
    parameter EARLY = 0,
    parameter SPACED = 0,
    parameter APART = 0,
    parameter MAX   = 4
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire                   wr_en,
    input  wire [WIDTH-1:0]       wr_data,
    input  wire                   commit,
    input  wire                   rollback,
    output wire [$clog2(DEPTH):0] used,
    output wire                   full,
    output wire                   overflow,
    output wire                   m_valid,
    input  wire                   m_ready,
    output wire [WIDTH-1:0]       m_data,
    output wire                   m_sure,
    output wire                   m_void,
    output wire [6+2*WIDTH*MAX:0] f_state   // for the proof to look at
);
    assign {m_sure, m_void} = 2'b10;
    (* anyseq *) wire [$clog2(DEPTH):0] any_used;
    (* anyseq *) wire                   any_full;
    assign used = any_used;
    assign full = any_full;

    reg        hole;
    wire       refused = wr_en && full;
    wire       publish = commit && !(APART != 0 ? hole : overflow);
    assign     overflow = hole || refused;

    // Words below `written` are on trial; those of the packet before that are still to come out stand in `there`.
    reg  [2:0]           written, left;
    reg  [WIDTH*MAX-1:0] trial, there;
    wire                 write     = wr_en && !refused;
    wire [2:0]           written_n = written + {2'd0, write && written != 3'd7};
    reg  [WIDTH*MAX-1:0] trial_n;
    integer i;
    always @* begin
        trial_n = trial;
        for (i = 0; i < MAX; i = i + 1)
            if (write && written == i) trial_n[WIDTH*i +: WIDTH] = wr_data;
    end
    assign f_state = {hole, written, left, trial, there};
    assign m_valid = left != 0;
    assign m_data  = there[WIDTH-1:0];
    always @(posedge clk) begin
        hole    <= !rst && !rollback && overflow;
        trial   <= trial_n;
        written <= rst || rollback || publish ? 3'd0 : written_n;
        left    <= rst ? 3'd0 : publish ? written_n : left - {2'd0, m_valid};
        there   <= publish ? trial_n : there >> WIDTH;
    end
endmodule
`resetall
