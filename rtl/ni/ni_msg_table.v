`default_nettype none
// What a network interface knows of each context of messages: its region and counts, in a table, and queues of contexts that have work.
//
// Contract:
//   r_*: requests for registers of r_context, which stand until r_done (pulse). One that ends a context stands until the units have
//   forgotten it: forget with forget_context stands until `forgotten`.
//   u_*: requests of the units SEND, FETCH, COMPLETE and TELL, which stand until u_done (pulse), in which e_* is the entry as it was.
//   u_op of each: SEND 0 reads; 1: s_takes: a send has been taken, s_more: it comes again. FETCH 0 takes a receive, if there is one
//   (e_posted); 1: that has been used up. COMPLETE 0 reads; 1 counts a completion. TELL reads, as the host is told.
//   Queues, those of SEND, FETCH and TELL: q_valid with q_context until q_take; each context waits once in each.
//
// For the first 2^CONTEXTS clocks it clears the table; a request takes four.
// Proven: ni_msg_table.formal.v.
// Source: doc/protocol.md, "Messages of an interface".
module ni_msg_table #(
    parameter CONTEXTS   = 8,
    parameter FRAMES     = 4,
    parameter PAGE_BYTES = 1024
) (
    input  wire                  clk,
    input  wire                  rst,

    input  wire                  r_en,
    input  wire                  r_write,
    input  wire [CONTEXTS-1:0]   r_context,
    input  wire [2:0]            r_reg,
    input  wire [31:0]           r_wdata,
    output wire                  r_done,
    output wire                  r_ok,
    output reg  [31:0]           r_value,
    output reg                   forget,
    output reg  [CONTEXTS-1:0]   forget_context,
    input  wire                  forgotten,

    input  wire [3:0]            u_valid,
    input  wire [3:0]            u_op,
    input  wire [4*CONTEXTS-1:0] u_context,
    input  wire                  s_takes,
    input  wire                  s_more,
    output wire [3:0]            u_done,
    output reg                   e_enabled,
    output wire                  e_posted,
    output wire                  e_sends,
    output reg  [3:0]            e_size,
    output reg  [7:0]            e_first,
    output reg  [7:0]            e_last,
    output reg  [15:0]           e_send_head,
    output reg  [15:0]           e_receive_head,
    output reg  [15:0]           e_completions,

    output wire [2:0]            q_valid,
    output wire [3*CONTEXTS-1:0] q_context,
    input  wire [2:0]            q_take
);
`include "linkproto.vh"
    localparam [1:0] IDLE = 2'd0, READ = 2'd1, APPLY = 2'd2, WRITE = 2'd3;
    localparam [1:0] SEND = 2'd0, FETCH = 2'd1, COMPLETE = 2'd2, TELL = 2'd3;
    localparam [3:0] REGION = `LP_CONTEXT_REGION, STATUS = `LP_CONTEXT_STATUS, SEND_TAIL = `LP_CONTEXT_SEND_TAIL,
        RECEIVE_TAIL = `LP_CONTEXT_RECEIVE_TAIL, SEND_HEAD = `LP_CONTEXT_SEND_HEAD, RECEIVE_HEAD = `LP_CONTEXT_RECEIVE_HEAD,
        COMPLETIONS = `LP_CONTEXT_COMPLETIONS;
    localparam ENTRY = 8 + 20 + 80, PW = $clog2(PAGE_BYTES), DEPTH = CONTEXTS < 2 ? 4 : 1 << CONTEXTS;
    localparam integer LAST = (1 << CONTEXTS) - 1;
    generate
        if (CONTEXTS < 1 || CONTEXTS > `LP_CONTEXT_BITS_MAX) error_contexts_must_be_1_to_8 u_check_contexts ();
    endgenerate

    // listed, fetching, due: it is in the queue, or its unit has it; `fetching` also while a receive waits for its message.
    reg  [1:0]          at;
    reg  [1:0]          who;
    reg                 hosts;          // it is the host's request
    reg                 op, takes, more, cleared;
    reg  [CONTEXTS-1:0] ctx;
    reg                 listed, fetching, due;
    reg  [3:0]          fault;
    reg  [15:0]         send_tail, receive_tail;
    wire        host   = r_en && !forget;
    wire [1:0]  choice = u_valid[COMPLETE] ? COMPLETE : u_valid[FETCH] ? FETCH : u_valid[SEND] ? SEND : TELL;
    wire        chosen = u_valid != 4'd0 || host;
    wire [CONTEXTS-1:0] chosen_context = host ? r_context : u_context[CONTEXTS*choice +: CONTEXTS];
    wire        apply  = at == APPLY;
    assign e_sends  = send_tail != e_send_head;
    assign e_posted = receive_tail != e_receive_head;
    assign u_done   = apply && !hosts ? 4'd1 << who : 4'd0;

    // A write of the host's.
    wire        write   = apply && hosts && r_write && ctx != {CONTEXTS{1'b0}};
    wire [15:0] entries = 16'd1 << e_size;
    wire [21:0] rings   = 22'd`LP_RINGS << e_size;
    wire [21:0] bytes   = ({13'd0, e_last} - {13'd0, e_first} + 21'd1) << PW;
    wire        fits    = e_last >= e_first && {8'd0, e_last} < FRAMES[15:0] && {28'd0, e_size} <= `LP_RING_SIZE_MAX && rings <= bytes;
    wire        sets    = write && {1'b0, r_reg} == STATUS;
    wire        begins  = sets && r_wdata[`LP_CONTEXT_STATUS_ENABLED_BIT] && !e_enabled;
    wire        tails   = write && e_enabled && ({1'b0, r_reg} == SEND_TAIL || {1'b0, r_reg} == RECEIVE_TAIL);
    wire [15:0] head    = r_reg[0] ? e_receive_head : e_send_head;
    wire [15:0] ahead   = r_wdata[15:0] - head, was = (r_reg[0] ? receive_tail : send_tail) - head;
    wire        bad     = tails && (ahead > entries || ahead < was);
    wire        ends    = bad || (sets && !r_wdata[`LP_CONTEXT_STATUS_ENABLED_BIT] && e_enabled);
    wire        posts   = tails && !bad && ahead != 16'd0;
    assign r_done = (apply && hosts && !ends) || (forget && forgotten);
    assign r_ok   = !r_write || (r_context != {CONTEXTS{1'b0}} && {1'b0, r_reg} <= RECEIVE_TAIL);
    always @* case ({1'b0, r_reg})
        REGION:       r_value = {12'd0, e_size, e_last, e_first};
        STATUS:       r_value = {24'd0, fault, 3'd0, e_enabled};
        SEND_TAIL:    r_value = {16'd0, send_tail};
        RECEIVE_TAIL: r_value = {16'd0, receive_tail};
        SEND_HEAD:    r_value = {16'd0, e_send_head};
        RECEIVE_HEAD: r_value = {16'd0, e_receive_head};
        COMPLETIONS:  r_value = {16'd0, e_completions};
        default:      r_value = 32'd0;
    endcase

    wire fetch_more = e_enabled && e_posted;
    wire send_more  = e_enabled && (more || send_tail != e_send_head + {15'd0, takes && e_sends});
    wire counts     = u_done[COMPLETE] && op && e_enabled;
    wire [2:0] puts = {counts && !due, (posts && r_reg[0] && !fetching) || (u_done[FETCH] && op && fetch_more),
                       (posts && !r_reg[0] && !listed) || (u_done[SEND] && op && send_more)};
    genvar q;
    generate
        for (q = 0; q < 3; q = q + 1) begin : g_queue
            wire room;
            wire [$clog2(DEPTH):0] unused_used;
            fifo_sync #(.WIDTH(CONTEXTS), .DEPTH(DEPTH)) u_fifo (
                .clk(clk), .rst(rst), .s_valid(puts[q]), .s_ready(room), .s_data(ctx),
                .m_valid(q_valid[q]), .m_ready(q_take[q]), .m_data(q_context[CONTEXTS*q +: CONTEXTS]), .used(unused_used)
            );
`ifdef VERILATOR
            always @(posedge clk) if (!rst) assert (!(puts[q] && !room));
`else
            wire unused_room = room;
`endif
        end
    endgenerate

    wire [ENTRY-1:0] entry;
    wire writes = at == WRITE || !cleared;
`ifdef FORMAL
    (* anyconst *) wire [CONTEXTS-1:0] f_context;
    wire [ENTRY-1:0] f_word;
`endif
    ram_sdp #(.WIDTH(ENTRY), .DEPTH(1 << CONTEXTS)) u_table (
        .clk(clk), .wr_en(writes), .wr_addr(ctx),
        .wr_data(cleared ? {listed, fetching, due, e_enabled, fault, e_size, e_last, e_first, send_tail, receive_tail, e_send_head,
            e_receive_head, e_completions} : {ENTRY{1'b0}}),
        .rd_en(at == IDLE), .rd_addr(chosen_context), .rd_data(entry)
`ifdef FORMAL
        , .f_addr(f_context), .f_word(f_word)
`endif
    );
    always @(posedge clk) begin
        if (forgotten) forget <= 1'b0;
        case (at)
            IDLE: begin
                ctx <= cleared ? chosen_context : ctx + {{CONTEXTS-1{1'b0}}, 1'b1};
                if (ctx == LAST[CONTEXTS-1:0]) cleared <= 1'b1;
                {hosts, who, op, takes, more} <= {host, choice, u_op[choice], s_takes, s_more};
                if (chosen && cleared) at <= READ;
            end
            READ: begin
                {listed, fetching, due, e_enabled, fault, e_size, e_last, e_first, send_tail, receive_tail, e_send_head, e_receive_head,
                    e_completions} <= entry;
                at <= APPLY;
            end
            APPLY: begin
                at <= WRITE;
                if (write && {1'b0, r_reg} == REGION && !e_enabled) {e_size, e_last, e_first} <= r_wdata[19:0];
                if (begins) begin
                    {e_enabled, fault} <= fits ? {1'b1, `LP_CONTEXT_FAULT_NONE} : {1'b0, `LP_CONTEXT_FAULT_REGION};
                    if (fits) {send_tail, receive_tail, e_send_head, e_receive_head, e_completions} <= 80'd0;
                end
                if (bad) fault <= `LP_CONTEXT_FAULT_TAIL;
                if (ends) {e_enabled, forget, forget_context} <= {2'b01, ctx};
                if (tails && !bad && r_reg[0])  receive_tail <= r_wdata[15:0];
                if (tails && !bad && !r_reg[0]) send_tail    <= r_wdata[15:0];
                if (puts[0]) listed   <= 1'b1;
                if (puts[1]) fetching <= 1'b1;
                if (u_done[SEND] && op) begin
                    if (e_enabled && takes && e_sends) e_send_head <= e_send_head + 16'd1;
                    listed <= send_more;
                end
                if (u_done[FETCH]) begin
                    fetching <= fetch_more;
                    if (!op && fetch_more) e_receive_head <= e_receive_head + 16'd1;
                end
                if (counts) {due, e_completions} <= {1'b1, e_completions + 16'd1};
                if (u_done[TELL]) due <= 1'b0;
            end
            default: at <= IDLE;
        endcase
        if (rst) {at, ctx, cleared, forget} <= {IDLE, {CONTEXTS + 2{1'b0}}};
    end
    wire unused = ^r_wdata[31:20];
`ifdef FORMAL
`include "ni_msg_table.formal.v"
`endif
endmodule
`resetall
