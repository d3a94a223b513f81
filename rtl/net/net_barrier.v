`default_nettype none
// Barriers of a router: by which ports the next phase of each group has been said, and what is said by them.
//
// Contract:
//   Port 0 is this node, ports 1 .. PORTS are links; bits of s_* and h_* are those of links, link 1 lowest.
//   heard: {valid (pulse), group, value} by link: a BARRIER has come by it. A later one takes the place of one that has not been
//   looked at yet, which takes 4 clocks for each group that words of other links are for.
//   s_valid[p]: s_word, {group, value}, which is the same for all links, is to be said by the link. It stands until all have taken it:
//   s_take[p], which a link that is not alive need not do. What finds another still being said waits for it, and with it all words
//   and registers.
//   AGAIN symbol times (`tick`) after a group the next one is said again.
//   reg_*: stands until reg_done; reg_ok is low for a register that cannot be written, or does not exist. reg_addr: which of
//   the block it is.
//   For 32 clocks after reset nothing is answered or heard.
//
// HX8K: 167 LUT4 and a block memory with one link, 865 and three with 16.
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

    input  wire [14*PORTS-1:0] heard,
    output reg  [PORTS-1:0]   s_valid,
    output reg  [12:0]        s_word,
    input  wire [PORTS-1:0]   s_take,

    input  wire               reg_en,
    input  wire               reg_write,
    input  wire [6:0]         reg_addr,
    input  wire [31:0]        reg_wdata,
    output wire               reg_done,
    output wire               reg_ok,
    output reg  [31:0]        reg_value
);
`include "linkproto.vh"
    localparam N = PORTS + 1;
    localparam EW = 2 * N + 8;              // an entry: generation, phase, entered, ports
    localparam AGEW = $clog2(AGAIN + 1);
    localparam [3:0] CHOOSE = 4'd1, LOOK = 4'd2, JUDGE = 4'd4, STORE = 4'd8;

    wire [3:0] number = {2'd0, reg_addr[1:0]};

    // Words that have come wait by link. In a round each link has one turn at most, the lowest of those left that has a word.
    reg  [PORTS-1:0]   waits, left;
    reg  [13*PORTS-1:0] words;              // {group, value} each
    wire               over  = (waits & left) == 0;
    wire [PORTS-1:0]   turn  = waits & (left | {PORTS{over}});
    wire [PORTS-1:0]   first = turn & (~turn + 1'b1);
    reg  [4:0]         first_group;
    integer i;
    always @* begin
        first_group = 5'd0;
        for (i = 0; i < PORTS; i = i + 1) first_group = first_group | ({5{first[i]}} & words[13*i+8 +: 5]);
    end

    // One group after the other: chosen, read, judged, stored.
    reg  [3:0]  step;
    reg  [4:0]  group;
    reg         asks, scans;                // for the node's host; for it to be said again
    reg         due, done, ahead;
    reg  [AGEW-1:0] age;
    reg  [4:0]  scan;
    reg  [5:0]  cleared;
    wire        clearing = !cleared[5];
    wire        asked = reg_en && !done;
    wire        scannable = due && s_valid == 0;
    wire        begins = step == CHOOSE && !clearing && (asked || waits != 0 || scannable);
    wire [4:0]  begun  = asked ? reg_addr[6:2] : waits != 0 ? first_group : scan;
    wire        looks  = step == LOOK && !asks && !scans;       // at words
    wire        late;
    at_least #(.WIDTH(AGEW), .LIMIT(AGAIN)) u_late (.x(age), .y(late));

    wire [EW-1:0] entry, after;
`ifdef FORMAL
    (* anyconst *) wire [4:0] f_group;      // that is followed
    wire [EW-1:0] f_word;
`endif
    ram_sdp #(.WIDTH(EW), .DEPTH(`LP_BARRIER_GROUPS)) u_groups (
        .clk(clk), .wr_en(step == STORE || clearing), .wr_addr(clearing ? cleared[4:0] : group),
        .wr_data(clearing ? {EW{1'b0}} : after), .rd_en(begins), .rd_addr(begun), .rd_data(entry)
`ifdef FORMAL
        , .f_addr(f_group), .f_word(f_word)
`endif
    );
    wire [3:0]    generation = entry[EW-1 -: 4], phase = entry[EW-5 -: 4], next = phase + 4'd1;
    wire [N-1:0]  entered = entry[N +: N], ports = entry[N-1:0];

    // What the words are for this group, and then what has been said of it.
    reg  [PORTS-1:0] same;
    reg  [N-1:0]     hits, said;
    reg  [PORTS-1:0] came;
    always @* begin
        for (i = 0; i < PORTS; i = i + 1) begin
            came[i]   = heard[14*i+13];
            same[i]   = looks && waits[i] && words[13*i+8 +: 5] == group;
            hits[i+1] = same[i] && words[13*i +: 8] == {generation, next};
        end
        hits[0] = asks && reg_write && number == `LP_BARRIER_PHASE && reg_wdata[7:0] == {generation, next};
    end
    wire         news    = (said & ~entered) != 0;
    wire [N-1:0] missing = ports & ~said;
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
    wire         renews  = asks && reg_write && number == `LP_BARRIER_MEMBERS      // only what is free is taken
        && (ports == 0 || (reg_wdata[N-1:0] == 0 && reg_wdata[`LP_BARRIER_GENERATION_LSB +: 4] == generation));
    wire         unused  = ^reg_wdata;
    wire [3:0]   now     = all ? next : phase;
    assign       after = renews ? {reg_wdata[`LP_BARRIER_GENERATION_LSB +: 4], 4'd0, {N{1'b0}}, reg_wdata[N-1:0]}
        : {generation, now, all ? {N{1'b0}} : said, ports};
    wire         forward = single && (news || (scans && ahead));   // the next phase is said by the one that is missing
    wire         speaks  = news ? all || single : scans;
    wire         held    = step == JUDGE && speaks && s_valid != 0;
    wire         says    = step == JUDGE && speaks && s_valid == 0;
    wire [PORTS-1:0] to  = ports[N-1:1] & ~({PORTS{forward}} & said[N-1:1]);

    always @(posedge clk) begin
        step <= begins ? LOOK : step == CHOOSE || step == STORE ? CHOOSE : held ? JUDGE : {step[2:0], 1'b0};
        done <= step == JUDGE && asks && !held;
        if (begins) begin
            group <= begun;
            asks  <= asked;
            scans <= !asked && waits == 0;
            if (!asked && waits != 0) left <= turn & ~first;
        end
        if (step == LOOK) begin
            said <= entered | (hits & ports);
            case (number)
                `LP_BARRIER_MEMBERS: reg_value <= {generation, {(28 - N){1'b0}}, ports};
                `LP_BARRIER_PHASE:   reg_value <= {24'd0, generation, phase};
                default:             reg_value <= {{(32 - N){1'b0}}, entered};
            endcase
        end

        // Words as they come.
        for (i = 0; i < PORTS; i = i + 1)
            if (heard[14*i+13]) words[13*i +: 13] <= heard[14*i +: 13];
        waits <= came | (waits & ~same);

        // Words to be said.
        s_valid <= alive & ((s_valid & ~s_take) | ({PORTS{says}} & to));
        if (says) s_word <= {group, generation, forward || all ? next : phase};
        age <= late || rst ? {AGEW{1'b0}} : age + {{AGEW-1{1'b0}}, tick};
        if (step == JUDGE && scans) begin
            scan <= scan + 5'd1;
            if (&scan) ahead <= !ahead;
            if (ports != 0 || &scan) due <= 1'b0;
        end
        if (late) due <= 1'b1;
        if (clearing) cleared <= cleared + 6'd1;
        if (rst) begin
            step <= CHOOSE;
            {waits, left, s_valid} <= 0;
            {due, done, ahead, scan, cleared} <= 0;
        end
    end
    assign reg_done = done;
    assign reg_ok   = reg_write ? number <= `LP_BARRIER_PHASE : number <= `LP_BARRIER_ENTERED;
`ifdef FORMAL
`include "net_barrier.formal.v"
`endif
endmodule
`resetall
