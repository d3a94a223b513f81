`default_nettype none
// Host packets: forwards what is for a link, hands what is for the network interface itself to the reply unit.
//
// Contract:
//   s_*: packets of the host's link endpoint, in beats of WIDTH bytes; their length field is right, and no more than a page is in them
//   beside their fields. They are on trial as link_rx's m_* are.
//   A link packet (type below 0x10) with `via` l goes to link l unchanged but for via, which becomes 0; it is never held up, since has_room
//   promises room for the whole packet. It goes while it is on trial; f_cancel (pulse, behind what has gone) takes it back. When
//   has_room[l-1] is low it waits, and then for takes[l-1], two clocks behind its `size`, less one; when that is low too, it is dropped,
//   ev_no_space, and answered NO_SPACE. Its first beat is at f_* one clock after has_room or takes was high, as link_replay asks.
//   Everything else becomes one request: req_valid with req_type, req_tag, req_status (other than OK: refuse) and req_fields,
//   the bytes after the tag, first byte lowest, of BUF_WRITE none; it stands until req_done. A BUF_READ or BUF_WRITE lies within one
//   page that exists, or is refused. req_tag is the packet's when its type is a request's and it has one, else none. `via` matters to
//   RESUME and RETRAP only. But for req_valid all of it stands a clock earlier.
//   While a request stands, the fields go round by a byte with `turn`, the lowest going to the top, and take `value` in for all bytes but
//   the lowest two with `load`. Of a BUF_READ w_addr is the first word, and then each next one with `next`; at_last: it holds the last
//   byte, and last_lane says where.
//   w_*: the data of BUF_WRITE, a byte at a time in words of WORD, all of it before the request stands. w_valid holds, with w_* stable,
//   until w_take.
//
// Proven: ni_host_in.formal.v, by induction. Source: doc/protocol.md, "Packets".
module ni_host_in #(
    parameter LINKS        = 1,
    parameter PAGE_BYTES   = 1024,
    parameter BUFFER_BYTES = 4096,
    parameter ADDR_WIDTH   = 12,
    parameter WIDTH        = 1,
    parameter WORD         = 4
) (
    input  wire                  clk,
    input  wire                  rst,

    input  wire                  s_valid,
    output wire                  s_ready,
    input  wire [8*WIDTH-1:0]    s_data,
    input  wire [WIDTH-1:0]      s_keep,
    input  wire                  s_last,
    input  wire                  s_sure,
    input  wire                  s_void,

    output reg  [LINKS-1:0]      f_valid,
    output reg  [8*WIDTH-1:0]    f_data,
    output reg  [WIDTH-1:0]      f_keep,
    output reg                   f_last,
    output reg  [LINKS-1:0]      f_cancel,
    input  wire [LINKS-1:0]      has_room,
    output reg  [15:0]           size,
    input  wire [LINKS-1:0]      takes,

    output reg                   req_valid,
    input  wire                  req_done,
    output reg  [4:0]            req_type,
    output reg  [2:0]            req_via,
    output reg  [7:0]            req_tag,
    output reg  [7:0]            req_status,
    output reg  [47:0]           req_fields,
    output wire                  at_last,
    output wire [$clog2(WORD)-1:0] last_lane,
    input  wire                  next,
    input  wire                  turn,
    input  wire                  load,
    input  wire [31:0]           value,

    output wire                  w_valid,
    input  wire                  w_take,
    output wire [ADDR_WIDTH-$clog2(WORD)-1:0] w_addr,
    output wire [8*WORD-1:0]     w_data,
    output wire [WORD-1:0]       w_mask,

    output reg  [LINKS-1:0]      ev_no_space,
    output reg                   ev_bad
);
`include "linkproto.vh"

    localparam [2:0] HEAD = 3'd0, FORWARD = 3'd1, CHECK = 3'd2, DATA = 3'd3, DRAIN = 3'd4, REQUEST = 3'd5, SETTLE = 3'd6,
                     ASK = 3'd7;

    reg  [2:0]  state;
    reg  [3:0]  index;
    reg  [1:0]  beats;              // of a packet that has been forwarded
    reg  [LINKS-1:0] link_q;        // the link that a packet is for
    reg         asks;               // whether it takes this one
    reg         no_way;             // a packet for a link that does not exist
    reg         ended;              // the packet's last byte has been taken

    // First byte: where to.
    localparam EXIST = (2 << LINKS) - 2;        // bit l: there is a link l
    wire [4:0] kind  = s_data[`LP_TYPE_WIDTH-1:0];
    wire [2:0] via   = s_data[`LP_VIA_LSB +: `LP_VIA_WIDTH];
    wire [7:0] link  = 8'd1 << via;
    wire [7:0] rooms = {{(8 - LINKS){1'b0}}, has_room} << 1;
    wire       link_packet = !kind[4] && kind != 5'd0 && via != 3'd0;
    wire       no_link     = (EXIST[7:0] & link) == 8'd0;
    wire       forward     = link_packet && (rooms & link) != 8'd0;
    wire       question    = link_packet && !no_link && !forward;   // the link has to be asked

    // The clocks of ASK: the link's answer is there, and the header is out.
    localparam [3:0] HEADED = `LP_HEADER_BYTES, ASKED = HEADED + 4'd2, OUT = WIDTH == 1 ? ASKED + HEADED - 4'd1 : ASKED;

    // What is for a link, and what is thrown away, goes in beats, and the rest byte by byte. A beat whose link has to be asked waits.
    wire       begins  = state == HEAD && index == 4'd0;
    wire       asked   = state == ASK && index == ASKED;
    wire       taken   = (takes & link_q) != {LINKS{1'b0}};
    wire       whole   = state == DRAIN || state == FORWARD || (WIDTH != 1 && (begins ? forward : asked && taken));
    wire       looks   = (state == HEAD && (s_sure || begins) && !(WIDTH != 1 && begins && (forward || question))) || w_take;
    wire [7:0] data;
    wire       last_byte, done;
    assign     s_ready = whole || (looks && done);
    wire       take    = s_valid && (whole || looks);           // a byte, or all that is left of the beat
    wire       ends    = whole ? s_last : last_byte;
    wire       stays   = WIDTH != 1 && s_valid && s_sure && begins && question;
`ifdef FORMAL
    wire [3:0] f_lane;
`endif
    beat_bytes #(.WIDTH(WIDTH)) u_bytes (
        .clk(clk), .leave(rst || s_void || whole), .data(s_data), .keep(s_keep), .last(s_last), .step(s_valid && looks),
        .byte_q(data), .byte_last(last_byte), .done(done)
`ifdef FORMAL
        , .f_lane(f_lane)
`endif
    );

    localparam [15:0] HEADED_LESS_1 = `LP_HEADER_BYTES - 1;

    // The fields come in at the top and then go round to their places, which takes up to index 10. Before them comes the length, so that
    // it stands for the count that a BUF_WRITE does not have.
    localparam [3:0] IN_PLACE = `LP_HEADER_BYTES + `LP_BUF_READ_MIN_LENGTH, CHECKED = 4'd15;
    wire       enters = take && state == HEAD && index != 4'd3;      // all but the tag
    reg        aligns;
    always @(posedge clk) aligns <= state == CHECK && index < IN_PLACE && !rst;
    wire [7:0] top    = state == HEAD ? data : req_fields[7:0];
    always @(posedge clk)
        if (enters || aligns || state == ASK || turn || load) req_fields <= load ? {value, req_fields[15:0]} : {top, req_fields[47:8]};

    // Length, type and range of a request, looked at when its fields are in place.
    localparam PW = $clog2(PAGE_BYTES);
    localparam [3:0] WRITE_LESS = `LP_BUF_WRITE_MIN_LENGTH + 1, READ_LESS = 4'd1;
    localparam [ADDR_WIDTH:0] LIMIT = BUFFER_BYTES[ADDR_WIDTH:0];
    wire [31:0] first = req_fields[31:0];
    wire [15:0] count = req_fields[47:32];
    wire [PW-1:0] last;             // offset of the last byte
    wire        in_page;
    reg         beyond, outside, is_write, bad_length, bad_range;
    ni_bounds #(.PAGE_BYTES(PAGE_BYTES)) u_bounds (
        .clk(clk), .load(state == CHECK), .first(first[PW-1:0]), .count(count[PW:0]), .less(is_write ? WRITE_LESS : READ_LESS),
        .last(last), .fits(in_page)
    );
    reg  [3:0]  fixed, fixed_q;     // length that the type asks for; 0: no such type
    always @*
        case (req_type)
            `LP_TYPE_REG_READ:  fixed = `LP_REG_READ_MIN_LENGTH;
            `LP_TYPE_REG_WRITE: fixed = `LP_REG_WRITE_MIN_LENGTH;
            `LP_TYPE_BUF_READ:  fixed = `LP_BUF_READ_MIN_LENGTH;
            `LP_TYPE_BUF_WRITE: fixed = `LP_BUF_WRITE_MIN_LENGTH;
            `LP_TYPE_RESUME:    fixed = `LP_RESUME_MIN_LENGTH;
            `LP_TYPE_RETRAP:    fixed = `LP_RETRAP_MIN_LENGTH;
            default:            fixed = 4'd0;
        endcase
    reg  lost;                      // RESUME or RETRAP for a link that does not exist
    reg  [3:0] fields_end;                          // index of the last byte of fixed fields
    always @(posedge clk) begin
        fixed_q    <= fixed;
        fields_end <= `LP_HEADER_BYTES + (fixed_q == 4'd0 ? 4'd1 : fixed_q) - 4'd1;
        is_write   <= req_type == `LP_TYPE_BUF_WRITE;
        beyond     <= first >> ADDR_WIDTH != 32'd0 || {1'b0, first[ADDR_WIDTH-1:0]} >= LIMIT || count >> (PW + 1) != 16'd0;
        outside    <= !in_page || beyond;
        bad_range  <= outside && (is_write || req_type == `LP_TYPE_BUF_READ);
    end

    // The word that is written or read, and the byte of it.
    localparam LW = $clog2(WORD);
    localparam [WORD-1:0] LOWEST = 1;
    reg  [ADDR_WIDTH-LW-1:0] word;
    reg  [LW-1:0]            lane;
    assign at_last   = word[PW-LW-1:0] == last[PW-1:LW];
    assign last_lane = last[LW-1:0];
    assign w_valid   = s_valid && state == DATA;
    assign w_addr    = word;
    assign w_data    = {WORD{data}};
    assign w_mask    = LOWEST << lane;
    always @(posedge clk) begin
        word <= (state == CHECK ? first[ADDR_WIDTH-1:LW] : word) + {{(ADDR_WIDTH - LW - 1){1'b0}}, next || (w_take && (&lane))};
        lane <= state == CHECK ? first[LW-1:0] : lane + {{LW-1{1'b0}}, w_take};
    end

    always @(posedge clk) begin
        ev_bad      <= 1'b0;
        ev_no_space <= {LINKS{1'b0}};
        f_valid     <= {LINKS{1'b0}};
        f_cancel    <= {LINKS{1'b0}};
        if (state == HEAD ? take : state == CHECK || state == SETTLE || state == ASK) index <= index + 4'd1;
        case (state)
            HEAD: if (take || stays) begin
                ended <= ends;
                case (index)
                    4'd0: begin
                        req_type   <= kind;
                        req_via    <= via;
                        req_tag    <= `LP_TAG_NONE;
                        req_status <= `LP_STATUS_OK;
                        lost       <= no_link && (kind == `LP_TYPE_RESUME || kind == `LP_TYPE_RETRAP);
                        beats <= 2'd0;
                        if (forward) begin
                            f_valid <= link[LINKS:1];
                            state   <= WIDTH != 1 && s_last ? SETTLE : FORWARD;
                        end
                        asks   <= question;
                        no_way <= link_packet && no_link;
                    end
                    4'd1: if (no_way) begin
                        req_status <= `LP_STATUS_BAD_LINK;
                        ev_bad     <= 1'b1;
                        state      <= DRAIN;
                    end
                    4'd3: req_tag <= data;
                    default: ;
                endcase
                bad_length <= ends ? index != fields_end : !is_write;
                if ((WIDTH == 1 || !begins) && (ends || (index >= 4'd3 && index == fields_end))) state <= CHECK;
                if (WIDTH == 1 && asks && index == HEADED - 4'd1) state <= ASK;
                if (stays) {state, index} <= {ASK, HEADED};
            end else if (s_void) index <= 4'd0;
            // A header that came byte by byte goes round meanwhile, and then out.
            ASK: begin
                f_valid <= index >= ASKED ? link_q : {LINKS{1'b0}};
                if (asked && !taken) begin
                    f_valid     <= {LINKS{1'b0}};
                    ev_no_space <= link_q;
                    req_status  <= `LP_STATUS_NO_SPACE;
                    state       <= ended ? REQUEST : DRAIN;
                end else if (index == OUT) begin
                    index <= CHECKED - 4'd4;
                    state <= (WIDTH == 1 ? ended : s_last) ? SETTLE : FORWARD;
                end
            end
            FORWARD: if (take || s_void) begin
                f_valid  <= link_q & {LINKS{take}};
                f_cancel <= link_q & {LINKS{s_void}};
                index    <= CHECKED - 4'd4;
                beats    <= beats + {1'b0, !(&beats)};
                if (s_void || s_last) state <= SETTLE;
                if (WIDTH != 1 && (&beats) && s_last && !s_void) {state, index} <= {HEAD, 4'd0};
            end
            // has_room lags behind the last byte forwarded, or there must be some clocks between the ends of packets.
            SETTLE: if (index == CHECKED) state <= HEAD;
            // What is looked at follows the fields that are in place by up to five clocks.
            CHECK: if (index == CHECKED) begin
                if (fixed_q == 4'd0) begin
                    req_status <= `LP_STATUS_BAD_TYPE;
                    req_tag    <= `LP_TAG_NONE;
                end
                else if (bad_length) req_status <= `LP_STATUS_BAD_LENGTH;
                else if (lost)       req_status <= `LP_STATUS_BAD_LINK;
                else if (bad_range)  req_status <= `LP_STATUS_BAD_ADDRESS;
                ev_bad <= fixed_q == 4'd0 || bad_length || lost;
                state  <= ended ? REQUEST : is_write && !bad_length && !outside ? DATA : DRAIN;
            end
            DATA, DRAIN: if (take && ends) state <= REQUEST;
            default: begin
                req_valid <= !req_done;
                if (req_done) begin
                    state <= HEAD;
                    index <= 4'd0;
                end
            end
        endcase
        if (rst) begin
            state     <= HEAD;
            index     <= 4'd0;
            f_valid   <= {LINKS{1'b0}};
            f_cancel  <= {LINKS{1'b0}};
            req_valid <= 1'b0;
            ev_bad    <= 1'b0;
            ev_no_space <= {LINKS{1'b0}};
        end
    end

    always @(posedge clk) begin
        if ((take || stays) && begins) link_q <= link[LINKS:1];
        f_keep <= s_keep;
    end
    generate
        if (WIDTH == 1) begin : g_byte
            always @(posedge clk) begin
                size   <= req_fields[47:32] + HEADED_LESS_1;
                f_data <= state == ASK ? req_fields[15:8] & {{3{index != ASKED}}, 5'h1F} : state == HEAD ? {3'd0, kind} : s_data;
                f_last <= state == ASK ? index == OUT && ended : s_last;
            end
        end else begin : g_beat
            always @(posedge clk) begin
                size   <= s_data[23:8] + HEADED_LESS_1;
                f_data <= {s_data[8*WIDTH-1:8], state == FORWARD ? s_data[7:0] : {3'd0, kind}};
                f_last <= s_last;
            end
        end
    endgenerate

`ifdef FORMAL
`include "ni_host_in.formal.v"
`endif
endmodule
`resetall
