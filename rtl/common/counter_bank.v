// Event counters: N one-bit events, each counted in a 32-bit word of one block memory, which holds other words beside them.
//
// Contract
//   Every clock in which event_in[i] is high adds one to counter i; any number of events may be high in
//   any number of clocks, none is lost. Only one with SLOW[i] set must be eight clocks or more behind the
//   last of its kind; simulations count wrong where it is not, so that a test fails.
//   Counters wrap at 2^32. rst clears them; events count from the first clock after it, while the memory
//   is still being cleared too.
//   Read: hold rd_en and rd_addr until rd_valid, which comes 5 to 20 clocks later for one clock, with
//   rd_data. rd_en in the clock after rd_valid is a new request; one in 8 clocks is answered at most.
//   The value is exact: it holds every event up to 5 clocks before rd_valid and none after. Addresses
//   from N up read 0.
//   There are as many other words, at least. A request with `other` is for word rd_addr of these, and writes wr_data there if wr_en is
//   high too, until rd_valid. The first FIRST of them hold INIT from configuration on. rst changes none.
//
// How: each event has a small free-running counter of ACC bits, or FEW if it is slow; the word's low
// bits are that counter as the last visit saw it. A walker visits one word a clock: where the small
// counter went below the word's low bits it wrapped once, so the word's upper part is raised by one.
// Nothing is cleared or subtracted, so a visit may be repeated or dropped at will. A read is a visit
// out of turn, at most one in 8 clocks, so a small counter cannot wrap twice between two visits.
//
// HX8K: 482 LUT4 (15 a counter) with N=32, 398 where 16 of them are slow; two block memories.
// Proven: counter_bank.formal.v, by induction with N=4.
`default_nettype none

module counter_bank #(
    parameter         N    = 32,        // 1 to 128
    parameter [N-1:0] SLOW = 0,         // events that are eight clocks or more apart
    parameter         FIRST = 0,
    parameter [(FIRST > 0 ? FIRST : 1)*32-1:0] INIT = 0
) (
    input  wire                               clk,
    input  wire                               rst,
    input  wire [N-1:0]                       event_in,
    input  wire                               rd_en,
    input  wire [(N > 1 ? $clog2(N) : 1)-1:0] rd_addr,
    input  wire                               other,
    input  wire                               wr_en,
    input  wire [31:0]                        wr_data,
    output reg                                rd_valid,
    output wire [31:0]                        rd_data
);
    localparam IW    = N > 1 ? $clog2(N) : 1;
    localparam AW    = N > 4 ? $clog2(N) : 2;
    localparam SLOTS = 1 << AW;
    // A word is visited again after SLOTS steps of the walker, one clock in 8 taken by a read; the
    // reserve covers the visits in flight, whose words are read before they are written.
    localparam ROUND = SLOTS + SLOTS / 7 + 10;
    localparam ACC   = $clog2(ROUND);
    localparam FEW   = $clog2((ROUND + 6) / 8 + 1);
    localparam HIGH  = 32 - ACC;

    generate
        if (N < 1 || N > 128) error_n_must_be_1_to_128 u_check_n ();
    endgenerate

    wire [N-1:0] too_soon;
`ifdef SYNTHESIS
    wire         some = 1'b1;
    assign too_soon = 0;
