`default_nettype none
// What comes by virtual links: gives to the host what is for it, in VIRTUALs, and the rest to the receive buffer.
//
// Contract:
//   s_*: packets as of net_vl, on trial; s_host: for the host, and then they begin only while `room`. halts: that which has come is a trap.
//   A PAGE or CONNECT ends when all before it has been carried out.
//   told with told_*, while told_ready: as of net_vl_engine.
//   i_*: packets that are not for the host, on trial while they come, as ni_link_in takes them, of i_vl, which stands until its `quiet`.
//   m_*: VIRTUALs, as ni_compose takes them.
//   ev_bad (pulse): a packet for the host that is malformed.
//
// Proven: ni_vl_out.formal.v, by induction.
// Source: doc/protocol.md, "Virtual links of an interface".
module ni_vl_out #(
    parameter VIRTUAL    = 4,
    parameter FRAMES     = 4,
    parameter MAX_PACKET = 1032,
    parameter HOLD_BYTES = 4096
) (
    input  wire               clk,
    input  wire               rst,

    output wire               room,
    output wire               halts,
    input  wire               s_valid,
    output wire               s_ready,
    input  wire [VIRTUAL-1:0] s_vl,
    input  wire               s_host,
    input  wire [7:0]         s_data,
    input  wire               s_last,
    input  wire               s_void,
    output wire               told_ready,
    input  wire               told,
    input  wire [VIRTUAL-1:0] told_vl,
    input  wire [7:0]         told_freed,
    input  wire [15:0]        told_status,

    output wire               i_valid,
    input  wire               i_ready,
    output reg  [VIRTUAL-1:0] i_vl,
    output wire [7:0]         i_data,
    output wire               i_last,
    output wire               i_sure,
    output wire               i_void,
    input  wire               quiet,

    output wire               m_valid,
    input  wire               m_ready,
    output wire [7:0]         m_kind,
    output wire [15:0]        m_length,
    output wire [7:0]         m_data,
    output wire               m_last,
    output reg                ev_bad
);
`include "linkproto.vh"
    localparam DEPTH = 1 << $clog2(HOLD_BYTES), I_DEPTH = 1 << $clog2(MAX_PACKET + 8);
    localparam SPACE_BYTES = `LP_VIRTUAL_VL_BYTES + `LP_HEADER_BYTES + `LP_SPACE_MIN_LENGTH;
    localparam PENDW = $clog2(I_DEPTH) + 1;
    localparam [1:0] IDLE = 2'd0, NUMBER = 2'd1, BODY = 2'd2, SPACE = 2'd3;
    generate
        if (DEPTH < MAX_PACKET + 64) error_hold_bytes_must_hold_a_packet u_check_hold ();
    endgenerate

    // Each packet is kept behind the number of its virtual link.
    reg  [1:0]  state;
    reg  [2:0]  at;                     // bytes of it
    reg         held;                   // something is to be told
    reg  [8*SPACE_BYTES-1:0] space;
    reg  [4:0]  kind;
    reg  [15:0] length, frame;
    reg  [PENDW-1:0] pending;           // packets that are not for the host, and not carried out yet
    wire [15:0] vl = {{16-VIRTUAL{1'b0}}, s_vl}, vl_told = {{16-VIRTUAL{1'b0}}, told_vl};
    wire        idles = pending == 0 && quiet;
    wire        i_full, i_roomy, i_crowded, crowded, stuffed;
    wire        traps = kind == `LP_TYPE_PAGE || kind == `LP_TYPE_CONNECT;
    assign halts   = s_host && (kind == `LP_TYPE_PAGE ? length == `LP_PAGE_MIN_LENGTH && frame < FRAMES[15:0] :
                     kind == `LP_TYPE_CONNECT && length >= `LP_CONNECT_MIN_LENGTH && length <= `LP_CONNECT_MAX_LENGTH);
    wire   good    = !s_host || halts || (kind == `LP_TYPE_MESSAGE && length >= `LP_MESSAGE_MIN_LENGTH);
    assign s_ready = state == BODY && (s_host ? !(s_last && traps) || idles : !i_full);
    wire   take    = s_valid && s_ready;
    wire   begins  = state == IDLE && !held && s_valid && (s_host || i_roomy);
    wire   writes  = begins || state == NUMBER || state == SPACE || take;
    wire   ends    = state == SPACE ? at == SPACE_BYTES - 1 : take && s_last;
    wire   gone    = s_void || ((state == NUMBER || (state == BODY && at == 3'd0)) && !s_valid);
    wire   undone  = (gone && state != SPACE) || (take && s_last && !good);
    wire   to_host = state == SPACE || s_host;
    wire [7:0] data = state == SPACE ? space[7:0] : state == IDLE ? vl[7:0] : state == NUMBER ? vl[15:8] : s_data;
    assign told_ready = !held && !stuffed;
    assign room       = !crowded;
    always @(posedge clk) begin
        ev_bad <= take && s_last && !good;
        if (told) {held, space} <= {1'b1, told_freed, told_status, 16'd`LP_SPACE_MIN_LENGTH, 3'd0, `LP_TYPE_SPACE, vl_told};
        case (state)
            IDLE: begin
                at    <= 3'd0;
                length[15:8] <= 8'd0;   // its byte may be the packet's last one, which is judged before it is kept
                state <= held ? SPACE : begins ? NUMBER : IDLE;
            end
            SPACE: begin
                space <= space >> 8;
                at    <= at + 3'd1;
                if (ends) {state, held} <= {IDLE, told};
            end
            NUMBER: state <= BODY;
            default: if (take) begin
                if (at == 3'd0) kind <= s_data[`LP_TYPE_WIDTH-1:0];
                if (at == 3'd1) length[7:0]  <= s_data;
                if (at == 3'd2) length[15:8] <= s_data;
                if (at == 3'd3) frame[7:0]   <= s_data;
                if (at == 3'd4) frame[15:8]  <= s_data;
                if (at != 3'd5) at <= at + 3'd1;
                if (s_last) state <= IDLE;
            end
        endcase
        if (gone && state != SPACE && state != IDLE) state <= IDLE;
        pending <= pending + {{PENDW-1{1'b0}}, take && s_last && !s_host} - {{PENDW-1{1'b0}}, i_valid && i_ready && i_last};
        if (rst) {state, held, pending} <= {IDLE, {PENDW+1{1'b0}}};
    end

    wire [$clog2(I_DEPTH):0] i_used;
    wire       p_valid, p_ready, p_last, i_over;
    wire [7:0] p_data;
    at_least #(.WIDTH($clog2(I_DEPTH) + 1), .LIMIT(I_DEPTH - 8)) u_roomy (.x(i_used), .y(i_crowded));
    assign i_roomy = !i_crowded && !i_full;      // full may be stale behind what was taken back
    fifo_commit #(.WIDTH(9), .DEPTH(I_DEPTH), .EARLY(1)) u_writes (
        .clk(clk), .rst(rst), .wr_en(writes && !to_host), .wr_data({ends, data}), .commit(ends && !to_host && !undone), .rollback(undone),
        .used(i_used), .full(i_full), .overflow(i_over),
        .m_valid(p_valid), .m_ready(p_ready), .m_data({p_last, p_data}), .m_sure(i_sure), .m_void(i_void)
    );
    // The number comes out first. It may not change before what is done with the packet before it.
    reg  [1:0] part;
    assign p_ready = part == 2'd2 ? i_ready : part != 2'd0 || quiet;
    assign i_valid = p_valid && part == 2'd2;
    assign i_data  = p_data;
    assign i_last  = p_last;
    reg  [7:0] low;
    wire [15:0] number = {p_data, low};
    always @(posedge clk) begin
        if (p_valid && p_ready) begin
            if (part == 2'd0) low  <= p_data;
            if (part == 2'd1) i_vl <= number[VIRTUAL-1:0];
            part <= part != 2'd2 ? part + 2'd1 : p_last ? 2'd0 : 2'd2;
        end
        if (i_void || rst) part <= 2'd0;
    end

    wire [$clog2(DEPTH):0] used;
    wire       f_valid, f_ready, f_last, f_sure, f_void, full, over;
    wire [7:0] f_data;
    at_least #(.WIDTH($clog2(DEPTH) + 1), .LIMIT(DEPTH - MAX_PACKET - 40)) u_crowded (.x(used), .y(crowded));
    at_least #(.WIDTH($clog2(DEPTH) + 1), .LIMIT(DEPTH - 20)) u_stuffed (.x(used), .y(stuffed));
    fifo_commit #(.WIDTH(9), .DEPTH(DEPTH)) u_told (
        .clk(clk), .rst(rst), .wr_en(writes && to_host), .wr_data({ends, data}), .commit(ends && to_host && !undone),
        .rollback(undone), .used(used), .full(full), .overflow(over),
        .m_valid(f_valid), .m_ready(f_ready), .m_data({f_last, f_data}), .m_sure(f_sure), .m_void(f_void)
    );
    // Number and header are read before the head is said, which has the length; then they go out, and the rest.
    localparam [2:0] AHEAD = `LP_VIRTUAL_VL_BYTES + `LP_HEADER_BYTES;
    reg  [2:0]  have, gives;            // bytes that have been read ahead; and those that have gone out, after the head
    reg         headed;
    reg  [8*AHEAD-1:0] ahead;
    wire        reads = have != AHEAD;
    wire        rest  = headed && gives == AHEAD;
    assign f_ready  = reads || (rest && m_ready);
    assign m_valid  = !reads && (!rest || f_valid);
    assign m_kind   = {3'd0, `LP_TYPE_VIRTUAL};
    assign m_length = ahead[39:24] + {13'd0, AHEAD};
    assign m_data   = rest ? f_data : ahead[7:0];
    assign m_last   = rest && f_last;
    always @(posedge clk) begin
        if (reads && f_valid) begin
            have  <= have + 3'd1;
            ahead <= {f_data, ahead[8*AHEAD-1:8]};
        end
        if (m_valid && m_ready) begin
            headed <= 1'b1;
            if (headed && !rest) begin
                gives <= gives + 3'd1;
                ahead <= ahead >> 8;
            end
            if (m_last) {have, gives, headed} <= 7'd0;
        end
        if (rst) {have, gives, headed} <= 7'd0;
    end
    wire unused = ^{full, over, f_sure, f_void, i_over, number};
`ifdef FORMAL
`include "ni_vl_out.formal.v"
`endif
endmodule
`resetall
