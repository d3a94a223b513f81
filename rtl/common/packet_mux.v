`default_nettype none
// Packet multiplexer: merges N packet streams into one, whole packets in turn.
//
// Contract:
//   s_*, m_*: bytes with `last`. A source granted keeps the output until its last byte has moved; round robin between packets, so
//   that a source waits for at most N-1 packets of others. m_* are registers, and s_ready depends on no other input.
module packet_mux #(
    parameter N = 2
) (
    input  wire           clk,
    input  wire           rst,

    input  wire [N-1:0]   s_valid,
    output wire [N-1:0]   s_ready,
    input  wire [8*N-1:0] s_data,
    input  wire [N-1:0]   s_last,

    output wire           m_valid,
    input  wire           m_ready,
    output wire [7:0]     m_data,
    output wire           m_last
);
    localparam IW = N > 1 ? $clog2(N) : 1;

    wire [N-1:0]  grant;
    wire [IW-1:0] from;
    arbiter_rr #(.N(N)) u_arbiter (
        .clk(clk), .rst(rst), .request(s_valid), .last(valid && ready && last), .grant(grant), .index(from)
    );
    wire valid = (s_valid & grant) != 0;
    wire last  = s_last[from];
    wire ready;
    assign s_ready = grant & {N{ready}};
    skid_buffer #(.WIDTH(9)) u_out (
        .clk(clk), .rst(rst), .s_valid(valid), .s_ready(ready), .s_data({last, s_data[8*from +: 8]}),
        .m_valid(m_valid), .m_ready(m_ready), .m_data({m_last, m_data})
    );
endmodule
`resetall
