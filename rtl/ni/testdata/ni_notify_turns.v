`default_nettype none
// ni_notify of one link and pages of 64 bytes with 2 to 20 frames: `frames` says which of them the ports are those of. The others stand idle.
module ni_notify_turns (
    input  wire        clk,
    input  wire        rst,
    input  wire [4:0]  frames,
    input  wire        enable,
    input  wire        n_valid,
    output wire        n_ready,
    input  wire [15:0] n_frame,
    input  wire [5:0]  n_first,
    input  wire [5:0]  n_last,
    output wire        m_valid,
    input  wire        m_ready,
    output wire [7:0]  m_kind,
    output wire [15:0] m_length,
    output wire [7:0]  m_data,
    output wire        m_last
);
    wire [34:0] out [0:20];
    assign {n_ready, m_valid, m_kind, m_length, m_data, m_last} = out[frames];

    genvar i;
    generate for (i = 2; i <= 20; i = i + 1) begin : g_frames
        wire mine = frames == i;
        ni_notify #(.LINKS(1), .FRAMES(i), .PAGE_BYTES(64)) u_notify (
            .clk(clk), .rst(rst), .enable(enable && mine),
            .n_valid(n_valid && mine), .n_ready(out[i][34]), .n_frame(n_frame), .n_first(n_first), .n_last(n_last),
            .m_valid(out[i][33]), .m_ready(m_ready && mine), .m_kind(out[i][32:25]), .m_length(out[i][24:9]), .m_data(out[i][8:1]), .m_last(out[i][0])
        );
    end endgenerate
endmodule
`resetall
