`default_nettype none
// Clock and data recovery from a line that is sampled several times a bit.
//
// Contract
//   line: any input, also a pin. d_valid is high for one clock a bit, OVERSAMPLE clocks apart, or one more or less where the
//   sampling point moves; d is that bit.
//   The sampling point moves by one clock when VOTES more edges came on its one side than on the other; an edge in the clock in
//   which it is expected takes one back. So it follows the mean of the edges, not each one.
//   With VOTES of OVERSAMPLE/2 or less, an edge in every clock can make a bit longer than that.
//   Between sampling point and expected edge lie (OVERSAMPLE-1)/2 clocks or more: odd OVERSAMPLE uses its samples best.
//
// HX8K: 25 LUT4. What it tolerates: see phy_serial.
module cdr_oversample #(
    parameter OVERSAMPLE = 5,           // 3 or more
    parameter VOTES      = 8            // power of two
) (
    input  wire clk,
    input  wire rst,
    input  wire line,
    output reg  d_valid,
    output reg  d
);
    localparam PW = $clog2(OVERSAMPLE + 1);
    localparam VW = $clog2(VOTES);
    localparam [31:0] SIZE     = OVERSAMPLE;
    localparam [31:0] HALF     = (SIZE - 1) / 2;
    localparam [PW-1:0] MIDDLE = HALF[PW-1:0];
    localparam [PW-1:0] LAST   = SIZE[PW-1:0] - 1'b1;

    generate
        if (OVERSAMPLE < 3) error_oversample_must_be_at_least_three u_check_oversample ();
        if (VOTES != 1 << VW || VOTES < 2) error_votes_must_be_a_power_of_two_from_two u_check_votes ();
    endgenerate

    wire now;
    reg  was;
    sync_bit u_sync (.clk(clk), .d(line), .q(now));

    // Phase 0 is the clock in which an edge is expected. votes stands between -VOTES+1 and VOTES-1, and at 0 after a move.
    reg  [PW-1:0] phase;
    reg  [VW:0]   votes;
    reg           longer, shorter;      // the next bit is to be one clock more, or less
    wire          edge_now  = now ^ was;
    wire          on_time   = phase == {PW{1'b0}};
    wire          sooner;               // an edge now is early
    at_least #(.WIDTH(PW), .LIMIT(HALF + 1)) u_before (.x(phase), .y(sooner));
    wire          change    = edge_now && !(on_time && votes == 0);
    wire          down      = change && (sooner || (on_time && !votes[VW]));
    wire          too_late  = edge_now && !sooner && !on_time && votes == {1'b0, {VW{1'b1}}};
    wire          too_early = edge_now && sooner && votes == {1'b1, {VW{1'b0}}} + 1'b1;
    wire          moved    = longer ? phase == LAST + 1'b1 : shorter && phase == LAST - 1'b1;
    wire          wrap     = moved || (phase == LAST && !longer);

    always @(posedge clk) begin
        was     <= now;
        phase   <= wrap ? {PW{1'b0}} : phase + 1'b1;
        d_valid <= phase == MIDDLE;
        d       <= now;

        votes   <= too_late || too_early ? {VW + 1{1'b0}} : votes + {{VW{down}}, change};
        if (too_late || too_early) {longer, shorter} <= {too_late, too_early};
        else if (moved)            {longer, shorter} <= 2'b00;

        if (rst) begin
            phase <= 0;
            votes <= 0;
            {longer, shorter, d_valid} <= 3'b000;
        end
    end
endmodule
`resetall
