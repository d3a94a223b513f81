`default_nettype none
// Makes ROUTEs of virtual links.
//
// Contract:
//   start (pulse, while idle): one with the fields that are there, and with a packet of `size` bytes, 0: none, at slot `slot`. idle falls
//   in the next clock. rd_*: the slots' memory, a byte each: rd_data is that of rd_at one clock after rd_en, and stays.
//   early, at start: the packet comes while it is sent. Of it `come` bytes are in the slot, and the ROUTE ends behind `whole` (pulse), or
//   is taken back by `undo` (pulse).
//   frees (pulse): slot freed_slot is another's from then on: a ROUTE that still reads it is `cut`, that is, taken back.
//   m_*: the ROUTE, a byte a clock; m_void (pulse, m_valid low) takes back what has gone of it.
//
// Source: doc/protocol.md, "Virtual links". Proven: net_vl_send.formal.v.
module net_vl_send #(
    parameter SLOTS      = 64,
    parameter SLOT_BYTES = 1024
) (
    input  wire        clk,
    input  wire        rst,

    output wire        idle,
    input  wire        start,
    input  wire        early,
    input  wire [$clog2(SLOT_BYTES):0] come,
    input  wire        whole,
    input  wire        undo,
    input  wire        frees,
    input  wire [$clog2(SLOTS)-1:0] freed_slot,
    output wire        cut,
    input  wire [15:0] dest,
    input  wire [15:0] node,
    input  wire [1:0]  class_of,
    input  wire [15:0] vl,
    input  wire [7:0]  state,
    input  wire [7:0]  next,
    input  wire [7:0]  seq,
    input  wire [31:0] key,
    input  wire [15:0] size,
    input  wire [$clog2(SLOTS)-1:0] slot,

    output wire        rd_en,
    output wire [$clog2(SLOTS*SLOT_BYTES)-1:0] rd_at,
    input  wire [7:0]  rd_data,

    output wire        m_valid,
    input  wire        m_ready,
    output wire [7:0]  m_data,
    output wire        m_last,
    output reg         m_void
);
`include "linkproto.vh"
    localparam AW = $clog2(SLOT_BYTES);
    localparam [5:0] HOPS = 6'd62;
    localparam [15:0] OUTSIDE = `LP_ROUTE_EXTRA - `LP_HEADER_BYTES;
    localparam [3:0] HEAD_LAST = `LP_ROUTE_FIELDS - 1, PATH = `LP_ROUTE_PATH;
    localparam [1:0] IDLE = 2'd0, HEAD = 2'd1, PACKET = 2'd2, CHECK = 2'd3;

    reg  [1:0]   part;
    reg  [3:0]   place;                 // in the header, or in the check
    reg  [8*`LP_ROUTE_FIELDS-1:0] head; // the next byte lowest
    reg  [15:0]  left;                  // bytes of the packet
    reg  [AW-1:0] at;                   // the byte of the slot that is read next
    reg          have, coming;          // the byte before it has been read; the packet still comes
    reg  [$clog2(SLOTS)-1:0] from;
    wire [31:0]  crc;
    wire         ok;
    wire         step = m_valid && m_ready;
    wire         drops = (undo && coming) || cut;
    assign cut     = frees && freed_slot == from && left != 16'd0 && !idle;
    assign idle    = part == IDLE;
    assign m_valid = part == HEAD || (part == PACKET && have) || (part == CHECK && !(m_last && coming));
    assign m_data  = part == HEAD ? head[7:0] : part == PACKET ? rd_data : crc[7:0];
    assign m_last  = part == CHECK && place == 4'd3;
    wire   shown   = part == PACKET && step;
    assign rd_en   = (!have || shown) && !idle && (!coming || {1'b0, at} < come);
    assign rd_at   = {from, at};
    wire [15:0] length = size + OUTSIDE;
    always @(posedge clk) begin
        have   <= rd_en || (have && !shown);
        m_void <= drops;
        if (whole) coming <= 1'b0;
        if (rd_en) at <= at + {{AW-1{1'b0}}, 1'b1};
        if (start) begin
            part  <= HEAD;
            {have, coming} <= {1'b0, early};
            place <= 4'd0;
            left  <= size;
            from  <= slot;
            head  <= {seq, next, state, vl, class_of, HOPS, node, dest, length, {3'd0, `LP_TYPE_ROUTE}};
            at    <= {AW{1'b0}};
        end else if (step) begin
            place <= place + 4'd1;
            head  <= head >> 8;
            case (part)
                HEAD: if (place == HEAD_LAST) begin
                    part  <= left == 16'd0 ? CHECK : PACKET;
                    place <= 4'd0;
                end
                PACKET: begin
                    left <= left - 16'd1;
                    if (left == 16'd1) {part, place} <= {CHECK, 4'd0};
                end
                default: if (m_last) part <= IDLE;
            endcase
        end
        if (rst || drops) {part, coming} <= {IDLE, 1'b0};
        if (rst) m_void <= 1'b0;
    end
    crc32c_byte u_crc (
        .clk(clk), .init(start), .key(key), .en(start || (step && !(part == HEAD && place == PATH))), .shift(part == CHECK),
        .data(m_data), .crc(crc), .ok(ok)
    );
    wire unused = ^{ok, crc[31:8]};
`ifdef FORMAL
`include "net_vl_send.formal.v"
`endif
endmodule
`resetall
