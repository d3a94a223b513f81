`default_nettype none
// What a network interface does with the packets of one link: carries out WRITE, refuses the rest.
//
// Contract:
//   s_*: packets as of link_rx, in beats of WIDTH bytes; the length field of a sure one is right. One beat a clock, two clocks more a
//   packet, five if WIDTH is not 1. Of one on trial the header is read, and judged, and no more data are taken than make no word; what is
//   void leaves nothing behind.
//   A WRITE is carried out whole or not at all: its frame must be allowed and it must end within its page; otherwise ev_denied. Only when
//   the frame is taken away meanwhile does it end in the middle, at most two words later, three if WIDTH is not 1, one byte if SPACED,
//   also with ev_denied.
//   A packet of another type, with `via`, or too short is dropped, ev_bad.
//   look_frame -> allowed: the frame table, combinationally.
//   w_*: masked words of WORD bytes for the receive buffer, as of ni_page_writer; WORD is WIDTH, but 4 with WIDTH 1.
//   While `hold` is high a packet's header is read, but nothing is carried out. `quiet`: no packet has begun, and everything is written.
//   SPACED, 1, with WIDTH 1: each byte is written by itself, so it takes as long as w_take, and the next packet waits until a write is
//   reported.
//   n_*: for each write carried out, even one that ended in the middle, its frame and the offsets of its first and last byte, once what
//   there was of it is written; none for an empty one. It stands until n_ready.
//
// Proven: ni_link_in.formal.v (protection, bytes, hold), by induction, with ni_frame_table and ni_page_writer.
// Source: doc/protocol.md, "Packets".
module ni_link_in #(
    parameter PAGE_BYTES = 1024,
    parameter ADDR_WIDTH = 12,
    parameter WIDTH      = 1,
    parameter WORD       = 4,
    parameter SPACED     = 0
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

    output wire [15:0]           look_frame,
    input  wire                  allowed,

    output wire                  w_valid,
    input  wire                  w_take,
    output wire [ADDR_WIDTH-$clog2(WORD)-1:0] w_addr,
    output wire [8*WORD-1:0]     w_data,
    output wire [WORD-1:0]       w_mask,

    input  wire                  hold,
    output wire                  quiet,
    output wire                  n_valid,
    input  wire                  n_ready,
    output wire [15:0]           n_frame,
    output wire [$clog2(PAGE_BYTES)-1:0] n_first,
    output wire [$clog2(PAGE_BYTES)-1:0] n_last,

    output reg                   ev_denied,
    output reg                   ev_bad
);
`include "linkproto.vh"

    localparam PW = $clog2(PAGE_BYTES);
    localparam [1:0] HEAD = 2'd0, CHECK = 2'd1, DATA = 2'd2, DROP = 2'd3;

    // The header's last byte is in lane FINAL of beat HEADED. A beat that has data behind it stays for DATA, one of another type for
    // DROP.
    localparam integer HEADED_AT = (`LP_WRITE_DATA_OFFSET - 1) / WIDTH, FIRST_AT = 1 / WIDTH;
    localparam [2:0] HEADED = HEADED_AT[2:0], FIRST = FIRST_AT[2:0];    // FIRST has the first byte of the length
    localparam FINAL  = (`LP_WRITE_DATA_OFFSET - 1) % WIDTH;
    localparam BEHIND = `LP_WRITE_DATA_OFFSET % WIDTH;          // lane of the first byte of data
    reg  [1:0]  state;
    reg  [2:0]  index;              // of the beat in HEAD, and then of the clock
    wire        stranger = index == 3'd0 && s_data[7:0] != {3'd0, `LP_TYPE_WRITE};
    wire        with_data = BEHIND != 0 ? s_keep[BEHIND] : !s_last;
    wire        stays     = WIDTH != 1 && (stranger || (index == HEADED && with_data));
    wire        too_short = s_last && (index != HEADED || (WIDTH != 1 && !s_keep[FINAL]));
    reg  [15:0] length;
    reg  [31:0] addr;
    reg         empty;              // the packet ended with its header
    reg         is_bad;             // it is dropped for its type, not for its frame or place
    reg         note;               // a write is to be reported, before the next is carried out
    reg         was_data;           // a sure write was being carried out
    wire        cut = was_data && state == DROP;        // a write has been cut short
    reg         written;            // nothing of the write that is to be reported is still to be written
    wire        writer_ready, writer_idle;
    wire        stands;             // a byte waits for its turn in the receive buffer
    wire        awaited;            // a write is being carried out, and the report of that before it is not taken: this one may not end
    wire        take = s_valid && s_ready;
    wire        keeps = SPACED != 0 && note;            // what is to be reported is still in the header's registers
    assign s_ready = (state == HEAD && !stays && !keeps) || state == DROP || (state == DATA && writer_ready);
    assign n_valid = note && (written || writer_idle);
    assign quiet   = state == HEAD && index == 3'd0 && writer_idle && !note;

    // What CHECK asks is worked out as the header comes. Of length and address only the bits are kept that something granted can have.
    localparam [3:0] LESS = `LP_WRITE_MIN_LENGTH + 1;
    localparam [47:0] BEYOND = {32'hFFFFFFFF << ADDR_WIDTH, 16'hFFFF << (PW + 1)};
    wire [31:0] frame = {{(32 - ADDR_WIDTH){1'b0}}, addr[ADDR_WIDTH-1:0]} >> PW;
    assign look_frame = frame[15:0];
    wire        unused = |{length, addr, frame};
    wire [PW-1:0] last;             // offset of the last byte
    wire          in_page;
    reg           fits, high, mine; // the write ends within the page; length or address have other bits; the frame is this link's
    localparam    AT_ONCE = HEADED_AT == 0;     // a header that is in one beat is looked at there, so that it costs few clocks
    wire [15:0]   here   = {s_data[8*(2 % WIDTH) +: 8], s_data[8*(1 % WIDTH) +: 8]};
    wire [PW:0]   count  = AT_ONCE && state == HEAD ? here[PW:0] : length[PW:0];
    wire          unused_here = ^here;
    assign        awaited = AT_ONCE && note;
    wire          judged = WIDTH == 1 || index == HEADED + (AT_ONCE ? 3'd2 : 3'd4);
    wire          grant = mine && !high && (AT_ONCE ? in_page : fits);
    ni_bounds #(.PAGE_BYTES(PAGE_BYTES)) u_bounds (
        .clk(clk), .load(1'b1), .first(addr[PW-1:0]), .count(count), .less(LESS), .last(last), .fits(in_page)
    );

    // Bytes 1 to 6 of a packet are length and address.
    localparam [55:0] BEYOND_HERE = {BEYOND, 8'd0};
    reg beyond;                     // a bit that nothing granted can have is set
    integer k;
    always @* begin
        beyond = high && index != FIRST;
        for (k = 1; k < `LP_WRITE_DATA_OFFSET; k = k + 1)
            if ({29'd0, index} == k / WIDTH && (s_data[8*(k % WIDTH) +: 8] & BEYOND_HERE[8*k +: 8]) != 8'd0) beyond = 1'b1;
    end
    always @(posedge clk)
        if (state == HEAD && s_valid && !keeps)
            for (k = 1; k < `LP_WRITE_DATA_OFFSET; k = k + 1)
                if ({29'd0, index} == k / WIDTH) begin
                    if (k < `LP_HEADER_BYTES) length[8*(k - 1) +: 8] <= s_data[8*(k % WIDTH) +: 8];
                    else addr[8*(k - `LP_HEADER_BYTES) +: 8] <= s_data[8*(k % WIDTH) +: 8];
                end

    always @(posedge clk) begin
        ev_denied <= 1'b0;
        ev_bad    <= 1'b0;
        fits      <= in_page;
        mine      <= allowed;
        case (state)
            HEAD: if (s_valid && !keeps) begin
                is_bad <= 1'b1;
                index  <= index + 3'd1;
                high   <= beyond;
                if (stranger) state <= DROP;
                else if (index == HEADED) begin
                    empty <= !with_data;
                    state <= CHECK;
                end
                if (too_short && !(stranger && stays)) begin
                    ev_bad <= 1'b1;
                    state  <= HEAD;
                    index  <= 3'd0;
                end
            end
            CHECK: begin
                is_bad <= 1'b0;
                if (!judged) index <= index + 3'd1;
                if (judged && !hold && (!note || (AT_ONCE && n_valid))) begin
                    ev_denied <= empty && !grant;
                    state     <= empty ? HEAD : grant ? DATA : DROP;
                    index     <= 3'd0;
                end
            end
            default: begin
                index <= 3'd0;
                if (take && s_last) begin
                    ev_bad    <= state == DROP && is_bad;
                    ev_denied <= state == DROP && !is_bad;
                    state     <= HEAD;
                end else if (state == DATA && !mine && !awaited && !stands) state <= DROP;
            end
        endcase
        if (s_void && !(state == CHECK && empty)) begin         // an empty packet is in, and sure: it is the next that is void
            state <= HEAD;
            index <= 3'd0;
        end
        if (rst) begin
            state <= HEAD;
            index <= 3'd0;
            {ev_denied, ev_bad} <= 2'd0;
        end
    end

    wire finish = state == DATA && take && s_last;
    always @(posedge clk) begin
        written   <= n_valid;
        was_data  <= state == DATA && s_sure;
        if (finish || cut)           note <= 1'b1;
        else if (n_valid && n_ready) note <= 1'b0;
        if (rst) note <= 1'b0;
    end
    generate
        if (SPACED != 0) begin : g_here
            assign {n_frame, n_first, n_last} = {look_frame, addr[PW-1:0], last};
        end else begin : g_note
            reg [15:0]   of_frame;
            reg [PW-1:0] of_first, of_last;
            always @(posedge clk)
                if (!note) begin
                    of_frame <= look_frame;
                    of_first <= addr[PW-1:0];
                    of_last  <= last;
                end
            assign {n_frame, n_first, n_last} = {of_frame, of_first, of_last};
        end
    endgenerate

    wire start = state == CHECK && writer_idle;
    generate
        if (SPACED == 0) assign stands = 1'b0;
        if (SPACED != 0) begin : g_spaced
            if (WIDTH != 1 || WORD != 4) error_spaced_needs_width_1 u_check_spaced ();
            reg [ADDR_WIDTH-1:0] at;
            always @(posedge clk) at <= start ? addr[ADDR_WIDTH-1:0] : at + {{ADDR_WIDTH-1{1'b0}}, w_take};
            assign w_valid      = s_valid && s_sure && state == DATA;
            assign w_addr       = at[ADDR_WIDTH-1:2];
            assign w_data       = {4{s_data}};
            assign w_mask       = 4'd1 << at[1:0];
            assign stands       = w_valid && !w_take;
            assign writer_ready = w_take;
            assign writer_idle  = 1'b1;
        end
        if (SPACED == 0 && WIDTH == 1) begin : g_byte
            ni_page_writer #(.ADDR_WIDTH(ADDR_WIDTH)) u_writer (
                .clk(clk), .rst(rst), .start(start), .start_addr(addr[ADDR_WIDTH-1:0]),
                .s_valid(s_valid && state == DATA), .s_ready(writer_ready), .s_data(s_data), .s_last(s_last), .s_sure(s_sure),
                .w_valid(w_valid), .w_take(w_take), .w_addr(w_addr), .w_data(w_data), .w_mask(w_mask), .idle(writer_idle)
            );
        end
        if (SPACED == 0 && WIDTH != 1) begin : g_beat
            localparam [WIDTH-1:0] HEADER = (1 << BEHIND) - 1;
            reg  first;                     // the next beat begins with the header
            wire ready;
            always @(posedge clk) first <= state == CHECK || (first && !take);
            assign writer_ready = ready && s_sure && !(awaited && (s_last || !mine));
            ni_beat_writer #(.ADDR_WIDTH(ADDR_WIDTH), .WIDTH(WIDTH)) u_writer (
                .clk(clk), .rst(rst), .start(start), .start_addr(addr[ADDR_WIDTH-1:0] - BEHIND[ADDR_WIDTH-1:0]),
                .s_valid(s_valid && writer_ready && state == DATA), .s_ready(ready), .s_data(s_data),
                .s_keep(s_keep & ~(HEADER & {WIDTH{first}})), .s_last(s_last),
                .w_valid(w_valid), .w_take(w_take), .w_addr(w_addr), .w_data(w_data), .w_mask(w_mask), .idle(writer_idle)
            );
        end
    endgenerate

`ifdef FORMAL
`include "ni_link_in.formal.v"
`endif
endmodule
`resetall
