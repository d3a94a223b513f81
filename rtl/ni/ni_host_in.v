`default_nettype none
// Host packets: forwards what is for a link, hands what is for the network interface itself to the reply unit.
//
// Contract:
//   s_*: packets of the host's link endpoint; their length field is right, and no more than a page is in them beside their fields.
//   A link packet (type below 0x10) with `via` l goes to link l unchanged but for via, which becomes 0; it is never held up, since has_room
//   promises room for the whole packet: when has_room[l-1] is low it is dropped, ev_no_space, and answered NO_SPACE.
//   Everything else becomes one request: req_valid with req_type, req_tag, req_status (other than OK: refuse) and req_fields,
//   the bytes after the tag, first byte lowest; it stands until req_done. Data of BUF_WRITE goes to w_* before the request stands.
//   A BUF_READ or BUF_WRITE lies within one page that exists, or is refused; req_last is the offset of a BUF_READ's last byte. req_tag is the packet's when its type is a request's and
//   it has one, else none. `via` matters to RESUME and RETRAP only.
//
// Source: doc/protocol.md, "Packets".
module ni_host_in #(
    parameter LINKS        = 1,
    parameter PAGE_BYTES   = 1024,
    parameter BUFFER_BYTES = 4096,
    parameter ADDR_WIDTH   = 12
) (
    input  wire                  clk,
    input  wire                  rst,

    input  wire                  s_valid,
    output wire                  s_ready,
    input  wire [7:0]            s_data,
    input  wire                  s_last,

    output reg  [LINKS-1:0]      f_valid,
    output reg  [7:0]            f_data,
    output reg                   f_last,
    input  wire [LINKS-1:0]      has_room,

    output reg                   req_valid,
    input  wire                  req_done,
    output reg  [4:0]            req_type,
    output reg  [2:0]            req_via,
    output reg  [7:0]            req_tag,
    output reg  [7:0]            req_status,
    output reg  [47:0]           req_fields,
    output wire [$clog2(PAGE_BYTES)-1:0] req_last,

    output wire                  w_valid,
    input  wire                  w_take,
    output wire [ADDR_WIDTH-3:0] w_addr,
    output wire [31:0]           w_data,
    output wire [3:0]            w_mask,

    output reg  [LINKS-1:0]      ev_no_space,
    output reg                   ev_bad
);
`include "linkproto.vh"

    localparam [2:0] HEAD = 3'd0, FORWARD = 3'd1, CHECK = 3'd2, DATA = 3'd3, DRAIN = 3'd4, REQUEST = 3'd5, SETTLE = 3'd6;

    reg  [2:0]  state;
    reg  [3:0]  index;
    reg  [15:0] length;             // of BUF_WRITE; of others it is where the packet ends
    reg         ended;              // the packet's last byte has been taken
    reg  [2:0]  settle;             // clocks to wait
    wire        writer_ready, writer_idle;
    assign s_ready = state == HEAD || state == DRAIN || state == FORWARD || (state == DATA && writer_ready);
    wire        take = s_valid && s_ready;

    // First byte: where to.
    localparam EXIST = (2 << LINKS) - 2;        // bit l: there is a link l
    wire [4:0] kind  = s_data[`LP_TYPE_WIDTH-1:0];
    wire [2:0] via   = s_data[`LP_VIA_LSB +: `LP_VIA_WIDTH];
    wire [7:0] link  = 8'd1 << via;
    wire [7:0] rooms = {{(8 - LINKS){1'b0}}, has_room} << 1;
    wire       link_packet = !kind[4] && kind != 5'd0 && via != 3'd0;
    wire       no_link     = (EXIST[7:0] & link) == 8'd0;
    wire       forward     = link_packet && (rooms & link) != 8'd0;

    // Length, type and range of a request, looked at when its header and fields are in.
    localparam PW = $clog2(PAGE_BYTES);
    localparam [PW+1:0] WRITE_LESS = `LP_BUF_WRITE_MIN_LENGTH + 1, READ_LESS = 1;
    localparam [ADDR_WIDTH:0] LIMIT = BUFFER_BYTES[ADDR_WIDTH:0];
    wire [31:0] first = req_fields[31:0];
    wire [15:0] count = req_fields[47:32];
    wire        unused_length = |length;
    reg  [PW+1:0] most;             // bytes of data, less one
    reg  [PW+1:0] last;             // offset of the last of them; one before the first if there are none
    assign req_last = last[PW-1:0];
    reg         beyond, outside, is_write, bad_length, bad_range;
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
    wire [2:0] field      = index[2:0] - 3'd4;      // of req_fields, at index 4 and after
    reg  [3:0] fields_end;                          // index of the last byte of fixed fields
    always @(posedge clk) begin
        fixed_q    <= fixed;
        fields_end <= `LP_HEADER_BYTES + (fixed_q == 4'd0 ? 4'd1 : fixed_q) - 4'd1;
        is_write   <= req_type == `LP_TYPE_BUF_WRITE;
        most       <= {1'b0, is_write ? length[PW:0] : count[PW:0]} - (is_write ? WRITE_LESS : READ_LESS);
        last       <= {2'b00, first[PW-1:0]} + most;
        beyond     <= first >> ADDR_WIDTH != 32'd0 || {1'b0, first[ADDR_WIDTH-1:0]} >= LIMIT || (!is_write && count >> (PW + 1) != 16'd0);
        outside    <= last[PW+1:PW] == 2'b01 || last[PW+1:PW] == 2'b10 || beyond;
        bad_range  <= outside && (is_write || req_type == `LP_TYPE_BUF_READ);
    end

    always @(posedge clk) begin
        ev_bad      <= 1'b0;
        ev_no_space <= {LINKS{1'b0}};
        f_valid     <= {LINKS{1'b0}};
        settle      <= state == CHECK || state == SETTLE ? settle - 3'd1 : 3'd4;
        case (state)
            HEAD: if (take) begin
                index <= index + 4'd1;
                ended <= s_last;
                case (index)
                    4'd0: begin
                        req_type   <= kind;
                        req_via    <= via;
                        req_tag    <= `LP_TAG_NONE;
                        req_status <= `LP_STATUS_OK;
                        lost       <= no_link && (kind == `LP_TYPE_RESUME || kind == `LP_TYPE_RETRAP);
                        if (forward) begin
                            f_valid <= link[LINKS:1];
                            state   <= FORWARD;
                        end else if (link_packet) begin
                            req_status  <= no_link ? `LP_STATUS_BAD_LINK : `LP_STATUS_NO_SPACE;
                            ev_no_space <= no_link ? {LINKS{1'b0}} : link[LINKS:1];
                            ev_bad      <= no_link;
                            state       <= DRAIN;
                        end
                    end
                    4'd1: length[7:0]  <= s_data;
                    4'd2: length[15:8] <= s_data;
                    4'd3: req_tag      <= s_data;
                    default: req_fields[8*field +: 8] <= s_data;
                endcase
                bad_length <= s_last ? index != fields_end : !is_write;
                if (s_last || (index >= 4'd3 && index == fields_end)) state <= CHECK;
            end
            FORWARD: if (take) begin
                f_valid <= link_q;
                if (s_last) begin
                    state <= SETTLE;
                end
            end
            // has_room lags behind the last byte forwarded.
            SETTLE: begin
                if (settle == 3'd0) state <= HEAD;
                index <= 4'd0;
            end
            // What is looked at follows the last byte of the fields.
            CHECK: if (settle == 3'd0) begin
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
            DATA:  if (take && s_last) state <= REQUEST;
            DRAIN: if (take && s_last) state <= REQUEST;
            default: begin
                req_valid <= writer_idle && !req_done;
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
            req_valid <= 1'b0;
            ev_bad    <= 1'b0;
            ev_no_space <= {LINKS{1'b0}};
        end
    end

    reg [LINKS-1:0] link_q;
    always @(posedge clk) begin
        if (take && state == HEAD && index == 4'd0) link_q <= link[LINKS:1];
        f_data <= state == HEAD ? {3'd0, kind} : s_data;
        f_last <= s_last;
    end

    ni_page_writer #(.ADDR_WIDTH(ADDR_WIDTH)) u_writer (
        .clk(clk), .rst(rst), .start(state == CHECK), .start_addr(first[ADDR_WIDTH-1:0]),
        .s_valid(s_valid && state == DATA), .s_ready(writer_ready), .s_data(s_data), .s_last(s_last),
        .w_valid(w_valid), .w_take(w_take), .w_addr(w_addr), .w_data(w_data), .w_mask(w_mask), .idle(writer_idle)
    );
endmodule
`resetall
