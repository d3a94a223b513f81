`default_nettype none
// Two ends of a virtual link, whose hosts do what they like, and a network that loses, doubles and reorders ROUTEs, and holds them
// for as long as
// it likes: each packet counts once and in order, and none is freed that has not.
//
// What arrives is any ROUTE that may have been sent so far (`could`); that this holds of all that were sent is shown of one, any, that is
// watched from then on. One that is damaged is lost, as is one whose low bits do not mean the numbers that it was sent with, since
// the CRC begins with
// the others. Numbers do not come round: 2^24 packets are as many as one life of a virtual link is for.
module net_vl_rules_formal #(
    parameter NUMBER = 7,
    parameter LOW    = 3,
    parameter WINDOW = 3
) (
    input wire clk
);
    localparam TIME = 5, STATE = 2 * NUMBER + 3 * (LOW - 1) + 9 + 2 * TIME;
    localparam [NUMBER-1:0] MOST = (1 << NUMBER) - (1 << LOW);
    reg begins = 1'b1;
    always @(posedge clk) begins <= 1'b0;

    function [NUMBER-1:0] nearest(input [NUMBER-1:0] known, input [LOW-1:0] low);
        reg [LOW-1:0] ahead;
        begin
            ahead   = low - known[LOW-1:0];
            nearest = known + {{NUMBER-LOW{ahead[LOW-1]}}, ahead};
        end
    endfunction

    // Of both ends, 0 lowest: state, and what it tells.
    reg  [2*STATE-1:0]   state;
    reg  [1:0]           over;              // its retries have run out
    wire [2*STATE-1:0]   after;
    wire [2*NUMBER-1:0]  base, expect_next, number;
    wire [2*(LOW-1)-1:0] count, next, top;
    wire [1:0]           packet, says, gives_up, has_room, passes;
    (* anyseq *) wire [1:0]          f_hears, f_turns, f_ticks, f_puts, f_resumes, f_urges, f_settles, f_stop, f_lost, f_packet;
    (* anyseq *) wire [1:0]          f_fits, f_takes, f_halts, f_again, f_watch, f_stale;
    (* anyseq *) wire [2*NUMBER-1:0] f_number, f_next, f_said;
    (* anyseq *) wire [2*TIME-1:0]   f_now;
    (* anyconst *) wire [NUMBER-1:0] f_any;

    // A ROUTE from an end could be: its packet has been sent, and all before the one that it expects have come there.
    reg  [1:0]          watched, w_packet;
    reg  [2*NUMBER-1:0] w_number, w_next;
    genvar e;
    generate
        for (e = 0; e < 2; e = e + 1) begin : g_end
            localparam P = 1 - e;
            wire [STATE-1:0]    own = state[STATE*e +: STATE], acked;
            wire [NUMBER-1:0]   own_base = base[NUMBER*e +: NUMBER];
            wire [NUMBER-1:0]   own_expect = expect_next[NUMBER*e +: NUMBER];
            wire [NUMBER-1:0]   a_number = f_number[NUMBER*e +: NUMBER], a_next = f_next[NUMBER*e +: NUMBER];
            wire                sealed = a_next == nearest(own_base, a_next[LOW-1:0]) &&
                                         (!f_packet[e] || a_number == nearest(own_expect, a_number[LOW-1:0]));
            wire                hears = f_hears[e] && sealed && !over[e] && !begins;
            wire                lives = !hears && !over[e] && !begins;
            wire                turns = lives && f_turns[e] && says[e];
            wire                ticks = lives && !turns && f_ticks[e];
            wire                puts  = lives && !turns && !f_ticks[e] && f_puts[e] && has_room[e];
            wire                resumes = lives && !turns && !f_ticks[e] && !puts && f_resumes[e];
            wire                counts, unsent, own_stop;
            wire [LOW-2:0]      own_next = next[(LOW-1)*e +: LOW-1];
            wire [LOW-2:0]      own_count = count[(LOW-1)*e +: LOW-1];
            wire [LOW-2:0]      own_top = top[(LOW-1)*e +: LOW-1];
            assign top[(LOW-1)*e +: LOW-1] = own[STATE-2*NUMBER-2*(LOW-1)-1 -: LOW-1];
            net_vl_rules #(.NUMBER(NUMBER), .LOW(LOW), .WINDOW(WINDOW), .TIME(TIME), .RETRY(1)) u_first (
                .state(own), .now(f_now[TIME*e +: TIME]), .ack(hears), .hear(1'b0), .turn(turns), .stale(f_stale[e]), .tick(ticks),
                .put(puts), .resume(resumes), .urge(lives && !turns && f_urges[e]), .settle(lives && !turns && f_settles[e]),
                .r_next(a_next[LOW-1:0]), .r_seq(a_number[LOW-1:0]), .r_lost(f_lost[e]), .r_stop(f_stop[e]), .r_packet(f_packet[e]),
                .r_fits(f_fits[e]), .r_takes(1'b0), .r_halts(1'b0), .r_counts(1'b0), .r_again(1'b0), .after(acked),
                .counts(counts), .unsent(unsent), .gives_up(gives_up[e]), .says(says[e]), .packet(packet[e]),
                .number(number[NUMBER*e +: NUMBER]),
                .base(base[NUMBER*e +: NUMBER]), .expect_next(expect_next[NUMBER*e +: NUMBER]), .count(count[(LOW-1)*e +: LOW-1]),
                .next(next[(LOW-1)*e +: LOW-1]), .has_room(has_room[e]), .own_stop(own_stop)
            );
            wire delivers;
            net_vl_rules #(.NUMBER(NUMBER), .LOW(LOW), .WINDOW(WINDOW), .TIME(TIME), .RETRY(1)) u_second (
                .state(acked), .now(f_now[TIME*e +: TIME]), .ack(1'b0), .hear(hears), .turn(1'b0), .stale(1'b0), .tick(1'b0), .put(1'b0),
                .resume(1'b0), .urge(1'b0), .settle(1'b0),
                .r_next(a_next[LOW-1:0]), .r_seq(a_number[LOW-1:0]), .r_lost(f_lost[e]), .r_stop(f_stop[e]), .r_packet(f_packet[e]),
                .r_fits(f_fits[e]), .r_takes(f_takes[e] && !own_stop), .r_halts(f_halts[e]), .r_counts(counts), .r_again(f_again[e]),
                .after(after[STATE*e +: STATE]), .delivers(delivers)
            );
            assign passes[e] = after[STATE*e + STATE-NUMBER-1 -: NUMBER] != own_expect;

            // From the other end.
            wire [NUMBER-1:0] far_base = base[NUMBER*P +: NUMBER], far_expect = expect_next[NUMBER*P +: NUMBER];
            wire [NUMBER-1:0] far_top = far_base + top[(LOW-1)*P +: LOW-1];
            always @* begin
                assume (!(f_packet[e] && a_number >= far_top) && a_next <= far_expect);
                assume (own_base < MOST);
                assume (f_said[NUMBER*e +: NUMBER] <= own_expect);      // what a ROUTE says that was begun before
                assert (!watched[P] || !w_packet[P] || w_number[NUMBER*P +: NUMBER] < far_top);
                assert (!watched[P] || w_next[NUMBER*P +: NUMBER] <= far_expect);
            end

            // Of packets of the other end: what has come is what it has sent, as far as it goes; it still holds what has not come.
            always @* begin
                assert (far_base <= own_expect && own_expect <= far_top);
                assert (own_next <= own_top && own_top <= own_count && own_count <= WINDOW);
                assert (!unsent);
                if (delivers) assert (hears && f_packet[e] && f_fits[e] && f_takes[e] && !own_stop && a_number == own_expect);
                if (passes[e]) assert (hears && f_packet[e] && a_number == own_expect &&
                    after[STATE*e + STATE-NUMBER-1 -: NUMBER] == own_expect + 1'b1);
                if (passes[e]) assert (delivers || !f_fits[e]);
                if (own_count != 0 && !says[e] && !over[e]) assert (own_top != 0 || own[2*TIME + 4]);   // it waits for an answer, or for GO
            end
            reg [NUMBER-1:0] total;         // packets that the host has handed over
            always @(posedge clk) total <= begins ? {NUMBER{1'b0}} : total + puts;
            always @* if (!begins) assert (own_base + own_count == total);
            reg got;                        // packet f_any has come
            always @(posedge clk) got <= !begins && (got || (passes[e] && own_expect == f_any));
            always @* if (!begins) begin
                assert (got == (own_expect > f_any));
                assert (!(got && delivers && a_number == f_any));
            end

            always @(posedge clk) begin
                if (gives_up[e]) over[e] <= 1'b1;
                else state[STATE*e +: STATE] <= after[STATE*e +: STATE];
                if (turns && f_watch[e]) begin
                    watched[e] <= 1'b1;
                    w_packet[e] <= packet[e];
                    w_number[NUMBER*e +: NUMBER] <= number[NUMBER*e +: NUMBER];
                    w_next[NUMBER*e +: NUMBER]   <= f_stale[e] ? f_said[NUMBER*e +: NUMBER] : own_expect;
                end
                if (begins) begin
                    state[STATE*e +: STATE] <= {STATE{1'b0}};
                    {over[e], watched[e]} <= 2'b00;
                end
            end
            always @* if (begins) assume (own == 0 && !over[e] && !watched[e]);
        end
    endgenerate
endmodule
`resetall
