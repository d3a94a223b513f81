`default_nettype none
// Takes packets out of the ROUTEs of virtual links that have come to their node.
//
// Contract:
//   s_*: ROUTEs on trial, a byte a clock; s_void (pulse, s_valid low) takes back what has come of one.
//   look with `there`: r_* say what the ROUTE says, until it is over; they are those of one for this `node`, which is of a virtual link and
//   no INIT. It waits for the first byte of the packet: r_host: it is for the host; r_message: it is a MESSAGE, of at least its fields.
//   looked (pulse): `opened`: there is an end for it, which begins its CRC with `key`; `ours`: it is from the end's peer, and `takes`: its
//   packet is taken unless it is damaged.
//   hear with `there`: it has come, whole; r_good: undamaged, from the peer and of a state that there is, its packet r_fits a link or not.
//   heard (pulse): `delivers`: it counts.
//   look and hear show three clocks sooner too, as the bytes before come, and r_vl with look, so that the end can be read meanwhile.
//   m_*: packets that are taken, m_host: for the host, on trial while they come; the last byte comes when it counts, else m_void (pulse,
//   m_valid low) takes back what has come of one. One begins only if `takes` was said.
//   ev_bad (pulse): a ROUTE that is damaged or for nobody here.
//
// The CRC is linear: until the key is known it is that of key 0, and then the share of the key is put to it, which is as if it had stood
// there from the start. So the end is looked up while the ROUTE comes, and its fields tell the key (doc/protocol.md, "Virtual links").
// Proven: net_vl_receive.formal.v.
module net_vl_receive #(
    parameter VIRTUAL    = 4,
    parameter MAX_PACKET = 1032
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [15:0] node,

    input  wire        s_valid,
    output wire        s_ready,
    input  wire [7:0]  s_data,
    input  wire        s_last,
    input  wire        s_void,

    output wire        look,
    output wire        there,
    input  wire        looked,
    input  wire        opened,
    input  wire        ours,
    input  wire        takes,
    input  wire [31:0] key,
    output wire        hear,
    input  wire        heard,
    input  wire        delivers,
    output wire [15:0] r_src,
    output reg  [VIRTUAL-1:0] r_vl,
    output wire [7:0]  r_next,
    output wire [7:0]  r_seq,
    output wire        r_stop,
    output wire        r_lost,
    output wire        r_packet,
    output wire        r_host,
    output wire        r_message,
    output wire        r_fits,
    output wire        r_good,

    output wire        settles,         // the last byte of one that counts is still to go
    output wire        m_valid,
    input  wire        m_ready,
    output wire [7:0]  m_data,
    output wire        m_last,
    output reg         m_host,
    output reg         m_void,
    output reg         ev_bad
);
`include "linkproto.vh"
    localparam [3:0]  SOON = `LP_ROUTE_VL + 2;      // the number has come
    localparam [3:0]  FIELDS = `LP_ROUTE_FIELDS, PATH = `LP_ROUTE_PATH;
    localparam [15:0] OUTSIDE = `LP_ROUTE_EXTRA - `LP_HEADER_BYTES, BEHIND = `LP_ROUTE_FIELDS - `LP_HEADER_BYTES;
    localparam [15:0] HEADER = `LP_HEADER_BYTES, LEAST = `LP_MIN_PACKET, MOST = MAX_PACKET[15:0];
    localparam [15:0] CHECK = `LP_ROUTE_EXTRA - `LP_ROUTE_FIELDS;
    localparam [31:0] POLY = `LP_CRC32C_POLY;

    function [31:0] after(input [31:0] state, input [7:0] x);       // CRC-32C after a byte
        integer b;
        begin
            after = state ^ {24'd0, x};
            for (b = 0; b < 8; b = b + 1) after = {1'b0, after[31:1]} ^ (POLY & {32{after[0]}});
        end
    endfunction
    function [31:0] share(input [31:0] x);                          // of a key, behind the fields, of which `path` does not count
        integer k;
        begin
            share = x;
            for (k = 1; k < `LP_ROUTE_FIELDS; k = k + 1) share = after(share, 8'd0);
        end
    endfunction

    reg  [3:0]   at;                            // fields that have come
    reg  [8*`LP_ROUTE_FIELDS-1:0] head;
    reg          known, drops;                  // the end has been looked up; the ROUTE is of none
    reg          sound;                         // it is its end's, and says what it may
    reg          taken, begun;                  // its packet goes out; some of it has
    reg          closing;                       // it has come whole
    reg          exact;                         // and its length is right
    reg  [15:0]  left;                          // bytes behind the fields
    reg  [15:0]  inner;                         // length of the packet, as it says itself
    reg  [1:0]   lead;                          // bytes of the packet that have come, two at most
    reg  [31:0]  crc;
    reg  [7:0]   final_byte;
    reg          final_due;                     // it goes out, since the packet counts

    wire [15:0] number = {s_data, head[8*`LP_ROUTE_FIELDS-1 -: 8]};     // while the last byte of it comes
    wire [15:0] length_now = head[31:16];               // while the last field comes
    wire [15:0] length = head[23:8], vl = head[79:64];
    wire [7:0]  says = head[87:80];
    wire        unused = ^{head[7:0], head[63:56], number};     // type and path
    wire        full_head = at == FIELDS;
    wire        last_one = left == CHECK + 16'd1;       // the last byte of the packet
    wire        in_packet = full_head && left > CHECK;
    assign r_src    = head[55:40];
    assign r_next   = head[95:88];
    assign r_seq    = head[103:96];
    assign r_stop   = says[`LP_WORD_STOP_BIT];
    assign r_packet = says[0];
    assign r_lost   = says[7:6] == `LP_KIND_LOST;
    wire [15:0] size = length - OUTSIDE;
    assign r_fits   = size == inner + HEADER && size >= LEAST && size <= MOST;
    wire   mine     = head[39:24] == node && node != 16'd0 && says != `LP_ROUTE_DATAGRAM && says[7:6] != `LP_KIND_INIT &&
                      vl >> VIRTUAL == 16'd0 && length >= OUTSIDE;
    wire   formed   = (says & 8'h9E) == 8'd0 && (r_packet || (length == OUTSIDE && r_seq == 8'd0));
    wire   shows_all = full_head && !known && !drops && !closing && mine && (!r_packet || s_valid);
    assign look     = shows_all || (at >= SOON && !full_head && s_valid);
    reg    message;
    localparam [15:0] LEAST_MESSAGE = `LP_HEADER_BYTES + `LP_MESSAGE_MIN_LENGTH;
    wire   is_message = s_data == {3'd0, `LP_TYPE_MESSAGE};
    assign r_host   = s_data == {3'd0, `LP_TYPE_PAGE} || s_data == {3'd0, `LP_TYPE_CONNECT} || is_message;
    assign r_message = known ? message : is_message && size >= LEAST_MESSAGE;
    assign settles  = final_due;
    wire   passes   = !full_head || drops || known;
    wire   shows    = in_packet && taken && !last_one;
    assign s_ready  = !closing && passes && (!shows || m_ready);
    wire   accept   = s_valid && s_ready;
    assign r_good   = exact && sound && crc == `LP_CRC32C_RESIDUE;
    assign hear     = known && !final_due && (closing || (left <= 16'd3 && s_valid));
    assign there    = closing || shows_all;
    wire   gives    = hear && heard && delivers;
    wire   gone     = s_void && !closing;
    assign m_valid  = final_due || (shows && s_valid && !closing);
    assign m_data   = final_due ? final_byte : s_data;
    assign m_last   = final_due;
    wire   over     = closing && !final_due && (!known || (heard && !delivers));
    wire   settled  = over || (final_due && m_ready);
    always @(posedge clk) begin
        {m_void, ev_bad} <= 2'b00;
        if (accept) begin
            if (!full_head) begin
                head <= {s_data, head[8*`LP_ROUTE_FIELDS-1:8]};
                at   <= at + 4'd1;
                if (at == SOON - 4'd1) r_vl <= number[VIRTUAL-1:0];
                if (at == FIELDS - 4'd1) left <= length_now - BEHIND;
            end else if (left != 16'd0) left <= left - 16'd1;
            if (in_packet) begin
                if (lead != 2'd3) lead <= lead + 2'd1;
                if (lead == 2'd1) inner[7:0]  <= s_data;
                if (lead == 2'd2) inner[15:8] <= s_data;
                if (shows) begun <= 1'b1;
            end
            if (in_packet && last_one) final_byte <= s_data;
            if (at != PATH) crc <= after(at == 4'd0 ? `LP_CRC32C_INIT : crc, at == 4'd0 ? {3'd0, s_data[4:0]} : s_data);
            exact   <= full_head && left == 16'd1;
            closing <= s_last;
        end
        if (full_head && !known && !drops && !closing && !mine) drops <= 1'b1;
        if (looked && shows_all) begin
            known <= opened;
            drops <= !opened;
            sound <= ours && formed;
            taken <= opened && ours && formed && takes && size <= MOST;
            crc   <= crc ^ share(key);
            {m_host, message} <= {r_host, r_message};
        end
        if (gives) final_due <= 1'b1;
        if (settled || gone) begin
            {at, lead} <= 6'd0;
            {known, drops, taken, begun, closing, final_due} <= 6'd0;
            m_void <= begun && !final_due;
            ev_bad <= closing && !(known && r_good);
        end
        if (rst) begin
            {at, lead} <= 6'd0;
            {known, drops, taken, begun, closing, final_due, m_void, ev_bad} <= 8'd0;
        end
    end
`ifdef FORMAL
`include "net_vl_receive.formal.v"
`endif
endmodule
`resetall
