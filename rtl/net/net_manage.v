`default_nettype none
// Management of a switch: carries out REG_READ and REG_WRITE that come in datagrams, and answers in datagrams.
//
// Contract:
//   s_*, s_cancel, has_room: packets that the router gives to this node, as of net_router's port 0; each is taken whole once it has begun.
//   Of one of which no beat has been taken s_cancel does not tell: s_valid falls.
//   `from`: the port by which it came.
//   m_*: answers, to the router's port 0, for the sender of the request; `back` stands until the router has looked for the answer's way.
//   reg_*: accesses, as ni_regs takes them.
//   node: this one. While it is 0, a datagram for any node is taken for this one, and nothing can be written but SCRATCH, and NODE_ID by a
//   datagram that has no hops left here, so that a switch on the way to one without a number does not take that one's.
//   ev_taken, ev_answered, ev_bad, ev_late (pulses): a request has been taken; an answer was given to the router; a packet was dropped that
//   is no datagram for this node whose lengths and CRC are right, no request, or from no node or this one; an answer was dropped because
//   the router had no room for it for PATIENCE clocks.
//   So requests never wait for each other for ever, whatever answers wait for: each takes PATIENCE and some clocks at most.
//
// HX8K: 452 LUT4 and 179 flip-flops with four ports.
// Proven: net_manage.formal.v. Source: doc/protocol.md, "Managing a switch".
module net_manage #(
    parameter PORTS    = 4,
    parameter WIDTH    = 1,
    parameter PATIENCE = 4096
) (
    input  wire                       clk,
    input  wire                       rst,
    input  wire [15:0]                node,

    input  wire                       s_valid,
    output wire                       s_ready,
    input  wire [8*WIDTH-1:0]         s_data,
    input  wire [WIDTH-1:0]           s_keep,
    input  wire                       s_last,
    input  wire                       s_cancel,
    output wire                       has_room,
    input  wire [$clog2(PORTS+1)-1:0] from,

    output wire                       m_valid,
    input  wire                       m_ready,
    output wire [8*WIDTH-1:0]         m_data,
    output wire [WIDTH-1:0]           m_keep,
    output wire                       m_last,
    output reg  [$clog2(PORTS+1)-1:0] back,

    output wire                       reg_en,
    output wire                       reg_write,
    output wire [15:0]                reg_addr,
    output wire [31:0]                reg_wdata,
    input  wire                       reg_done,
    input  wire                       reg_ok,
    input  wire [31:0]                reg_value,

    output reg                        ev_taken,
    output reg                        ev_answered,
    output reg                        ev_bad,
    output reg                        ev_late
);
`include "linkproto.vh"
    localparam NW = $clog2(PORTS + 1);
    localparam TW = $clog2(PATIENCE + 1);
    localparam [2:0] TAKE = 3'd0, JUDGE = 3'd1, ACCESS = 3'd2, WAIT = 3'd3, ANSWER = 3'd4;
    reg  [2:0] state;

    // Places in a datagram, of which request and answer have the same.
    localparam [4:0] DEST = `LP_ROUTE_DEST, SRC = `LP_ROUTE_SRC, PATH = `LP_ROUTE_PATH, STATE = `LP_ROUTE_STATE, KIND = `LP_ROUTE_FIELDS,
                     TAG = KIND + `LP_HEADER_BYTES, REG = TAG + 5'd1, VALUE = REG + 5'd2, BEYOND = 5'd31;
    reg  [4:0] at;                  // of the next byte

    wire [7:0] data;
    wire       last, whole;
    wire       taking = state == TAKE;
    wire       take   = s_valid && taking;
    assign     s_ready  = taking && whole;
    assign     has_room = taking && at == 5'd0;
    localparam [5:0] BEAT = WIDTH[5:0];
    wire       untold = at != 5'd0 && {1'b0, at} < BEAT && !s_valid;    // the first beat is taken back
    wire       gone   = taking && (s_cancel || untold);
    beat_bytes #(.WIDTH(WIDTH)) u_bytes (
        .clk(clk), .leave(rst || gone), .data(s_data), .keep(s_keep), .last(s_last), .step(take),
        .byte_q(data), .byte_last(last), .done(whole)
    );

    // What a request must have, and its fields.
    reg         wrong;
    reg         spent;              // it has no hops left
    reg  [15:0] length, inner, src, number;
    reg  [4:0]  kind;
    reg  [7:0]  tag, status;
    reg  [31:0] value;
    reg  [NW-1:0] came;
    reg         mismatch;
    always @*
        case (at)
            DEST:                mismatch = node != 16'd0 && data != node[7:0];
            DEST + 5'd1:         mismatch = node != 16'd0 && data != node[15:8];
            PATH + 5'd1, PATH + 5'd2, STATE + 5'd1, STATE + 5'd2: mismatch = data != 8'd0;
            STATE:               mismatch = data != `LP_ROUTE_DATAGRAM;
            default:             mismatch = 1'b0;
        endcase
    localparam [15:0] EXTRA = `LP_ROUTE_EXTRA, READ = `LP_REG_READ_MIN_LENGTH, WRITE = `LP_REG_WRITE_MIN_LENGTH;
    wire        crc_ok;
    wire        stranger = src == 16'd0 || src > `LP_MAX_NODE || src == node;
    wire        request  = kind >= `LP_TYPE_REG_READ && kind <= `LP_TYPE_RETRAP;
    wire        fitting  = inner == length - EXTRA && !inner[15];   // there is a packet inside, of that length
    wire        good     = crc_ok && !wrong && fitting && !stranger && request;
    wire        is_read  = kind == `LP_TYPE_REG_READ;
    wire        is_write = kind == `LP_TYPE_REG_WRITE;
    wire        fits     = inner == (is_read ? READ : WRITE);
    wire        settled  = node != 16'd0 || (number == `LP_REG_NODE_ID && spent) || number == `LP_REG_SCRATCH;
    wire [7:0]  refusal  = !(is_read || is_write) ? `LP_STATUS_BAD_TYPE : !fits ? `LP_STATUS_BAD_LENGTH : `LP_STATUS_BAD_ADDRESS;

    // The answer.
    reg         has_value;
    reg  [TW-1:0] patience;
    localparam [7:0] HOPS = (1 << `LP_HOPS_WIDTH) - 2;
    localparam [7:0] VALUE_LENGTH = `LP_REG_DATA_MIN_LENGTH, DONE_LENGTH = `LP_DONE_MIN_LENGTH;
    wire [7:0]  answer_length = has_value ? VALUE_LENGTH : DONE_LENGTH;
    wire [7:0]  route_length  = answer_length + EXTRA[7:0];
    wire [4:0]  crc_at        = has_value ? VALUE + 5'd4 : REG + 5'd1;
    wire        in_crc        = at >= crc_at;
    wire        ends          = at == crc_at + 5'd3;
    wire [31:0] crc;
    wire        unused = ^crc;
    reg  [7:0]  answer;
    always @*
        case (at)
            5'd0:         answer = {3'd0, `LP_TYPE_ROUTE};
            5'd1:         answer = route_length;
            DEST:         answer = src[7:0];
            DEST + 5'd1:  answer = src[15:8];
            SRC:          answer = node[7:0];
            SRC + 5'd1:   answer = node[15:8];
            PATH:         answer = HOPS;
            STATE:        answer = `LP_ROUTE_DATAGRAM;
            KIND:         answer = {3'd0, has_value ? `LP_TYPE_REG_DATA : `LP_TYPE_DONE};
            KIND + 5'd1:  answer = answer_length;
            TAG:          answer = tag;
            REG:          answer = has_value ? number[7:0] : status;
            REG + 5'd1:   answer = number[15:8];
            VALUE:        answer = value[7:0];
            VALUE + 5'd1: answer = value[15:8];
            VALUE + 5'd2: answer = value[23:16];
            VALUE + 5'd3: answer = value[31:24];
            default:      answer = 8'd0;
        endcase
    wire m_step;
    wire give = state == ANSWER && m_step;
    beat_pack #(.WIDTH(WIDTH)) u_pack (
        .clk(clk), .clear(rst), .s_valid(state == ANSWER), .s_ready(m_step), .s_data(in_crc ? crc[7:0] : answer), .s_last(ends),
        .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_keep(m_keep), .m_last(m_last)
    );
    wire starts = (taking && at == 5'd0 && !take) || state == WAIT;
    crc32c_byte u_crc (
        .clk(clk), .init(starts), .key(32'd0), .en(starts || ((take || give) && at != PATH)), .shift(state == ANSWER && in_crc),
        .data(state == ANSWER ? answer : data), .crc(crc), .ok(crc_ok)
    );

    assign reg_en    = state == ACCESS;
    assign reg_write = is_write;
    assign reg_addr  = number;
    assign reg_wdata = value;
    always @(posedge clk) begin
        {ev_taken, ev_answered, ev_bad, ev_late} <= 4'd0;
        if (take || give) at <= at == BEYOND ? BEYOND : at + 5'd1;
        if (take) begin
            wrong <= (at != 5'd0 && wrong) || mismatch;
            case (at)
                5'd0:         came          <= from;
                PATH:         spent         <= data[`LP_HOPS_WIDTH-1:0] == 0;
                5'd1:         length[7:0]   <= data;
                5'd2:         length[15:8]  <= data;
                SRC:          src[7:0]      <= data;
                SRC + 5'd1:   src[15:8]     <= data;
                KIND:         kind          <= data[4:0];
                KIND + 5'd1:  inner[7:0]    <= data;
                KIND + 5'd2:  inner[15:8]   <= data;
                TAG:          tag           <= data;
                REG:          number[7:0]   <= data;
                REG + 5'd1:   number[15:8]  <= data;
                VALUE:        value[7:0]    <= data;
                VALUE + 5'd1: value[15:8]   <= data;
                VALUE + 5'd2: value[23:16]  <= data;
                VALUE + 5'd3: value[31:24]  <= data;
                default: ;
            endcase
        end
        case (state)
            TAKE: begin
                if (take && last) state <= JUDGE;
                if (gone)         at    <= 5'd0;
            end
            JUDGE: begin
                ev_bad   <= !good;
                ev_taken <= good;
                patience <= PATIENCE[TW-1:0];
                has_value <= 1'b0;
                status   <= refusal;
                if (inner == 16'd0) tag <= `LP_TAG_NONE;
                at       <= 5'd0;
                state    <= !good ? TAKE : (is_read || (is_write && settled)) && fits ? ACCESS : WAIT;
            end
            ACCESS: if (reg_done) begin
                has_value <= is_read && reg_ok;
                status    <= reg_ok ? `LP_STATUS_OK : `LP_STATUS_BAD_ADDRESS;
                value     <= reg_value;
                state     <= WAIT;
            end
            WAIT: begin
                patience <= patience - {{TW-1{1'b0}}, 1'b1};
                back     <= m_ready ? came : back;
                ev_late  <= !m_ready && patience == {TW{1'b0}};
                if (m_ready)                          state <= ANSWER;
                else if (patience == {TW{1'b0}})      state <= TAKE;
            end
            default: if (give && ends) begin
                ev_answered <= 1'b1;
                at          <= 5'd0;
                state       <= TAKE;
            end
        endcase
        if (rst) begin
            state <= TAKE;
            at    <= 5'd0;
            {ev_taken, ev_answered, ev_bad, ev_late} <= 4'd0;
        end
    end
`ifdef FORMAL
`include "net_manage.formal.v"
`endif
endmodule
`resetall
