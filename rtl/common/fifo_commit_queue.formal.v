`default_nettype none
// Stands in for fifo_commit where a proof is about who writes and reads it: the same ports and contract, as a queue whose words the proof
// can see. A word shows as late as the solver likes. It takes as few words as the contract allows: none while DEPTH are held, those that
// are shown included, or have been within two clocks.
module fifo_commit #(
    parameter WIDTH = 9,
    parameter DEPTH = 8,
    parameter EARLY = 0,
    parameter SPACED = 0
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
    output reg                    m_valid,
    input  wire                   m_ready,
    output wire [WIDTH-1:0]       m_data,
    output wire                   m_sure,
    output reg                    m_void,
    output wire [7:0]             f_held,   // for the proof to look at: words, those shown included
    output wire [7:0]             f_firm,   // committed ones
    output wire                   f_loose,  // one on trial has been taken
    output wire [15:0]            f_past,   // words held a clock ago, and two
    output wire                   f_hole,   // the packet on trial has lost a word
    output wire [WIDTH*DEPTH-1:0] f_words
);
    (* anyseq *) wire       shows, voids;
    (* anyseq *) wire [1:0] out;                // words that `used` does not count

    reg  [7:0]             held, firm, held_q, held_qq;
    reg                    hole, loose;
    reg  [WIDTH*DEPTH-1:0] words, words_n;
    assign {f_held, f_firm, f_loose, f_past, f_hole, f_words} = {held, firm, loose, held_q, held_qq, hole, words};
    wire write   = wr_en && !full;
    wire publish = commit && !overflow;
    wire undo    = rollback && !publish;
    wire take    = m_valid && m_ready;
    wire [7:0] left      = held - {7'd0, take};
    wire [7:0] left_firm = firm - {7'd0, take && firm != 0};
    wire       trial     = (m_valid && firm == 0) || loose;     // the reader has seen one on trial
    integer k;
    always @* begin
        words_n = take ? words >> WIDTH : words;
        for (k = 0; k < DEPTH; k = k + 1) if (write && left == k) words_n[WIDTH*k +: WIDTH] = wr_data;
        assume (out <= held_q);
    end
    always @* if (!rst) begin
        assert (firm <= held && held <= DEPTH);
        if (m_valid) assert (EARLY != 0 ? held != 0 : firm != 0);
        if (loose)   assert (EARLY != 0 && firm == 0);
        if (m_void)  assert (EARLY != 0 && held == 0 && !loose);
    end
    assign full     = held >= DEPTH || held_q >= DEPTH || held_qq >= DEPTH;
    assign overflow = hole || (wr_en && full);
    assign used     = held_q - out;
    assign m_data   = words[WIDTH-1:0];
    assign m_sure   = m_valid ? firm != 0 : !loose;
    always @(posedge clk) begin
        {held_q, held_qq} <= {held, held_q};
        words   <= words_n;
        held    <= undo ? left_firm : left + {7'd0, write};
        firm    <= publish ? left + {7'd0, write} : left_firm;
        hole    <= !rollback && overflow;
        loose   <= !publish && !undo && (loose || (take && firm == 0));
        m_valid <= m_valid && !take ? !undo || firm != 0 : shows && (EARLY != 0 && !undo ? left != 0 : left_firm != 0);
        m_void  <= EARLY != 0 && undo && (trial || (voids && left_firm == 0));
        if (rst) begin
            {held, held_q, held_qq, firm} <= 32'd0;
            {hole, loose, m_valid, m_void} <= 4'd0;
        end
    end
endmodule
`resetall
