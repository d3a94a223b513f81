`default_nettype none
// Completes descriptors of contexts: writes an entry of the ring of completions, and counts it behind that.
//
// Contract:
//   s_valid[i] with s_*: descriptors that are complete, of three units, until s_ready[i]. note (pulse) with n_*: the packet at slot
//   n_slot is
//   the last one of a send. done (pulse): the packet at done_slot is freed, its link has closed if done_closed; that of a noted one is
//   given (pulse, with given_slot) when the send is complete, and comes with `done` before.
//   u_*, e_*: as of ni_msg_table. w_*: as of ni_page_writer.
//   forget: nothing is kept of forget_context, from forgotten (pulse) on.
//
// Proven: ni_msg_complete.formal.v.
// Source: doc/protocol.md, "Messages of an interface".
module ni_msg_complete #(
    parameter CONTEXTS   = 8,
    parameter SLOTS      = 64,
    parameter PAGE_BYTES = 1024,
    parameter ADDR_WIDTH = 12
) (
    input  wire                   clk,
    input  wire                   rst,

    input  wire [2:0]             s_valid,
    output wire [2:0]             s_ready,
    input  wire [3*(CONTEXTS+104)-1:0] s_what,      // of each: context, status, cookie, vl, tag, length
    input  wire                   note,
    input  wire [$clog2(SLOTS)-1:0] n_slot,
    input  wire [CONTEXTS+103:0]  n_what,
    input  wire                   done,
    input  wire [$clog2(SLOTS)-1:0] done_slot,
    input  wire                   done_closed,
    output wire                   given,
    output reg  [$clog2(SLOTS)-1:0] given_slot,
    input  wire                   give_ready,

    output wire                   u_valid,
    output wire                   u_op,
    output wire [CONTEXTS-1:0]    ctx,
    input  wire                   u_done,
    input  wire                   e_enabled,
    input  wire [3:0]             e_size,
    input  wire [7:0]             e_first,
    input  wire [7:0]             e_last,
    input  wire [15:0]            e_completions,

    output wire                   w_valid,
    input  wire                   w_take,
    output wire [ADDR_WIDTH-3:0]  w_addr,
    output wire [31:0]            w_data,

    input  wire                   forget,
    input  wire [CONTEXTS-1:0]    forget_context,
    output wire                   forgotten
);
`include "linkproto.vh"
    localparam [3:0] IDLE = 4'd0, SLOT = 4'd1, RECORD = 4'd2, GIVE = 4'd3, PEEK = 4'd4, WRITE = 4'd6, ADD = 4'd7, SWEEP = 4'd8,
        STRIKE = 4'd9, END = 4'd10, CLEAR = 4'd11;
    localparam SW = $clog2(SLOTS), WHAT = CONTEXTS + 104;

    reg  [3:0]      state;
    reg  [WHAT-1:0] what;
    reg             closed;
    reg  [1:0]      word;
    reg  [SW-1:0]   sweep;
    reg  [7:0]      first, last;
    reg  [3:0]      size;
    reg  [15:0]     count;
    // What is freed waits here. A slot is there once at most, since it is nobody's until it is given.
    wire            freed, unused_room, freed_closed;
    wire [SW-1:0]   freed_slot;
    wire [SW:0]     unused_used;
    fifo_sync #(.WIDTH(1 + SW), .DEPTH(SLOTS)) u_freed (
        .clk(clk), .rst(rst), .s_valid(done), .s_ready(unused_room), .s_data({done_closed, done_slot}),
        .m_valid(freed), .m_ready(state == IDLE && s_valid == 3'd0 && !forget), .m_data({freed_closed, freed_slot}), .used(unused_used)
    );
    wire            kept;
    wire [WHAT-1:0] record;
`ifdef FORMAL
    (* anyconst *) wire [SW-1:0] f_slot;
    wire [WHAT:0]   f_word;
`endif
    wire            strikes = state == CLEAR || (state == STRIKE && !note && kept && record[WHAT-1 -: CONTEXTS] == forget_context);
    ram_sdp #(.WIDTH(1 + WHAT), .DEPTH(SLOTS)) u_records (
        .clk(clk), .wr_en(note || strikes), .wr_addr(note ? n_slot : sweep), .wr_data({note, n_what}),
        .rd_en(state == SLOT || state == SWEEP), .rd_addr(state == SWEEP ? sweep : given_slot), .rd_data({kept, record})
`ifdef FORMAL
        , .f_addr(f_slot), .f_word(f_word)
`endif
    );
    wire [1:0] from = s_valid[0] ? 2'd0 : s_valid[1] ? 2'd1 : 2'd2;
    assign s_ready  = state == IDLE ? s_valid & (3'd1 << from) : 3'd0;
    assign given    = state == GIVE;
    assign u_valid  = state == PEEK || state == ADD;
    assign u_op     = state == ADD;
    assign ctx  = what[WHAT-1 -: CONTEXTS];
    assign forgotten = state == END;

    wire [ADDR_WIDTH-1:0] entry;
    wire            unused_owns;
    ni_msg_place #(.PAGE_BYTES(PAGE_BYTES), .ADDR_WIDTH(ADDR_WIDTH)) u_place (
        .first(first), .last(last), .size(size), .skip(2'd`LP_RING_COMPLETIONS), .twice(1'b1), .n(count), .entry(entry),
        .address(32'd0), .length(32'd0), .owns(unused_owns)
    );
    wire [127:0] says = {24'd0, what[103:96], what[95:0]};
    assign w_valid = state == WRITE;
    assign w_addr  = {entry[ADDR_WIDTH-1:4], word};
    assign w_data  = says[32*word +: 32];
    localparam [SW-1:0] ONE = 1;
    always @(posedge clk) begin
        case (state)
            CLEAR: begin
                sweep <= sweep + ONE;
                if (sweep == {SW{1'b1}}) state <= IDLE;
            end
            IDLE: begin
                word       <= 2'd0;
                what       <= s_what[WHAT*from +: WHAT];
                {closed, given_slot} <= {freed_closed, freed_slot};
                state      <= s_valid != 3'd0 ? PEEK : forget ? SWEEP : freed ? SLOT : IDLE;
            end
            SLOT: state <= RECORD;
            RECORD: begin
                what <= record;
                if (closed) what[102:96] <= `LP_COMPLETION_CLOSED;
                word[0] <= kept;
                state   <= GIVE;
            end
            GIVE: if (give_ready) {word, state} <= {2'd0, word[0] ? PEEK : IDLE};
            PEEK: if (u_done) begin
                {first, last, size, count} <= {e_first, e_last, e_size, e_completions};
                state <= e_enabled ? WRITE : IDLE;
            end
            WRITE: if (w_take) begin
                word <= word + 2'd1;
                if (word == 2'd3) state <= ADD;
            end
            ADD: if (u_done) state <= IDLE;
            SWEEP:  if (!note) state <= STRIKE;
            STRIKE: if (note) state <= SWEEP;       // what was read may be of before
            else begin
                sweep <= sweep + ONE;
                state <= sweep == {SW{1'b1}} ? END : SWEEP;
            end
            default: state <= IDLE;
        endcase
        if (rst) {state, sweep} <= {CLEAR, {SW{1'b0}}};
    end
    wire unused = ^{unused_owns, unused_used, unused_room, entry[3:0]};
`ifdef FORMAL
`include "ni_msg_complete.formal.v"
`endif
endmodule
`resetall
