`default_nettype none
// Packet composer: sends the packets of N sources to the host, each behind its header, whole packets in turn.
//
// Contract:
//   s_*: of each packet its head first, s_kind (via and type) and s_length, and then so many bytes, one at least, s_data with `last`. Head
//   and bytes each move with s_valid && s_ready and stand until then. s_last means nothing with a head.
//   m_*: the packets, a byte a clock: three of header, the first of them two clocks after a grant, and the source's. They are registers.
//   SPACED, 1: a byte in two clocks at most, which takes fewer cells.
//   A source granted keeps the output until its last byte has moved; round robin between packets, so that a source waits for at most N-1
//   packets of others. s_ready depends on no other input.
//
// HX8K: 190 LUT4 and 43 flip-flops with N=4; in ni_core, where sources fix most types and lengths, less.
// Proven: ni_compose.formal.v, by induction.
// Source: doc/protocol.md, "Packets".
module ni_compose #(
    parameter N      = 4,
    parameter SPACED = 0
) (
    input  wire            clk,
    input  wire            rst,

    input  wire [N-1:0]    s_valid,
    output wire [N-1:0]    s_ready,
    input  wire [8*N-1:0]  s_kind,
    input  wire [16*N-1:0] s_length,
    input  wire [8*N-1:0]  s_data,
    input  wire [N-1:0]    s_last,

    output wire            m_valid,
    input  wire            m_ready,
    output wire [7:0]      m_data,
    output wire            m_last
);
`include "linkproto.vh"

    localparam IW = N > 1 ? $clog2(N) : 1;
    localparam [1:0] KIND = 2'd0, LOW = 2'd1, BYTES = 2'd3;     // HIGH is between

    reg  [1:0]    place;            // what of the packet is next
    reg           known;            // header is its header's byte `place`
    reg           ended;            // the last byte has moved in the clock before
    reg  [7:0]    header;
    reg  [N-1:0]  open;             // the source granted, once its head may move: with HIGH, and then its bytes
    wire [N-1:0]  grant;
    wire [IW-1:0] from;
    wire          ready;
    wire          valid = known && (s_valid & grant) != {N{1'b0}};
    wire          move  = valid && ready;
    wire          last  = place == BYTES && s_last[from];
    wire [N-1:0]  finals = s_valid & grant & s_last;
    wire          ends  = known && ready && place == BYTES && finals != {N{1'b0}};
    wire [7:0]    data  = place == BYTES ? s_data[8*from +: 8] : header;
    wire [15:0]   length = s_length[16*from +: 16];
    assign s_ready = open & {N{ready}};

    arbiter_rr #(.N(N)) u_arbiter (
        .clk(clk), .rst(rst), .request(s_valid), .last(ended), .grant(grant), .index(from)
    );

    always @(posedge clk) begin
        known <= grant != {N{1'b0}} && !ends && !ended;
        ended <= ends;
        if (!known || move) header <= !known ? s_kind[8*from +: 8] : place == KIND ? length[7:0] : length[15:8];
        if (ended)                       place <= KIND;
        else if (move && place != BYTES) place <= place + 2'd1;
        open <= grant & {N{!ended}} & (place == BYTES ? ~(finals & {N{ready}}) : {N{place == LOW ? move : place[1]}});
        if (rst) begin
            place <= KIND;
            known <= 1'b0;
            ended <= 1'b0;
            open  <= {N{1'b0}};
        end
    end

    generate
        if (SPACED != 0) begin : g_spaced
            reg       held;
            reg [8:0] out;
            always @(posedge clk) begin
                held <= !rst && (held ? !m_ready : valid);
                if (!held) out <= {last, data};
            end
            assign {ready, m_valid, m_last, m_data} = {!held, held, out};
        end else begin : g_full
            skid_buffer #(.WIDTH(9)) u_out (
                .clk(clk), .rst(rst), .s_valid(valid), .s_ready(ready), .s_data({last, data}),
                .m_valid(m_valid), .m_ready(m_ready), .m_data({m_last, m_data})
            );
        end
    endgenerate

`ifdef FORMAL
`include "ni_compose.formal.v"
`endif
endmodule
`resetall
