`default_nettype none
// Finds the borders of code groups in a stream of bits, and knows when they are lost.
//
// Contract
//   d_valid, d: the bits, no more often than every other clock. code_valid is high for one clock with each code group, two clocks
//   after its last bit.
//   The decoder's verdict comes before the next code group or with it: `judged`, and `bad` if the code group was wrong in any way.
//   While not locked, any K28.5, all ten bits of it, sets the border. 16 code groups right in a row after it: locked.
//   While locked the border stands, whatever looks like a comma: a bit error can forge one, and so can K28.7 with what follows it.
//   Locked ends when wrong code groups outweigh right ones: each wrong one counts 4, each right one takes back 1, 32 is the end. A
//   slipped bit makes about three code groups of four wrong, so it is found within some 12 of them.
//
// HX8K: 48 LUT4.
// Source: the idea of counting against each other is that of the synchronisation of IEEE 802.3 clause 36.2.5.2.6; the numbers are ours.
module comma_align (
    input  wire       clk,
    input  wire       rst,
    input  wire       d_valid,
    input  wire       d,
    output wire       code_valid,
    output wire [9:0] code,
    input  wire       judged,
    input  wire       bad,
    output reg        locked
);
    localparam [9:0] K28_5 = 10'b0011111010;

    reg  [9:0] window;
    reg  [3:0] place;                   // of the newest bit in its code group
    reg        moved, fresh;            // window has moved; and comma says what it holds
    reg        comma;
    reg        bordered;                // place is set by a K28.5, and nothing wrong came since
    reg        first;                   // the code group being judged is that K28.5: its disparity may be off
    // Of wrong ones when locked, 4 each, 32 is the end; of right ones when not, 16 are enough: random bits look right one time in four.
    reg  [4:0] score;

    wire full  = place == 4'd9;
    wire set   = fresh && comma && !locked && !(full && bordered);
    assign code       = window;
    assign code_valid = fresh && (full || set);

    // K28.5 at either disparity turns in the same places.
    localparam [8:0] TURNS = K28_5[9:1] ^ K28_5[8:0];

    wire       count    = judged && !first;
    wire       lasting  = count && locked;
    wire       back     = lasting && !bad && score != 5'd0;
    wire       enough   = !locked && score[4];
    wire       lose     = lasting && bad && score[4:2] == 3'd7;
    wire       broken   = count && !locked && bad;
    wire [4:0] step     = {back, back, lasting && (bad || back), back, count && (!locked || back)};
    wire       from_0   = enough || lose || broken || set;

    always @(posedge clk) begin
        moved <= d_valid && !rst;
        fresh <= moved && !rst;
        comma <= (window[9:1] ^ window[8:0]) == TURNS;
        if (d_valid) window <= {window[8:0], d};

        if (code_valid) place <= 4'd0;
        else if (fresh) place <= place + 4'd1;

        score    <= from_0 ? 5'd0 : score + step;
        locked   <= (locked && !lose) || (enough && bordered);
        bordered <= (bordered && !lose && !broken) || set;
        if (code_valid) first <= set;
        if (rst) begin
            window <= 10'd0;
            place  <= 4'd0;
            score  <= 5'd0;
            {locked, bordered, first} <= 3'b000;
        end
    end
endmodule
`resetall
