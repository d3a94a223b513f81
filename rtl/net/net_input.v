`default_nettype none
// Input of a router: keeps packets in slots of memory, queued by output, and gives each to the crossbar when its output is free. A packet
// may leave while it comes.
//
// Contract:
//   s_*: packets as of link_rx, those on trial included, of SLOT_BYTES at most. What is no ROUTE, or too short for one, is dropped, ev_bad;
//   so is one from another node than `peer` if `strict`.
//   `look` with `dest` until `looked` (pulse, from the next clock on), which gives its `ways`, a bit for each output; 0 is this node.
//   Without a way the packet is dropped, ev_lost. One without hops left goes to no output but 0, ev_hops; else its hops count down.
//   want[o]: a packet waits for output o; many[o]: it is the next one for a multicast group, if that waits for several. `start` (pulse):
//   the next of the queue of output `to`, or with `cast` that for a group, goes to m_* from the next clock on, for outputs `outs`; `done`
//   pulses with its last beat or with m_cancel (pulse, m_valid low): what has come of it, if anything, is void.
//   Packets of one queue leave in their order. Those for groups have one of their own, in which they are queued when they are whole, and of
//   which one is next until it has left by all its outputs. Where it waits for an output, it and packets for nodes take turns.
//   A router keeps at most SLOTS packets for each input; then s_ready is low.
//
// Proven: net_input.formal.v.
// Source: virtual output queues in shared memory: Tamir and Frazier 1992; cut-through: Kermani and Kleinrock 1979.
`include "linkproto.vh"
module net_input #(
    parameter N          = 5,
    parameter SLOTS      = 8,
    parameter SLOT_BYTES = 2048,
    parameter WIDTH      = 1
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire                 strict,
    input  wire [15:0]          peer,

    input  wire                 s_valid,
    output wire                 s_ready,
    input  wire [8*WIDTH-1:0]   s_data,
    input  wire [WIDTH-1:0]     s_keep,
    input  wire                 s_last,
    input  wire                 s_void,

    output wire                 look,
    output wire [15:0]          dest,
    input  wire                 looked,
    input  wire [N-1:0]         ways,

    output reg  [N-1:0]         want,
    output wire [N-1:0]         many,
    input  wire                 start,
    input  wire                 cast,
    input  wire [N-1:0]         outs,
    input  wire [$clog2(N)-1:0] to,
    output wire                 done,

    output reg                  m_valid,
    input  wire                 m_ready,
    output wire [8*WIDTH-1:0]   m_data,
    output wire [WIDTH-1:0]     m_keep,
    output wire                 m_last,
    output reg                  m_cancel,

    output reg                  ev_bad,
    output reg                  ev_lost,
    output reg                  ev_hops
);
    localparam NW = $clog2(N);
    localparam SW = $clog2(SLOTS);
    localparam BEATS = SLOT_BYTES / WIDTH;
    localparam BW = $clog2(BEATS);
    localparam [N-1:0] NOWHERE = {N{1'b0}};
    generate
        if (SLOTS != 1 << SW || SLOTS < 2)   error_slots_must_be_a_power_of_two_from_two u_check_slots ();
        if (SLOT_BYTES != BEATS * WIDTH || BEATS != 1 << BW) error_slot_bytes_must_be_a_power_of_two u_check_bytes ();
    endgenerate

    function [NW-1:0] number(input [N-1:0] place);
        integer k;
        begin
            number = {NW{1'b0}};
            for (k = 0; k < N; k = k + 1) if (place[k]) number = number | k[NW-1:0];
        end
    endfunction

    // What is looked at of a packet: beats, and lanes of them.
    localparam integer LOW = `LP_ROUTE_DEST / WIDTH, HIGH = (`LP_ROUTE_DEST + 1) / WIDTH, PATH = `LP_ROUTE_PATH / WIDTH;
    localparam integer FROM_LOW = `LP_ROUTE_SRC / WIDTH, FROM_HIGH = (`LP_ROUTE_SRC + 1) / WIDTH;
    localparam integer LEAST = (`LP_ROUTE_EXTRA - 1) / WIDTH;   // in its first lane the shortest ROUTE ends
    localparam [BW:0] FIRST_AT = 0, ONE = 1;
    localparam PATH_LANE = `LP_ROUTE_PATH % WIDTH;
    localparam [7:0] ROUTE = {3'd0, `LP_TYPE_ROUTE};

    // The packet that comes. It is written to `slot` from beat `at` on.
    reg  [SW-1:0] slot;
    reg           open;             // there is a slot
    reg  [BW:0]   at;
    reg           dropping;         // its rest is not kept, but still looked at: what is BAD is not LOST
    reg  [1:0]    why;              // LOST, BAD or HOPS
    reg           asked, found_q;   // its way is looked for, or known
    reg           ended;            // it has come whole, and is not in its queue
    reg  [N-1:0]  copies;           // known: its ways
    localparam [1:0] BAD = 2'd0, LOST = 2'd1, HOPS = 2'd2;

    assign s_ready = dropping || (open && !ended);
    wire accept = s_valid && s_ready;
    wire stored = accept && !dropping;
    wire finish = stored && s_last;
    wire gone   = s_void && !ended; // an ended one is no longer on trial

    reg  [15:0] dest_q, src_q;
    wire [7:0]  path   = s_data[8*PATH_LANE +: 8];
    wire [7:0]  low    = at == LOW[BW:0]  ? s_data[8*(`LP_ROUTE_DEST % WIDTH) +: 8]       : dest_q[7:0];
    wire [7:0]  high   = at == HIGH[BW:0] ? s_data[8*((`LP_ROUTE_DEST + 1) % WIDTH) +: 8] : dest_q[15:8];
    wire [7:0]  from_l = at == FROM_LOW[BW:0] ? s_data[8*(`LP_ROUTE_SRC % WIDTH) +: 8]        : src_q[7:0];
    wire [7:0]  from_h = at == FROM_HIGH[BW:0]  ? s_data[8*((`LP_ROUTE_SRC + 1) % WIDTH) +: 8]  : src_q[15:8];
    assign dest = {high, low};
    always @(posedge clk) if (accept) {dest_q, src_q} <= {high, low, from_h, from_l};

    wire in_path = accept && at == PATH[BW:0];
    wire last_hop = path[`LP_HOPS_WIDTH-1:0] == 0;
    wire short   = accept && s_last && at < LEAST[BW:0];
    wire wrong   = (stored && at == FIRST_AT && s_data[7:0] != ROUTE) || (in_path && strict && {from_h, from_l} != peer) || short;

    // Its way, looked for as soon as the destination is known; then its hops, when both are.
    assign look = !wrong && ((stored && at == HIGH[BW:0]) || (asked && !looked));
    wire found = asked && looked;
    wire group = dest_q >= `LP_MULTICAST_BASE;
    reg  passed, spent;             // the hops have come, and there were none
    wire away_now = found_q ? copies[N-1:1] != 0 : ways[N-1:1] != 0;
    wire worn = (found || found_q) && away_now && (passed ? spent : in_path && last_hop) && !dropping;
    wire refuse = wrong || (found && ways == NOWHERE) || worn;

    // Into a queue; at once, unless it is a multicast packet.
    wire         whole    = finish || ended;
    wire         single   = found && !group && !refuse && !gone;
    wire [N-1:0] place    = ways & {N{single}};
    wire         complete = whole && !refuse && (single || found_q);
    wire         forked   = complete && !single && group;
    wire         recalled = found_q && !group && (refuse || gone);
    wire         over     = complete || refuse || gone;
    wire         drained  = dropping && accept && s_last;
    always @(posedge clk) begin
        ev_bad  <= (wrong && whole)                    || (drained && (wrong || why == BAD));
        ev_lost <= (refuse && !wrong && !worn && whole) || (drained && !wrong && why == LOST);
        ev_hops <= (worn && !wrong && whole)           || (drained && !wrong && why == HOPS);
        if (refuse) why <= wrong ? BAD : worn ? HOPS : LOST;
        dropping <= !gone && (dropping ? !drained : refuse && !whole);
        asked    <= look && !gone;
        found_q  <= !over && (found_q || found);
        if (found) copies <= ways;
        {passed, spent} <= over ? 2'b00 : in_path && stored ? {1'b1, last_hop} : {passed, spent};
        ended    <= !over && whole;
        at       <= complete || gone || (refuse && whole) || drained ? FIRST_AT : accept ? at + ONE : at;
        if (rst) begin
            {dropping, asked, found_q, passed, ended, ev_bad, ev_lost, ev_hops} <= 8'd0;
            at <= FIRST_AT;
        end
    end

    // Slots: which are free, and which were taken back before their turn.
    reg  [SLOTS-1:0]   free, dead;
    reg  [SW-1:0]      reading;     // the slot whose packet leaves
    reg                active, frees;           // it leaves by no output after that
    wire               release_slot = done && frees;
    wire [SLOTS-1:0]   lowest = free & (~free + 1'b1);
    reg  [SW-1:0]      spare;
    integer k;
    always @* begin
        spare = {SW{1'b0}};
        for (k = 0; k < SLOTS; k = k + 1) if (lowest[k]) spare = spare | k[SW-1:0];
    end
    wire renew = !open || complete || recalled;
    always @(posedge clk) begin
        if (renew) {open, slot} <= {free != 0, spare};
        free <= (free & ~(lowest & {SLOTS{renew}})) | ({{(SLOTS-1){1'b0}}, release_slot} << reading);
        if (rst) {open, free} <= {1'b0, {SLOTS{1'b1}}};
    end

    // The queue for groups: slots and outputs.
    reg  [N+SW-1:0] forks [0:SLOTS-1];
    reg  [SW:0]   fork_head, fork_tail;
    reg  [N-1:0]  begun;            // of the next one, outputs for which it has started
    reg  [N-1:0]  last_cast;        // outputs for which one for a group has started since one for a node
    wire [N-1:0]  members;
    wire [SW-1:0] fork_slot;
    assign {members, fork_slot} = forks[fork_head[SW-1:0]];
    wire [N-1:0]  todo = members & ~begun & {N{fork_head != fork_tail}};
    wire          ends = (todo & ~outs) == NOWHERE;

    // Queues of slots, one for each output. Heads and tails count one bit further than slots.
    localparam [SW:0] NEXT = 1;
    reg  [SW-1:0] queue [0:(SLOTS << NW)-1];
    reg  [N*(SW+1)-1:0] heads, tails;
    wire [NW-1:0] into = number(place);
    wire [SW:0]   head = heads[(SW+1)*to +: SW+1];
    wire [SW:0]   tail = tails[(SW+1)*into +: SW+1];
    reg  [N-1:0]  waits;            // a packet for a node does
    integer o;
    always @* begin
        for (o = 0; o < N; o = o + 1) waits[o] = heads[(SW+1)*o +: SW+1] != tails[(SW+1)*o +: SW+1];
        want = waits | todo;
    end
    assign many = todo & ~(last_cast & waits);
    wire [SW-1:0] first = cast ? fork_slot : queue[{to, head[SW-1:0]}];
    always @(posedge clk) begin
        if (place != NOWHERE) begin
            queue[{into, tail[SW-1:0]}]  <= slot;
            tails[(SW+1)*into +: SW+1] <= tail + NEXT;
        end
        if (start && !cast) heads[(SW+1)*to +: SW+1] <= head + NEXT;
        if (rst) {heads, tails} <= {2*N*(SW+1){1'b0}};
    end

    always @(posedge clk) begin
        if (forked) forks[fork_tail[SW-1:0]] <= {copies, slot};
        if (forked) fork_tail <= fork_tail + NEXT;
        if (start && cast) begin
            begun <= ends ? NOWHERE : begun | outs;
            if (ends) fork_head <= fork_head + NEXT;
        end
        if (start) {frees, last_cast} <= cast ? {ends, last_cast | outs} : {1'b1, last_cast & ~outs};
        if (rst) begin
            {begun, last_cast} <= {2*N{1'b0}};
            {fork_head, fork_tail} <= {2*(SW+1){1'b0}};
        end
    end

    // The one that leaves. Of a packet that still comes, only what has come is read.
    reg  [BW:0]   next;
    wire [SW-1:0] now      = start ? first : reading;
    wire [BW:0]   beat     = start ? FIRST_AT : next;
    wire          underway = start || active;
    wire          arrived  = !open || now != slot || beat < at;
    wire          cut      = underway && (dead[now] || (recalled && now == slot));
    wire          rd_en    = underway && arrived && !cut && !m_cancel && (!m_valid || (m_ready && !m_last));
    wire [7:0]    data_low = in_path && !last_hop ? path - 8'd1 : path;
    wire [8*WIDTH-1:0] data;
    genvar g;
    generate
        for (g = 0; g < WIDTH; g = g + 1) begin : g_lane
            assign data[8*g +: 8] = g == PATH_LANE ? data_low : s_data[8*g +: 8];
        end
    endgenerate
    assign done = m_cancel || (m_valid && m_ready && m_last);
    always @(posedge clk) begin
        if (start) reading <= first;
        if (rd_en) next <= beat + ONE;
        m_valid  <= !cut && (rd_en || (m_valid && !m_ready));
        m_cancel <= cut && !m_cancel;
        active   <= start || (active && !done && !m_cancel);
        dead     <= (dead | ({{(SLOTS-1){1'b0}}, recalled && !(underway && now == slot)} << slot)) &
                    ~({{(SLOTS-1){1'b0}}, m_cancel} << reading);
        if (rst) begin
            {m_valid, m_cancel, active} <= 3'd0;
            dead <= {SLOTS{1'b0}};
        end
    end

    ram_sdp #(.WIDTH(9 * WIDTH + 1), .DEPTH(SLOTS * BEATS)) u_ram (
        .clk(clk), .wr_en(stored), .wr_addr({slot, at[BW-1:0]}), .wr_data({s_last, s_keep, data}),
        .rd_en(rd_en), .rd_addr({now, beat[BW-1:0]}), .rd_data({m_last, m_keep, m_data})
`ifdef FORMAL
        , .f_addr({f_slot, f_beat}), .f_word(f_word)
`endif
    );
`ifdef FORMAL
`include "net_input.formal.v"
`endif
endmodule
`resetall
