`default_nettype none
// Barriers of a router: by which ports the next phase of each group has been said, and what is said by them.
//
// Contract:
//   Port 0 is this node, ports 1 .. PORTS are links; bits of s_* and h_* are those of links, link 1 lowest.
//   heard: {first, valid, group, value} by link. first (pulse): a word comes, of any kind; if it is a BARRIER, group is its group. valid
//   (pulse), in the same clock or later: what came since the last first was a BARRIER, whose value is value. It is looked at within
//   3 * (PORTS + 2) clocks; a later one takes its place before.
//   s_valid[p]: s_word, {group, value}, which is the same for all links, is to be said by the link. It stands until all have taken it:
//   s_take[p], which a link that is not alive need not do. Behind that no other word is said for 64 clocks, in which the routers at the
//   other ends look at it; but for a word that is only said again, which another may follow at once. What has to be said meanwhile is said
//   when the time has come. No word and no register waits for it.
//   AGAIN symbol times (`tick`) after a group the next one is said again.
//   reg_*: stands until reg_done; reg_ok is low for a register that cannot be written, or does not exist. reg_addr: which of
//   the block it is.
//   For 128 clocks after reset nothing is answered, and what is heard waits.
//
// HX8K: 194 LUT4 and two block memories with one link, 574 and 19 with 16.
// Proven (net_barrier.formal.v): what it says by a link, and what it lets its node leave, all members on the other ports have entered.
// Source: doc/protocol.md, "Barriers"; the rules are those of flowctl.Barriers.
module net_barrier #(
    parameter PORTS = 4,
    parameter AGAIN = 512
) (
    input  wire               clk,
    input  wire               rst,
    input  wire               tick,
    input  wire [PORTS-1:0]   alive,

    input  wire [15*PORTS-1:0] heard,
    output reg  [PORTS-1:0]   s_valid,
    output reg  [12:0]        s_word,
    input  wire [PORTS-1:0]   s_take,

    input  wire               reg_en,
    input  wire               reg_write,
    input  wire [6:0]         reg_addr,
    input  wire [31:0]        reg_wdata,
    output reg                reg_done,
    output wire               reg_ok,
    output reg  [31:0]        reg_value
);
`include "linkproto.vh"
    localparam N = PORTS + 1;
    localparam EW = 2 * N + 10;             // an entry: generation, phase, what is owed, entered, ports
    localparam AGEW = $clog2(AGAIN + 1);
`ifdef FORMAL
    localparam WORDS = 4;
    wire [64*PORTS-1:0] f_words;            // all places
    wire [EW-1:0]       f_word;
    (* anyconst *) wire [4:0] f_group;      // that is followed
`else
    localparam WORDS = 256;                 // else this becomes flip-flops
`endif
    localparam WW = $clog2(WORDS);
    localparam [2:0] CHOOSE = 3'd1, FETCH = 3'd2, LOOK = 3'd4;

    wire [3:0] number = {2'd0, reg_addr[1:0]};

    // Of a link's words the last good one lies in one place of its memory, and what comes goes to the other. Who is not at its turn reads
    // zeros, so what is read of all is the word of the one which is.
    reg  [2:0]          step;
    wire                chooses = step == CHOOSE, looks = step == LOOK;
    reg  [PORTS-1:0]    waits, place;
    reg                 clearing;
    reg  [N-1:0]        left, at;           // ports whose turn in this round has not been; that at its turn, one bit
    wire [N-1:0]        turns = {waits & {PORTS{!clearing}}, 1'b1} & left, minus = ~turns + 1'b1, first = turns & minus;
    wire                begins = turns != 0;
    wire [16*PORTS-1:0] words;
    genvar p;
    generate
        for (p = 0; p < PORTS; p = p + 1) begin : g_words
            wire [7:0] to = {6'd0, 1'b1, place[p]}, of = {6'd0, first[p+1], !place[p]};
            ram_sdp #(
                .WIDTH(16), .DEPTH(WORDS), .WORD_BYTES(2), .FIRST(4), .INIT(64'd0)
`ifdef FORMAL
                , .PROBES(4)
