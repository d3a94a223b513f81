`default_nettype none
// Frame table: which link may write which frame of the receive buffer.
//
// Contract:
//   A frame belongs to at most one link, or to a virtual link; after reset to none. An entry written shows one clock later.
//   allowed[l] says, combinationally, whether link l+1 may write frame look_frame[l]: wr_link was l+1 and, with VIRTUAL, wr_vl 0. A frame
//   that does not exist is never allowed.
//   VIRTUAL, if it is not 0: virtual_allowed says the same of frame virtual_frame and virtual link virtual_vl, which is none if it is 0.
//   rd_valid, rd_link, rd_vl: entry rd_frame, combinationally; 0 for a frame that does not exist.
//
// Proven: ni_frame_table.formal.v, by induction.
// Source: DESIGN of LMMC's protection: a remote write outside a valid frame is dropped by the receiving NI.
module ni_frame_table #(
    parameter LINKS  = 1,
    parameter FRAMES = 4,
    parameter VIRTUAL = 0,
    parameter VW = VIRTUAL != 0 ? VIRTUAL : 1
) (
    input  wire                clk,
    input  wire                rst,

    input  wire                wr_en,
    input  wire [15:0]         wr_frame,
    input  wire                wr_valid,
    input  wire [2:0]          wr_link,
    input  wire [VW-1:0]       wr_vl,

    input  wire [15:0]         rd_frame,
    output wire                rd_valid,
    output wire [2:0]          rd_link,
    output wire [VW-1:0]       rd_vl,
    input  wire [15:0]         virtual_frame,
    input  wire [VW-1:0]       virtual_vl,
    output wire                virtual_allowed,

    input  wire [16*LINKS-1:0] look_frame,
    output wire [LINKS-1:0]    allowed
);
    localparam FW = FRAMES > 1 ? $clog2(FRAMES) : 1;

    wire [4*FRAMES-1:0] entries;
    genvar f, l;
    generate
        for (f = 0; f < FRAMES; f = f + 1) begin : g_frame
            reg [3:0] entry;
            assign entries[4*f +: 4] = entry;
            always @(posedge clk)
                if (rst)                        entry <= 4'd0;
                else if (wr_en && wr_frame == f) entry <= {wr_valid, wr_link};
        end
    endgenerate

    // Compared with a power of two, a number needs no subtraction: the upper bits are zero, and the lower ones may be any.
    function exists(input [15:0] frame);
        exists = frame >> FW == 16'd0 && {1'b0, frame[FW-1:0]} < FRAMES[FW:0];
    endfunction
    wire rd_exists = exists(rd_frame);
    assign {rd_valid, rd_link} = rd_exists ? entries[4*rd_frame[FW-1:0] +: 4] : 4'd0;

    wire [VW*FRAMES-1:0] vls;
    generate
        for (l = 0; l < LINKS; l = l + 1) begin : g_link
            wire [15:0] frame = look_frame[16*l +: 16];
            wire [3:0]  entry = entries[4*frame[FW-1:0] +: 4];
            assign allowed[l] = exists(frame) && entry[3] && entry[2:0] == l + 1 &&
                                (VIRTUAL == 0 || vls[VW*frame[FW-1:0] +: VW] == {VW{1'b0}});
        end
        if (VIRTUAL != 0) begin : g_virtual
            for (f = 0; f < FRAMES; f = f + 1) begin : g_vl
                reg [VW-1:0] vl;
                assign vls[VW*f +: VW] = vl;
                always @(posedge clk)
                    if (rst)                         vl <= {VW{1'b0}};
                    else if (wr_en && wr_frame == f) vl <= wr_vl;
            end
            assign rd_vl = rd_exists ? vls[VW*rd_frame[FW-1:0] +: VW] : {VW{1'b0}};
            assign virtual_allowed = exists(virtual_frame) && entries[4*virtual_frame[FW-1:0] + 3] && virtual_vl != {VW{1'b0}} &&
                                     vls[VW*virtual_frame[FW-1:0] +: VW] == virtual_vl;
        end else begin : g_real
            assign {vls, rd_vl, virtual_allowed} = {VW*FRAMES + VW + 1{1'b0}};
            wire unused = ^{wr_vl, virtual_frame, virtual_vl};
        end
    endgenerate

`ifdef FORMAL
`include "ni_frame_table.formal.v"
`endif
endmodule
`resetall
