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
// HX8K: 61 LUT4, 159 to 176 MHz.
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
    localparam [4:0] GOOD = 5'd15;      // and one more; random bits look right one time in four
    localparam [4:0] WRONG = 5'd4, LIMIT = 5'd28;   // LIMIT and WRONG more is the end

    reg  [9:0] window;
    reg  [3:0] place;                   // of the newest bit in its code group
    reg        moved, fresh;            // window has moved; and comma says what it holds
    reg        comma;
    reg        bordered;                // place is set by a K28.5, and nothing wrong came since
    reg        first;                   // the code group being judged is that K28.5: its disparity may be off
    reg  [4:0] score;                   // of wrong ones when locked, of right ones when not

    wire full  = place == 4'd9;
    wire set   = fresh && comma && !locked && !(full && bordered);
    assign code       = window;
    assign code_valid = fresh && (full || set);

    always @(posedge clk) begin
        moved <= d_valid && !rst;
        fresh <= moved && !rst;
        comma <= window == K28_5 || window == ~K28_5;
        if (d_valid) window <= {window[8:0], d};
        if (code_valid) place <= 4'd0;
        else if (fresh) place <= place + 4'd1;

        if (locked && judged) begin
            if (bad)                score <= score + WRONG;
            else if (score != 5'd0) score <= score - 5'd1;
            if (bad && score >= LIMIT) begin
                locked   <= 1'b0;
                bordered <= 1'b0;
                score    <= 5'd0;
            end
        end else if (judged && !first) begin
            score <= bad || score == GOOD ? 5'd0 : score + 5'd1;
            if (bad) bordered <= 1'b0;
            else if (bordered && score == GOOD) locked <= 1'b1;
        end
        if (code_valid) first <= set;
        if (set) begin
            bordered <= 1'b1;
            score    <= 5'd0;
        end

        if (rst) begin
            place  <= 4'd0;
            score  <= 5'd0;
            {locked, bordered, first} <= 3'b000;
        end
    end
endmodule
`resetall