`endif
            ) u_words (
                .clk(clk), .wr_en(heard[15*p+13 +: 2]), .wr_addr(to[WW-1:0]), .wr_data({3'd0, heard[15*p +: 13]}),
                .rd_en(chooses), .rd_addr(of[WW-1:0]), .rd_data(words[16*p +: 16])
`ifdef FORMAL
                , .f_addr(8'b11_10_01_00), .f_word(f_words[64*p +: 64])
`endif
            );
        end
    endgenerate

    // The turn of port 0 is a request's of the host, or else that of the next group which may be owed something.
    reg         asks, due;
    reg  [4:0]  walk, turn;                 // turn: of the group that is said again next
    reg  [12:0] word;
    integer i;
    always @* begin
        word = at[0] ? {asks ? reg_addr[6:2] : walk, reg_wdata[7:0]} : 13'd0;
        for (i = 0; i < PORTS; i = i + 1) word = word | words[16*i +: 13];
    end
    wire [4:0]  begun = word[12:8];
    reg  [4:0]  group;
    reg  [7:0]  value;

    wire [EW-1:0] entry, after;
    reg           walks, news, renews;      // what is judged
    ram_sdp #(.WIDTH(EW), .DEPTH(`LP_BARRIER_GROUPS)) u_groups (
        .clk(clk), .wr_en(walks || news || renews), .wr_addr(group), .wr_data(after), .rd_en(step == FETCH), .rd_addr(begun),
        .rd_data(entry)
`ifdef FORMAL
        , .f_addr(f_group), .f_word(f_word)
`endif
    );
    wire [3:0]    generation = entry[EW-1 -: 4], phase = entry[EW-5 -: 4], next = phase + 4'd1;
    wire          owes_phase = entry[2*N+1], owes_next = entry[2*N];    // to all; to the one that is missing
    wire [N-1:0]  entered = entry[N +: N], ports = entry[N-1:0];

    // Looked at.
    wire         enters = asks && reg_write && number == `LP_BARRIER_PHASE;
    wire [N-1:0] by     = {at[N-1:1], at[0] && enters};
    wire         mine   = looks && at[0] && asks;
    wire         again_due = looks && at[0] && !asks && due && walk == turn && !clearing;
    wire         empty  = ports == 0;
    reg  [N-1:0] missing;
    reg          again, skips, free, same, repeated;
    reg  [6:0]   space;

    // Judged.
    reg          some, more;                // ports are missing, and more than one
    always @* begin
        {some, more} = 2'b00;
        for (i = 0; i < N; i = i + 1) begin
            more = more || (some && missing[i]);
            some = some || missing[i];
        end
    end
    wire         all     = !some && news;
    wire         single  = some && !more;
    reg          ahead;
    wire         tells   = all || (walks && owes_phase) || (again && !(ahead && single));          // the phase, to all
    wire         forward = single && ((news && !owes_phase) || (walks && owes_next) || again);     // else the next one, to who is missing
    wire         says    = (tells || forward) && (free || (same && news)) && !clearing;
    wire         still   = (owes_phase || all) && !(says && tells);
    wire         yet     = !all && (owes_next || (news && single)) && !(says && !tells);
    wire         fresh   = renews || clearing;
    assign after = {fresh ? {reg_wdata[`LP_BARRIER_GENERATION_LSB +: 4] & {4{!clearing}}, 4'd0} : {generation, all ? next : phase},
        {still, yet} & {2{!fresh}}, ports & ~missing & {N{!fresh && !all}}, renews ? reg_wdata[N-1:0] : ports & {N{!clearing}}};
    wire         jumps   = (walks || news) && (still || yet) && !due && !clearing;
    reg  [AGEW-1:0] age;
    wire         late;
    at_least #(.WIDTH(AGEW), .LIMIT(AGAIN)) u_late (.x(age), .y(late));

    always @(posedge clk) begin
        step <= chooses ? (begins ? FETCH : CHOOSE) : {step[1:0], step[2]};
        if (chooses) begin
            at   <= first;
            left <= begins ? turns ^ minus : {N{1'b1}};     // those above the first
            if (first[0]) asks <= reg_en && !asks && !clearing;
        end
        {group, value} <= word;

        news    <= looks && (by & ports & ~entered) != 0 && value == {generation, next};
        missing <= ports & ~entered & ~by;
        walks   <= looks && at[0] && !asks;
        again   <= again_due && !empty;
        skips   <= again_due && empty;
        free    <= s_valid == 0 && space[6];
        same    <= s_word == {begun, generation, next};
        reg_done <= mine;
        renews  <= mine && reg_write && number == `LP_BARRIER_MEMBERS      // only what is free is taken
            && (empty || (reg_wdata[N-1:0] == 0 && reg_wdata[`LP_BARRIER_GENERATION_LSB +: 4] == generation));
        case (number)
            `LP_BARRIER_MEMBERS: reg_value <= {generation, {(28 - N){1'b0}}, ports};
            `LP_BARRIER_PHASE:   reg_value <= {24'd0, generation, phase};
            default:             reg_value <= {{(32 - N){1'b0}}, entered};
        endcase

        // Words as they come, and to be said.
        for (i = 0; i < PORTS; i = i + 1) begin
            waits[i] <= heard[15*i+13] || (waits[i] && !(chooses && first[i+1]));
            place[i] <= place[i] ^ heard[15*i+13];
        end
        s_valid <= alive & ((s_valid & ~s_take) | ({PORTS{says}} & (tells ? ports[N-1:1] : missing[N-1:1])));
        if (says) {repeated, s_word} <= {again && !owes_phase && !owes_next, group, generation, all || !tells ? next : phase};
        space <= s_valid != 0 && !repeated ? 7'd0 : space + {6'd0, !space[6]};

        walk <= jumps ? group : walk + {4'd0, walks};
        age  <= late || rst ? {AGEW{1'b0}} : age + {{AGEW-1{1'b0}}, tick};
        if (skips || (again && says)) begin
            turn <= turn + 5'd1;
            if (&turn) ahead <= !ahead;
            if (again || &turn) due <= 1'b0;
        end
        if (late) due <= 1'b1;
        if (walks && &walk) clearing <= 1'b0;
        if (rst) begin
            step <= CHOOSE;
            left <= {N{1'b1}};
            {waits, place, s_valid, space} <= 0;
            {asks, walks, news, renews, reg_done, again, skips, due, ahead, walk, turn} <= 0;
            clearing <= 1'b1;
        end
    end
    wire   unused = ^reg_wdata;
    assign reg_ok = reg_write ? number <= `LP_BARRIER_PHASE : number <= `LP_BARRIER_ENTERED;
`ifdef FORMAL
`include "net_barrier.formal.v"
`endif
endmodule
`resetall
