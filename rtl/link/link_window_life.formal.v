`default_nettype none
// One life of an end, for link_window.formal.v: whom it knows, and whether it is up, by link_state's rules.
//
// Contract: it begins with `begins`, once, and ends with `ends`, or by itself; what it was then stands.
//   comes: an item, its kind and whether it is `from` the watched life of the other end, and sealed `to` this one. same: if it is of a life
//   that is not watched, whether that is the one that this end knows, and whether the key is right.
//   pair: whom it knows is the other end in its watched life. takes: the item is sealed to this life by the one that it knows.
module link_window_life (
    input  wire clk,
    input  wire rst,
    input  wire begins,
    input  wire ends,
    input  wire same,
    input  wire comes,
    input  wire init,
    input  wire word,
    input  wire from,
    input  wire to,
    output reg  was,
    output reg  lives,
    output reg  known,
    output reg  pair,
    output reg  up,
    output wire takes
);
    wire hears   = lives && comes;
    wire another = hears && init && known && (pair || from ? pair != from : !same);
    assign takes = hears && !init && known && to && (pair || from ? pair && from : same);
    always @(posedge clk)
        if (rst) {was, lives, known, pair, up} <= 5'd0;
        else begin
            if (!was && begins) {was, lives} <= 2'b11;
            if (hears && init && !up) begin
                known <= !another;
                if (!known) pair <= from;
            end
            if (takes && word) up <= 1'b1;
            if (lives && (ends || (up && another))) lives <= 1'b0;
        end
endmodule
`resetall
