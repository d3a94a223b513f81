`default_nettype none
// Space reporter: tells the host, whenever it has changed and when the host port has started again, what each link's transmit queue has
// freed.
//
// Contract:
//   freed_bytes, freed_packets: cumulative counts of each link, modulo their width. m_*, as ni_compose takes them: SPACE packets with
//   absolute counts, so that several changes make one packet and none is lost. Links take turns. `again` (pulse): a packet for every link
//   follows, changed or not.
//
// Proven: ni_space.formal.v, by induction.
// Source: doc/protocol.md, "Packets".
module ni_space #(
    parameter LINKS = 1
) (
    input  wire                clk,
    input  wire                rst,

    input  wire [16*LINKS-1:0] freed_bytes,
    input  wire [8*LINKS-1:0]  freed_packets,
    input  wire                again,

    output reg                 m_valid,
    input  wire                m_ready,
    output wire [7:0]          m_kind,
    output wire [15:0]         m_length,
    output reg  [7:0]          m_data,
    output reg                 m_last
);
`include "linkproto.vh"

    localparam integer LINKS_LESS_1 = LINKS - 1;
    localparam [2:0] FINAL = LINKS_LESS_1[2:0];
    localparam [1:0] LAST = `LP_SPACE_MIN_LENGTH;

    reg [8*LINKS-1:0] told;             // packets
    reg [7:0]         bytes_high;       // that are being told
    reg [7:0]         repeats;          // links to tell of again
    reg [2:0]         link;             // link looked at, from 0
    reg               busy;             // it is told of
    reg [1:0]         index;            // 0: the head
    wire [7:0]        packets = freed_packets[8*link +: 8];
    wire [15:0]       bytes   = freed_bytes[16*link +: 16];
    wire              changed = packets != told[8*link +: 8];
    wire [2:0]        next    = link == FINAL ? 3'd0 : link + 3'd1;
    assign m_kind   = {link + 3'd1, `LP_TYPE_SPACE};
    assign m_length = `LP_SPACE_MIN_LENGTH;

    always @(posedge clk) begin
        if (!m_valid || m_ready) begin
            m_valid <= busy;
            m_last  <= index == LAST;
            m_data  <= index == 2'd1 ? bytes[7:0] : index == 2'd2 ? bytes_high : told[8*link +: 8];
            index   <= !busy || index == LAST ? 2'd0 : index + 2'd1;
            if (index == LAST) {busy, link} <= {1'b0, next};
            if (index == 2'd1) begin            // the counts are those of this clock
                bytes_high        <= bytes[15:8];
                told[8*link +: 8] <= packets;
            end
        end
        if (!busy) begin
            if (changed || repeats[link]) begin
                busy <= 1'b1;
                repeats[link] <= 1'b0;
            end else
                link <= next;
        end
        if (again) repeats <= 8'hFF;
        if (rst) begin
            m_valid <= 1'b0;
            busy    <= 1'b0;
            repeats <= 8'd0;
            link    <= 3'd0;
            told    <= {8*LINKS{1'b0}};
        end
    end
`ifdef FORMAL
`include "ni_space.formal.v"
`endif
endmodule
`resetall
