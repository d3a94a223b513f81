// Round-robin arbiter that holds its grant for a whole packet.
//
// Contract
//   request[i]: source i has a packet. grant is one-hot or zero, index its number; both are registers.
//   A grant is held, whatever request does, until last is high for a clock (the packet's last word
//   moved); last is looked at only while something is granted.
//   The next grant stands in the clock after last. In the clock of last the holder's own request is
//   not looked at (it may still be that of the word just moving), so a source alone is granted again
//   after one clock without a grant.
//   It is that of the requesting source that comes next behind the holder, the first one coming behind the last one.
//   A source that keeps requesting is granted after at most N-1 packets of others.
//
// HX8K: 22 LUT4, 238 to 285 MHz with N=4; 61 LUT4, 176 to 210 MHz with N=8.
// Proven: arbiter_rr.formal.v, by induction.
`default_nettype none

module arbiter_rr #(
    parameter N = 4
) (
    input  wire                               clk,
    input  wire                               rst,
    input  wire [N-1:0]                       request,
    input  wire                               last,
    output reg  [N-1:0]                       grant,
    output reg  [(N > 1 ? $clog2(N) : 1)-1:0] index
);
    localparam IW = N > 1 ? $clog2(N) : 1;

    // below(x)[i]: some bit of x under i is set.
    function [N-1:0] below(input [N-1:0] x);
        integer k;
        begin
            below = 0;
            for (k = 1; k < N; k = k + 1)
                below[k] = below[k-1] | x[k-1];
        end
    endfunction

    // Sources behind the last one granted come first; they are the ones set in behind.
    reg  [N-1:0] behind;
    wire [N-1:0] wanting = request & ~grant;
    wire [N-1:0] first   = wanting & behind;
    wire [N-1:0] after   = first != 0 ? below(first) : below(wanting);
    wire [N-1:0] pick    = first != 0 ? first & ~below(first) : wanting & ~below(wanting);

    function [IW-1:0] lowest(input [N-1:0] x);
        integer k;
        begin
            lowest = 0;
            for (k = N - 1; k >= 0; k = k - 1)
                if (x[k]) lowest = k[IW-1:0];
        end
    endfunction

    always @(posedge clk)
        if (rst) begin
            grant  <= 0;
            index  <= 0;
            behind <= 0;
        end else if (grant == 0 || last) begin
            grant <= pick;
            index <= first != 0 ? lowest(first) : lowest(wanting);
            behind <= after;            // nobody wanting: any start is fair
        end
`ifdef FORMAL
`include "arbiter_rr.formal.v"
`endif
endmodule

`resetall
