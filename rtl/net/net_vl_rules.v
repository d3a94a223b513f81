`default_nettype none
// The rules of one end of a virtual link that is up: its state, an event, and the state after it. It is combinational.
//
// Contract:
//   state -> after, at one event at most:
//     ack     a ROUTE with the right key has come, and its r_next. `freed`: packets that it acknowledges; `counts`: r_next is
//     one that may be; `unsent`: it acknowledges what was not sent
//     hear    the rest of it, behind ack, with r_counts as it was and r_again: the oldest packet was sent again within TURN
//     turn    the end says something: number `number` if `packet`, else a word; with `stale` its state was said as it had been before
//     tick    `now` has moved on. gives_up: the retries have run out, and `after` means nothing
//     settle  what has come is to be acknowledged, if it is not yet
//     put     a packet has come to be sent, while has_room
//     resume  what stopped the end does so no more
//     urge    its state is to be said
//   of a ROUTE: r_lost, r_stop: what it says; r_packet: it has a packet, of number r_seq, which r_fits a link, and which the
//   receiver r_takes
//   if it is `delivers`; r_halts: it stops the end if it is the one expected, taken or not, which is `stops`.
//   says: the end has something to say. replay: it goes back. A cleared state is that of an end that is new.
//   Numbers have NUMBER bits, of which ROUTEs say LOW. At most WINDOW packets are held. Times are in ticks; RETRY << 3 is below
//   1 << TIME - 1.
//
// Source: doc/protocol.md, "Virtual links". Proven: net_vl_rules.formal.v.
module net_vl_rules #(
    parameter NUMBER      = 24,
    parameter LOW         = 8,
    parameter WINDOW      = 32,
    parameter TIME        = 8,
    parameter RETRY       = 4,
    parameter RETRY_LIMIT = 8,
    parameter TURN        = 1,
    parameter STATE       = 2 * NUMBER + 3 * (LOW - 1) + 9 + 2 * TIME
) (
    input  wire [STATE-1:0]  state,
    input  wire [TIME-1:0]   now,
    input  wire              ack,
    input  wire              hear,
    input  wire              turn,
    input  wire              stale,
    input  wire              tick,
    input  wire              settle,
    input  wire              put,
    input  wire              resume,
    input  wire              urge,
    input  wire [LOW-1:0]    r_next,
    input  wire [LOW-1:0]    r_seq,
    input  wire              r_lost,
    input  wire              r_stop,
    input  wire              r_packet,
    input  wire              r_fits,
    input  wire              r_takes,
    input  wire              r_halts,
    input  wire              r_counts,
    input  wire              r_again,
    output wire [STATE-1:0]  after,

    output wire              counts,
    output wire              unsent,
    output wire [LOW-2:0]    freed,
    output wire              delivers,
    output wire              stops,
    output wire              gives_up,
    output wire              replay,

    output wire              says,
    output wire              packet,
    output wire [NUMBER-1:0] number,
    output wire [NUMBER-1:0] base,          // number of the oldest packet held
    output wire [NUMBER-1:0] expect_next,   // number of the packet expected next
    output wire [LOW-2:0]    count,         // packets held
    output wire [LOW-2:0]    next,          // of them those before the one to send next
    output wire              repeats,       // that was sent before
    output wire              has_room,
    output wire              unsaid,        // packets have come that are not acknowledged
    output wire              lost,          // the packet expected next is missing
    output wire              own_stop,
    output wire              peer_stop
);
    localparam CW = LOW - 1;
    localparam [CW-1:0] ONE = 1, MOST = WINDOW[CW-1:0];
    generate
        if (WINDOW < 1 || WINDOW >= 1 << CW) error_window_must_be_less_than_half_the_numbers u_check_window ();
        if (RETRY < 1 || RETRY << 3 >= 1 << (TIME - 1) || RETRY_LIMIT < 1 || RETRY_LIMIT > 8) error_retry_does_not_fit u_check_retry ();
    endgenerate

    wire [CW-1:0]   top;                    // packets that were sent
    wire            urgent, probe;
    wire [2:0]      retries;
    wire [TIME-1:0] said, start;
    assign {base, expect_next, count, next, top, urgent, unsaid, lost, own_stop, peer_stop, probe, retries, said, start} = state;

    wire [LOW-1:0] acked = r_next - base[LOW-1:0];
    wire [LOW-1:0] ahead = r_seq - expect_next[LOW-1:0];
    assign counts   = !acked[CW] && acked[CW-1:0] <= top;
    assign unsent   = ack && !acked[CW] && !counts;
    assign freed    = counts ? acked[CW-1:0] : {CW{1'b0}};
    assign packet   = next < count && (!peer_stop || probe);
    assign says     = urgent || packet;
    assign number   = base + {{NUMBER-CW{1'b0}}, next};
    assign repeats  = next < top;
    assign has_room = count < MOST;

    wire in_turn  = hear && r_packet && ahead == {LOW{1'b0}};
    assign delivers = in_turn && r_fits && r_takes;
    assign stops    = in_turn && r_fits && r_halts;
    wire passes   = in_turn && (!r_fits || r_takes);
    wire misses   = hear && r_packet && !passes && !ahead[CW];
    wire missed   = hear && r_lost && r_counts && next != {CW{1'b0}} && !r_again;

    wire [TIME-1:0] waited = now - start, quiet = now - said;
    wire waiting  = top != {CW{1'b0}} || (peer_stop && count != {CW{1'b0}});
    wire runs_out = tick && waiting && waited >= RETRY[TIME-1:0] << (retries > 3'd3 ? 2'd3 : retries[1:0]);
    localparam [31:0] LAST = RETRY_LIMIT - 1;
    assign gives_up = runs_out && retries == LAST[2:0];
    assign replay   = missed || (runs_out && !gives_up);

    reg [NUMBER-1:0] base_n, expect_n;
    reg [CW-1:0]     count_n, next_n, top_n;
    reg              urgent_n, unsaid_n, lost_n, own_stop_n, peer_stop_n, probe_n;
    reg [2:0]        retries_n;
    reg [TIME-1:0]   said_n, start_n;
    always @* begin
        {base_n, expect_n, count_n, next_n, top_n}                       = {base, expect_next, count, next, top};
        {urgent_n, unsaid_n, lost_n, own_stop_n, peer_stop_n, probe_n}   = {urgent, unsaid, lost, own_stop, peer_stop, probe};
        {retries_n, said_n, start_n}                                     = {retries, said, start};
        if (ack) begin
            peer_stop_n = r_stop;
            base_n  = base + {{NUMBER-CW{1'b0}}, freed};
            count_n = count - freed;
            top_n   = top - freed;
            next_n  = next > freed ? next - freed : {CW{1'b0}};
            if (freed != {CW{1'b0}}) begin
                probe_n = 1'b0;
                start_n = now;
            end
            if (freed != {CW{1'b0}} || r_stop) retries_n = 3'd0;    // it is there
        end
        if (hear && r_packet && ahead[CW]) urgent_n = 1'b1;         // its acknowledgement must have been lost
        if (misses) begin
            lost_n = 1'b1;
            if (!lost || quiet >= TURN[TIME-1:0]) urgent_n = 1'b1;
        end
        if (passes) begin
            expect_n = expect_next + {{NUMBER-1{1'b0}}, 1'b1};
            lost_n   = 1'b0;
            unsaid_n = 1'b1;
            if (lost || own_stop) urgent_n = 1'b1;
        end
        if (stops) {own_stop_n, urgent_n} = 2'b11;
        if (resume && own_stop)  {own_stop_n, urgent_n} = 2'b01;
        if (urge || (settle && unsaid)) urgent_n = 1'b1;
        if (turn) begin
            if (!stale) {urgent_n, unsaid_n} = 2'b00;
            if (lost && !stale) said_n = now;
            if (packet) begin
                probe_n = 1'b0;
                next_n  = next + ONE;
                if (!repeats) top_n = top + ONE;
            end
        end
        if (tick) begin
            if (!waiting || runs_out) start_n = now;
            if (quiet[TIME-1]) said_n = {~now[TIME-1], now[TIME-2:0]};  // before `now` comes round
            if (runs_out) begin
                retries_n = retries + 3'd1;
                probe_n   = peer_stop;
            end
        end
        if (replay) next_n = {CW{1'b0}};
        if (put) count_n = count + ONE;
    end
    assign after = {base_n, expect_n, count_n, next_n, top_n, urgent_n, unsaid_n, lost_n, own_stop_n, peer_stop_n, probe_n, retries_n,
        said_n, start_n};
endmodule
`resetall
