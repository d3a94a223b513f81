`default_nettype none
// Matches the inputs of a crossbar with its outputs, for a packet at a time; one input in a clock, with one output, or with several for
// copies of one packet.
//
// Contract:
//   want[N*i+o]: input i has a packet for output o; a wish stands until it is granted. room[o]: output o can take a packet; it stays
//   until o is given one.
//   many[N*i+o]: of these, what would be copies of one packet. It is given to all outputs that are open to it in that clock; the wishes
//   for the others stand (fan-out splitting).
//   start (one-hot pulse) with `outs`: that input begins its packet for those outputs now, and has them until its `done` (pulse, from
//   the clock after start on). `cast`: it is that of `many`; else outs is one, `to`. from[o]: the input that output o had last; `taken`:
//   it has it still.
//   No output that has room idles for longer than a clock for each input while an input without a packet underway wants it and no other is
//   owed it.
//   Fair: an output serves its inputs in turn. An input that is busy elsewhere when it is its turn is passed over, PATIENCE times at most;
//   then the output is kept for it, and it goes to such outputs, in turn, before all others. So an output begins at most N * (PATIENCE + 2)
//   packets before one that waits for it. An output that is kept idles until its input is done, for half a packet or more: so PATIENCE
//   costs 1 / (PATIENCE + 1) of that under full load, unless WIDTH has the crossbar faster than its links.
//
// Proven: net_match.formal.v.
// Source: round-robin matching of input-queued switches (McKeown, iSLIP), here for packets of any length; fan-out splitting: Prabhakar,
// McKeown and Ahuja 1997.
module net_match #(
    parameter N        = 5,
    parameter PATIENCE = 15
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire [N*N-1:0]       want,
    input  wire [N*N-1:0]       many,
    input  wire [N-1:0]         room,
    input  wire [N-1:0]         done,
    output reg  [N-1:0]         start,
    output reg                  cast,
    output reg  [N-1:0]         outs,
    output reg  [$clog2(N)-1:0] to,
    output reg  [N-1:0]         taken,
    output reg  [N*$clog2(N)-1:0] from
);
    localparam NW = $clog2(N);
    localparam PW = $clog2(PATIENCE + 1);
    generate
        if (N < 2) error_a_crossbar_has_two_ports_at_least u_check_ports ();
    endgenerate

    // The first of x from those set in `behind` on, which are all from some place on; then from the lowest. One-hot.
    function [N-1:0] first(input [N-1:0] x, input [N-1:0] behind);
        reg [N-1:0] y;
        begin
            y     = (x & behind) != 0 ? x & behind : x;
            first = y & (~y + 1'b1);
        end
    endfunction
    // Those behind a place.
    function [N-1:0] after(input [N-1:0] place);
        after = ~(place | (place - 1'b1));
    endfunction
    function [NW-1:0] number(input [N-1:0] place);
        integer k;
        begin
            number = {NW{1'b0}};
            for (k = 0; k < N; k = k + 1) if (place[k]) number = number | k[NW-1:0];
        end
    endfunction

    reg  [N-1:0]   busy;                // inputs that have a packet underway
    reg  [N*N-1:0] has;                 // has[N*i+o]: an output that input i has
    reg  [N*N-1:0] owed;                // likewise: the output is kept for the input
    reg  [N-1:0]   kept;                // outputs that are
    reg  [N-1:0]   inputs_behind;       // whose turn it is, of the inputs
    reg  [N*N-1:0] outputs_behind;      // of the outputs, for each input
    reg  [N*N-1:0] turns;               // of the inputs, for each output
    reg  [N*PW-1:0] passed;             // how often an output has passed over one

    // An input, an output for it, and those that take copies with it.
    reg  [N*N-1:0] open;
    reg  [N-1:0]   able, input_now, opens, owes, joins, places, output_now, outs_now, due;
    reg            cast_now;
    integer i, o;
    always @* begin
        for (i = 0; i < N; i = i + 1) begin
            open[N*i +: N] = want[N*i +: N] & room & ~taken & ~due & (~kept | owed[N*i +: N]);
            able[i]        = open[N*i +: N] != 0 && !busy[i];
        end
        input_now = first(able, inputs_behind);
        opens     = {N{1'b0}};
        owes      = {N{1'b0}};
        joins     = {N{1'b0}};
        places    = {N{1'b0}};
        for (i = 0; i < N; i = i + 1)
            if (input_now[i]) begin
                opens  = opens  | open[N*i +: N];
                owes   = owes   | (open[N*i +: N] & owed[N*i +: N]);
                joins  = joins  | (open[N*i +: N] & many[N*i +: N]);
                places = places | outputs_behind[N*i +: N];
            end
        output_now = first(owes != 0 ? owes : opens, places);
        cast_now   = (output_now & joins) != 0;
        outs_now   = cast_now ? joins : output_now;
    end

    // Whose turn it was at the outputs that have been given away: one after the other from the next clock on. None is given away again
    // before that.
    reg  [N-1:0]  due_behind;
    reg  [N-1:0]  due_now, giver, wanting, turn, in_turn;
    reg  [NW-1:0] given;
    reg  [PW-1:0] times;
    always @* begin
        due_now = first(due, due_behind);
        given   = {NW{1'b0}};
        for (o = 0; o < N; o = o + 1) if (due_now[o]) given = given | from[NW*o +: NW];
        giver   = {{(N-1){1'b0}}, 1'b1} << given;
        wanting = giver;
        turn    = {N{1'b0}};
        times   = {PW{1'b0}};
        for (o = 0; o < N; o = o + 1)
            if (due_now[o]) begin
                for (i = 0; i < N; i = i + 1) wanting[i] = wanting[i] | want[N*i + o];
                turn  = turn  | turns[N*o +: N];
                times = times | passed[PW*o +: PW];
            end
        in_turn = first(wanting, turn);
    end

    always @(posedge clk) begin
        start <= input_now;
        to    <= number(output_now);
        outs  <= outs_now;
        cast  <= cast_now;
        due   <= (due & ~due_now) | outs_now;
        if (due_now != 0) due_behind <= after(due_now);
        busy  <= (busy & ~done) | input_now;
        inputs_behind <= input_now != 0 ? after(input_now) : inputs_behind;
        for (o = 0; o < N; o = o + 1) begin
            for (i = 0; i < N; i = i + 1)
                if (done[i] && has[N*i + o]) taken[o] <= 1'b0;
            if (outs_now[o]) begin
                taken[o]         <= 1'b1;
                kept[o]          <= 1'b0;
                from[NW*o +: NW] <= number(input_now);
            end
            if (due_now[o]) begin
                if (in_turn == giver) begin
                    turns[N*o +: N]    <= after(giver);
                    passed[PW*o +: PW] <= {PW{1'b0}};
                end else if ({{(32 - PW){1'b0}}, times} == PATIENCE) kept[o] <= 1'b1;
                else passed[PW*o +: PW] <= times + 1'b1;
            end
        end
        for (i = 0; i < N; i = i + 1) begin
            if (input_now[i]) begin
                has[N*i +: N]            <= outs_now;
                outputs_behind[N*i +: N] <= after(output_now);
            end
            for (o = 0; o < N; o = o + 1)
                if (due_now[o]) owed[N*i + o] <= in_turn[i] && !giver[i];
        end
        if (rst) begin
            {start, outs, busy, taken, kept, due, due_behind, inputs_behind} <= {8*N{1'b0}};
            owed           <= {N*N{1'b0}};
            outputs_behind <= {N*N{1'b0}};
            turns          <= {N*N{1'b0}};
            passed         <= {N*PW{1'b0}};
        end
    end

`ifdef FORMAL
`include "net_match.formal.v"
`endif
endmodule
`resetall
