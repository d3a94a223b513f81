`default_nettype none
// Takes VIRTUALs out of what the host sends, and what is in them.
//
// Contract:
//   s_*: packets of the host, as of link_rx, in beats of WIDTH bytes; h_*: those that are no VIRTUALs, with s_data, s_keep, s_last and
//   s_sure. Of VIRTUALs a byte a clock is taken.
//   v_*, sent, refused: packets to be sent by v_vl, as net_vl takes them, with v_begins from when their link is known. q_valid with q_vl,
//   q_resume and q_value stands until q_done: a RESUME, answered by q_ok, or a SPACE of q_value MESSAGEs.
//   m_*: DONEs, as ni_compose takes them. ev_bad (pulse): a VIRTUAL that is refused for what it is.
//
// Proven: ni_vl_in.formal.v, by induction.
// Source: doc/protocol.md, "Virtual links of an interface".
module ni_vl_in #(
    parameter VIRTUAL    = 4,
    parameter MAX_PACKET = 1032,
    parameter WIDTH      = 1
) (
    input  wire               clk,
    input  wire               rst,

    input  wire               s_valid,
    output wire               s_ready,
    input  wire [8*WIDTH-1:0] s_data,
    input  wire [WIDTH-1:0]   s_keep,
    input  wire               s_last,
    input  wire               s_void,
    output wire               h_valid,
    input  wire               h_ready,
    output wire               h_void,

    output wire               v_valid,
    input  wire               v_ready,
    output wire [7:0]         v_data,
    output wire               v_last,
    output wire [VIRTUAL-1:0] v_vl,
    output wire               v_begins,
    output wire [15:0]        v_size,
    output wire               v_cancel,
    input  wire               sent,
    input  wire               refused,

    output wire               q_valid,
    input  wire               q_done,
    input  wire               q_ok,
    output wire               q_resume,
    output wire [VIRTUAL-1:0] q_vl,
    output wire [7:0]         q_value,

    output wire               m_valid,
    input  wire               m_ready,
    output wire [7:0]         m_kind,
    output wire [15:0]        m_length,
    output wire [7:0]         m_data,
    output wire               m_last,
    output reg                ev_bad
);
`include "linkproto.vh"
    localparam [2:0] HEAD = 3'd0, JUDGE = 3'd1, AGAIN = 3'd2, BODY = 3'd3, SENT = 3'd4, TAIL = 3'd5, ASK = 3'd6, ANSWER = 3'd7;
    localparam [3:0] FIELDS = `LP_VIRTUAL_PACKET_OFFSET + `LP_HEADER_BYTES;
    localparam [3:0] KIND = `LP_VIRTUAL_PACKET_OFFSET;
    localparam [15:0] OUTSIDE = `LP_VIRTUAL_PACKET_OFFSET, HEADER = `LP_HEADER_BYTES, MOST = MAX_PACKET[15:0];

    // A VIRTUAL comes as far as the header of the packet inside, and is judged. The header is said again to net_vl, and the rest follows.
    reg  [2:0]  state;
    reg  [3:0]  count;                  // bytes that have come, FIELDS at most
    reg  [8*FIELDS-1:0] head;
    reg         ended;                  // the packet has come whole
    reg         other;                  // one that is no VIRTUAL is underway
    reg         drops;                  // in TAIL: it is refused
    reg  [1:0]  place;                  // in the header, or in an answer
    reg  [7:0]  value;                  // the last byte
    reg  [7:0]  status, tag;
    wire [7:0]  data;
    wire        last, done;             // of the byte, in its beat
    wire        mine  = state != HEAD || count != 4'd0 || (!other && data == {3'd0, `LP_TYPE_VIRTUAL});
    wire        reads = state == HEAD || state == TAIL || (state == BODY && v_ready);
    assign      s_ready = mine ? reads && done : h_ready;
    assign      h_valid = s_valid && !mine;
    assign      h_void  = s_void && other;
    wire        take  = s_valid && mine && reads;
    beat_bytes #(.WIDTH(WIDTH)) u_bytes (
        .clk(clk), .leave(rst || s_void), .data(s_data), .keep(s_keep), .last(s_last), .step(take),
        .byte_q(data), .byte_last(last), .done(done)
    );

    wire [15:0] length = head[23:8], vl = head[39:24], inner = head[63:48];
    wire [4:0]  kind = head[40 +: `LP_TYPE_WIDTH];
    wire        sends  = kind == `LP_TYPE_WRITE || kind == `LP_TYPE_PAGE || kind == `LP_TYPE_CONNECT || kind == `LP_TYPE_MESSAGE;
    wire        resume = kind == `LP_TYPE_RESUME, space = kind == `LP_TYPE_SPACE;
    wire        fits   = count == FIELDS && length == inner + OUTSIDE && inner + HEADER <= MOST &&
                         !(resume && inner != `LP_RESUME_MIN_LENGTH) && !(space && inner != `LP_SPACE_MIN_LENGTH);
    reg  [7:0]  judged;
    always @* begin
        judged = `LP_STATUS_OK;
        if (head[47:45] != 3'd0 || vl >> VIRTUAL != 16'd0) judged = `LP_STATUS_BAD_LINK;
        if (!fits)                                         judged = `LP_STATUS_BAD_LENGTH;
        if (!sends && !resume && !space)                   judged = `LP_STATUS_BAD_TYPE;
        if (count <= OUTSIDE[3:0])                         judged = `LP_STATUS_BAD_LENGTH;
    end
    assign v_vl     = vl[VIRTUAL-1:0];
    wire   gone     = s_void && !ended;     // what is ended is no longer on trial: it is the next that is void
    // The packet may be refused yet.
    wire   maybe    = state == HEAD ? count == KIND || (count > KIND && sends) : state == JUDGE ? judged == `LP_STATUS_OK && sends :
                      state == AGAIN || state == BODY;
    assign v_begins = maybe && !gone && vl >> VIRTUAL == 16'd0;
    assign v_size   = length - OUTSIDE + HEADER;
    assign v_valid  = !gone && (state == AGAIN || (state == BODY && s_valid));
    assign v_data   = state == BODY ? data : head[40 + 8*place +: 8];
    assign v_last   = state == BODY ? last : ended && place == 2'd2;
    assign v_cancel = gone && (state == AGAIN || state == BODY);
    assign q_valid  = state == ASK;
    assign q_resume = resume;
    assign q_vl     = v_vl;
    assign q_value  = value;
    assign m_valid  = state == ANSWER;
    assign m_kind   = {3'd0, `LP_TYPE_DONE};
    assign m_length = `LP_DONE_MIN_LENGTH;
    assign m_data   = place == 2'd1 ? tag : status;
    assign m_last   = place == 2'd2;
    always @(posedge clk) begin
        ev_bad <= 1'b0;
        if (h_valid)     other <= !(h_ready && s_last);     // its first beat is looked at before it moves
        else if (s_void) other <= 1'b0;
        if (take) {ended, value} <= {last, data};
        case (state)
            HEAD: begin
                place <= 2'd0;
                tag   <= `LP_TAG_NONE;
                if (take) begin
                    head[8*count +: 8] <= data;
                    count <= count + 4'd1;
                    if (last || count == FIELDS - 4'd1) state <= JUDGE;
                end
            end
            JUDGE: begin
                status <= judged;
                drops  <= judged != `LP_STATUS_OK;
                state  <= judged != `LP_STATUS_OK ? (ended ? ANSWER : TAIL) : sends ? AGAIN : TAIL;
                ev_bad <= judged != `LP_STATUS_OK && ended;
            end
            AGAIN: if (v_ready) begin
                place <= place + 2'd1;
                if (place == 2'd2) state <= ended ? SENT : BODY;
            end
            BODY: if (take && last) state <= SENT;
            SENT: begin
                place <= 2'd0;
                if (sent) begin
                    status <= `LP_STATUS_NO_SPACE;
                    state  <= refused ? ANSWER : HEAD;
                end
            end
            TAIL: if (take && last) begin
                ev_bad <= drops;
                state  <= drops ? ANSWER : ASK;
            end
            ASK: if (q_done) begin
                tag    <= value;
                status <= q_ok ? `LP_STATUS_OK : `LP_STATUS_NOT_TRAPPED;
                state  <= resume ? ANSWER : HEAD;
            end
            default: if (m_ready) begin
                place <= place + 2'd1;
                if (m_last) state <= HEAD;
            end
        endcase
        if (gone && (state == HEAD || state == JUDGE || state == AGAIN || state == BODY || state == TAIL))
            {state, count, ev_bad} <= {HEAD, 5'd0};
        if (state != HEAD && (state == SENT ? sent && !refused : state == ASK ? q_done && !resume : m_valid && m_ready && m_last))
            {count, ended} <= 5'd0;
        if (rst) {state, count, ended, other, ev_bad} <= {HEAD, 7'd0};
    end
`ifdef FORMAL
`include "ni_vl_in.formal.v"
`endif
endmodule
`resetall
