`default_nettype none
// Remembers of each context the virtual links that were refused a MESSAGE since it has no receive, and wakes them.
//
// Contract:
//   put (pulse, not twice within five clocks): put_vl has been refused by put_context, and says STOP.
//   wake with wake_context stands until woken (pulse): all that were refused by it before are woken.
//   told_valid with told_vl stands until told_ready (pulse): the link has been opened or closed, or something else of it changed: if it
//   waits for another context than told_context, all that wait for that are woken.
//   ask with ask_vl stands until asked (pulse): the link is woken. One that is woken for nothing is refused again, and comes again.
//
// For the first clocks it clears its tables, one a clock.
// Proven: ni_msg_waits.formal.v, by induction.
module ni_msg_waits #(
    parameter CONTEXTS = 8,
    parameter VIRTUAL  = 4
) (
    input  wire                clk,
    input  wire                rst,
    input  wire                put,
    input  wire [VIRTUAL-1:0]  put_vl,
    input  wire [CONTEXTS-1:0] put_context,
    input  wire                wake,
    input  wire [CONTEXTS-1:0] wake_context,
    output wire                woken,
    input  wire                told_valid,
    input  wire [VIRTUAL-1:0]  told_vl,
    input  wire [CONTEXTS-1:0] told_context,
    output wire                told_ready,
    output wire                ask,
    output wire [VIRTUAL-1:0]  ask_vl,
    input  wire                asked
);
    localparam [2:0] CLEAR = 3'd0, IDLE = 3'd1, LOOK = 3'd2, LOOKED = 3'd3, HEAD = 3'd4, STEP = 3'd5, STEPPED = 3'd6, ASK = 3'd7;
    localparam CW = VIRTUAL > CONTEXTS ? VIRTUAL : CONTEXTS;

    // A list of links a context: its first link, and of each link whether it is listed, for which context, and the next one.
    reg  [2:0]          state;
    reg  [CW-1:0]       cleared;
    reg                 finds, puts;    // a link that was refused is looked up, and listed a clock later
    reg  [VIRTUAL-1:0]  new_vl, vl, after;
    reg  [CONTEXTS-1:0] new_context, ctx;
    reg                 for_told;
    wire                listed, more, some;
    wire [CONTEXTS-1:0] of_context;
    wire [VIRTUAL-1:0]  next, head;
    wire quiet  = !put && !finds && !puts;
    wire clears = state == CLEAR;
    wire adds   = puts && !listed;
    wire takes  = state == STEP && quiet;            // the list, or what is left of it, is taken at `vl`
    wire empties = state == HEAD;
`ifdef FORMAL
    localparam LINKW = 2 + CONTEXTS + VIRTUAL;
    wire [(VIRTUAL << VIRTUAL)-1:0]       f_links_at;
    wire [(LINKW << VIRTUAL)-1:0]         f_links;
    wire [(CONTEXTS << CONTEXTS)-1:0]     f_heads_at;
    wire [((1 + VIRTUAL) << CONTEXTS)-1:0] f_heads;
`endif
    ram_sdp #(
        .WIDTH(2 + CONTEXTS + VIRTUAL), .DEPTH(1 << VIRTUAL)
`ifdef FORMAL
        , .PROBES(1 << VIRTUAL)
`endif
    ) u_links (
        .clk(clk), .wr_en(clears || adds || state == STEPPED), .wr_addr(clears ? cleared[VIRTUAL-1:0] : adds ? new_vl : vl),
        .wr_data(adds ? {1'b1, some, new_context, head} : {2 + CONTEXTS + VIRTUAL{1'b0}}),
        .rd_en(finds || takes || state == LOOK), .rd_addr(finds ? new_vl : state == LOOK ? told_vl : vl),
        .rd_data({listed, more, of_context, next})
`ifdef FORMAL
        , .f_addr(f_links_at), .f_word(f_links)
`endif
    );
    ram_sdp #(
        .WIDTH(1 + VIRTUAL), .DEPTH(1 << CONTEXTS)
`ifdef FORMAL
        , .PROBES(1 << CONTEXTS)
`endif
    ) u_heads (
        .clk(clk), .wr_en(clears || adds || empties), .wr_addr(clears ? cleared[CONTEXTS-1:0] : adds ? new_context : ctx),
        .wr_data({adds, new_vl}), .rd_en(finds || state == IDLE || state == LOOKED),
        .rd_addr(finds ? new_context : state == LOOKED ? of_context : wake_context), .rd_data({some, head})
`ifdef FORMAL
        , .f_addr(f_heads_at), .f_word(f_heads)
`endif
    );
    wire other = listed && of_context != told_context;
    reg  last;                          // none is behind it in the list
    assign ask        = state == ASK;
    assign ask_vl     = vl;
    reg    over;
    assign woken      = over && !for_told;
    assign told_ready = over && for_told;
    always @(posedge clk) begin
        {finds, puts} <= {put, finds};
        over <= 1'b0;
        if (put) {new_vl, new_context} <= {put_vl, put_context};
        case (state)
            CLEAR: begin
                cleared <= cleared + {{CW-1{1'b0}}, 1'b1};
                if (cleared == {CW{1'b1}}) state <= IDLE;
            end
            IDLE: begin
                ctx  <= wake_context;
                for_told <= told_valid;
                if (quiet && !over) state <= told_valid ? LOOK : wake ? HEAD : IDLE;
            end
            LOOK: if (quiet) state <= LOOKED;
            LOOKED: if (quiet) begin
                ctx <= of_context;
                over    <= !other;
                state   <= other ? HEAD : IDLE;
            end else state <= LOOK;
            HEAD: begin
                vl    <= head;
                over  <= !some;
                state <= some ? STEP : IDLE;
            end
            STEP: if (takes) state <= STEPPED;
            STEPPED: {last, state} <= {!more, ASK};
            default: if (asked) begin
                over  <= last;
                state <= last ? IDLE : STEP;
            end
        endcase
        if (state == STEPPED) after <= next;
        if (state == ASK && asked) vl <= after;
        if (rst) {state, cleared, finds, puts, over} <= {CLEAR, {CW + 3{1'b0}}};
    end
`ifdef FORMAL
`include "ni_msg_waits.formal.v"
`endif
endmodule
`resetall
