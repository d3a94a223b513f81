`default_nettype none
// Frame table: which link may write which frame of the receive buffer.
//
// Contract:
//   A frame belongs to at most one link; after reset to none. An entry written shows one clock later.
//   allowed[l] says, combinationally, whether link l+1 may write frame look_frame[l]; a frame that does not exist is never allowed.
//   rd_valid, rd_link: entry rd_frame, combinationally.
//
// Source: DESIGN of LMMC's protection: a remote write outside a valid frame is dropped by the receiving NI.
module ni_frame_table #(
    parameter LINKS  = 1,
    parameter FRAMES = 4
) (
    input  wire                clk,
    input  wire                rst,

    input  wire                wr_en,
    input  wire [15:0]         wr_frame,
    input  wire                wr_valid,
    input  wire [2:0]          wr_link,

    input  wire [15:0]         rd_frame,
    output wire                rd_valid,
    output wire [2:0]          rd_link,

    input  wire [16*LINKS-1:0] look_frame,
    output wire [LINKS-1:0]    allowed
);
    localparam FW = FRAMES > 1 ? $clog2(FRAMES) : 1;

    reg [FRAMES-1:0] valid;
    reg [2:0]        owner [0:FRAMES-1];

    integer i;
    always @(posedge clk)
        if (rst) begin
            valid <= {FRAMES{1'b0}};
            for (i = 0; i < FRAMES; i = i + 1) owner[i] <= 3'd0;
        end else if (wr_en && wr_frame < FRAMES[15:0]) begin
            valid[wr_frame[FW-1:0]] <= wr_valid;
            owner[wr_frame[FW-1:0]] <= wr_link;
        end

    assign rd_valid = rd_frame < FRAMES[15:0] && valid[rd_frame[FW-1:0]];
    assign rd_link  = owner[rd_frame[FW-1:0]];

    genvar l;
    generate
        for (l = 0; l < LINKS; l = l + 1) begin : g_link
            wire [15:0] frame = look_frame[16*l +: 16];
            assign allowed[l] = frame < FRAMES[15:0] && valid[frame[FW-1:0]] && owner[frame[FW-1:0]] == l + 1;
        end
    endgenerate
endmodule
`resetall