`else
    // Simulations do nothing for events while there are none.
    wire         some = event_in != 0;
    reg  [2:0]   quiet;                 // clocks without an event, up to 7
    reg  [N-1:0] recent [1:7];
    integer      ago;
    always @(posedge clk) begin
        quiet <= rst || (&quiet && !some) ? 3'd7 : some ? 3'd0 : quiet + 3'd1;
        if (some || !(&quiet)) begin
            recent[1] <= rst ? 0 : event_in;
            for (ago = 2; ago <= 7; ago = ago + 1) recent[ago] <= rst || &quiet ? 0 : recent[ago-1];
        end
    end
    assign too_soon = &quiet ? 0 : event_in & SLOW
        & (recent[1] | recent[2] | recent[3] | recent[4] | recent[5] | recent[6] | recent[7]);
`endif

    // Small counters, ACC bits each; those that there are not stay 0.
    wire [SLOTS*ACC-1:0] tally;
    wire [SLOTS-1:0]     is_slow;
    genvar g;
    generate
        for (g = 0; g < SLOTS; g = g + 1) begin : slot
            if (g < N) begin : used
                localparam BITS = SLOW[g] ? FEW : ACC;
                reg [BITS-1:0] count;
                always @(posedge clk) if (rst || some) count <= rst ? 0 : count + {{BITS-1{1'b0}}, event_in[g] && !too_soon[g]};
                assign is_slow[g] = SLOW[g];
                assign tally[ACC*g +: BITS] = count;
                if (BITS < ACC) assign tally[ACC*g + BITS +: ACC - BITS] = 0;
            end else begin : absent
                assign is_slow[g] = 1'b0;
                assign tally[ACC*g +: ACC] = 0;
            end
        end
    endgenerate

    // Stage 0: whom to visit. In its first round, and until the last word of that round is written,
    // the walker takes what it reads for 0.
    reg  [2:0]    turn;
    reg  [AW-1:0] walk;
    reg  [3:0]    round;                // ones move up from bit 0 when the first round is over
    wire          ask = rd_en && turn == 0;
    wire [AW-1:0] ask_addr;
    generate
        if (AW > IW) assign ask_addr = {{AW-IW{1'b0}}, rd_addr};
        else         assign ask_addr = rd_addr;
    endgenerate

    always @(posedge clk)
        if (rst) begin
            turn  <= 0;
            walk  <= 0;
            round <= 0;
        end else begin
            turn  <= turn + 3'd1;
            round <= {round[2:0], round[0] || (&walk && !ask)};
            if (!ask) walk <= walk + {{AW-1{1'b0}}, 1'b1};
        end

    // Stages 1 and 2: choose the small counter, four to one and then among the groups; stage 2 reads
    // the word too. A visit that would read a word in the clock of its writing is dropped: its
    // predecessor three clocks before has just done the work; a read asks again.
    reg  [AW-1:0]  addr1, addr2, addr3, addr4, addr5;
    reg  [4:1]     go, host;
    reg  [3:1]     fresh;
    reg  [5:1]     apart;               // among the other words
    reg            slow3;
    reg  [ACC-1:0] now3, now4;
    reg            write5;
    reg  [31:0]    word5;
    wire [31:0]    word3;
    wire           clash = write5 && {apart[5], addr5} == {apart[2], addr2};

    always @(posedge clk) begin
        go    <= rst ? 4'd0 : {go[3], go[2] && !clash, go[1], 1'b1};
        host  <= {host[3:1], ask};
        apart <= {apart[4:1], ask && other};
        fresh <= {fresh[2:1], !round[3] && !(ask && other)};
        addr1 <= ask ? ask_addr : walk;
        addr2 <= addr1;
        addr3 <= addr2;
        addr4 <= addr3;
        addr5 <= addr4;
    end

    wire [ACC-1:0]         chosen;
    reg  [2*SLOTS-1:0]     groups;      // 8 bits each, of which ACC are in use
    wire                   unused = ^groups;
    generate
        for (g = 0; g < SLOTS / 4; g = g + 1) begin : four
            wire [4*ACC-1:0] of = tally[4*ACC*g +: 4*ACC];
            always @(posedge clk) groups[8*g +: 8] <= {{8-ACC{1'b0}}, addr1[1] ? (addr1[0] ? of[3*ACC +: ACC] : of[2*ACC +: ACC])
                                                                                  : (addr1[0] ? of[ACC +: ACC] : of[0 +: ACC])};
        end
        if (AW > 2) assign chosen = groups[{addr2[AW-1:2], 3'd0} +: ACC];
        else        assign chosen = groups[ACC-1:0];
    endgenerate

    // Stage 3: compare the small counter with the word's low bits. Stage 4: if it wrapped, raise the upper part, and of a slow one's
    // word the bits that a large one has. Stage 5: write.
    wire [FEW-1:0]     low     = word3[FEW-1:0];
    wire [ACC-FEW-1:0] mid     = word3[ACC-1:FEW];
    wire [ACC-FEW-1:0] now_mid = now3[ACC-1:FEW];
    wire               counted = !fresh[3] && !apart[3];    // the word holds an earlier count
    wire               store3  = apart[3] && wr_en;
    reg                slow4, less4, above4, level4;
    reg  [HIGH-1:0]    high4;
    wire               wrap4   = above4 || (level4 && less4);
    wire [31:0]        sum4    = {
        high4 + {{HIGH-1{1'b0}}, wrap4},
        now4[ACC-1:FEW] + {{ACC-FEW-1{1'b0}}, slow4 && less4},
        now4[FEW-1:0]
    };
    always @(posedge clk) begin
        now3     <= chosen;
        slow3    <= is_slow[addr2];
        slow4    <= slow3;
        now4     <= store3 ? wr_data[ACC-1:0] : apart[3] ? word3[ACC-1:0]
            : {!slow3 ? now_mid : fresh[3] ? {ACC-FEW{1'b0}} : mid, now3[FEW-1:0]};
        high4    <= store3 ? wr_data[31:ACC] : fresh[3] ? {HIGH{1'b0}} : word3[31:ACC];
        less4    <= counted && now3[FEW-1:0] < low;
        above4   <= counted && !slow3 && now_mid < mid;
        level4   <= slow3 ? &mid : now_mid == mid;
        word5    <= sum4;
        write5   <= go[4] && !rst;
        rd_valid <= go[4] && host[4] && !rst;
    end

    assign rd_data = word5;

`ifdef FORMAL
    wire [AW:0]   f_at;
    wire [31:0]   f_word;
`endif
    // The other words come first: a memory begins with its initial ones.
    ram_sdp #(.WIDTH(32), .DEPTH(2 * SLOTS), .FIRST(FIRST), .INIT(INIT)) u_ram (
        .clk(clk),
        .wr_en(write5 && !rst), .wr_addr({!apart[5], addr5}), .wr_data(word5),
        .rd_en(1'b1), .rd_addr({!apart[2], addr2}), .rd_data(word3)
`ifdef FORMAL
        , .f_addr(f_at), .f_word(f_word)
`endif
    );
`ifdef FORMAL
`include "counter_bank.formal.v"
`endif
endmodule

`resetall
