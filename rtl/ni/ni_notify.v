`default_nettype none
// Notifier: tells the host which bytes of which frame remote writes have changed.
//
// Contract:
//   n_*: a remote write carried out, one for each link: frame, offsets of its first and last byte. Taken within 4 clocks a link whatever the
//   host does, so that a host that reads slowly never stalls a link.
//   m_*: NOTIFY packets. Writes to one frame that come before its NOTIFY is sent are merged into one range that covers them; no
//   write is left out. Frames take turns, so one that is written all the time does not keep back another. `enable` low: writes are
//   forgotten; a NOTIFY begun is still sent.
//
// Source: doc/protocol.md, "Packets".
module ni_notify #(
    parameter LINKS      = 1,
    parameter FRAMES     = 4,
    parameter PAGE_BYTES = 1024
) (
    input  wire                                  clk,
    input  wire                                  rst,
    input  wire                                  enable,

    input  wire [LINKS-1:0]                      n_valid,
    output wire [LINKS-1:0]                      n_ready,
    input  wire [16*LINKS-1:0]                   n_frame,
    input  wire [LINKS*$clog2(PAGE_BYTES)-1:0]   n_first,
    input  wire [LINKS*$clog2(PAGE_BYTES)-1:0]   n_last,

    output reg                                   m_valid,
    input  wire                                  m_ready,
    output wire [7:0]                            m_data,
    output wire                                  m_last
);
`include "linkproto.vh"

    localparam PW = $clog2(PAGE_BYTES);
    localparam FW = FRAMES > 1 ? $clog2(FRAMES) : 1;
    localparam LW = LINKS > 1 ? $clog2(LINKS) : 1;
    localparam [3:0] LAST = `LP_HEADER_BYTES + `LP_NOTIFY_MIN_LENGTH - 1;
    localparam [1:0] IDLE = 2'd0, MERGE = 2'd1, STORE = 2'd2, SEND = 2'd3;

    // One range a frame; `pending` says that it holds something.
    reg  [1:0]        state;
    reg  [FRAMES-1:0] pending;
    reg  [FW-1:0]     scan;
    reg  [LW-1:0]     link;
    reg  [FW-1:0]     frame;
    reg  [PW-1:0]     first, last;
    wire [PW-1:0]     old_first, old_last;
    wire              was      = pending[frame];
    reg               merged;           // in the clock before: then the host's turn comes first
    wire              found    = !m_valid && pending[scan];
    wire              heard    = n_valid[link] && !(merged && found);
    wire              fetch    = !heard && found;
    wire [FW-1:0]     in_frame = n_frame[16*link +: FW];

    ram_sdp #(.WIDTH(2 * PW), .DEPTH(FRAMES > 1 ? FRAMES : 2)) u_ranges (
        .clk(clk),
        .wr_en(state == STORE), .wr_addr(frame), .wr_data({first, last}),
        .rd_en(state == IDLE), .rd_addr(heard ? in_frame : scan), .rd_data({old_first, old_last})
    );

    genvar l;
    generate
        for (l = 0; l < LINKS; l = l + 1) begin : g_ready
            assign n_ready[l] = state == IDLE && link == l && !(merged && found);
        end
    endgenerate

    localparam integer FINAL_FRAME = FRAMES - 1;
    localparam integer FINAL_LINK  = LINKS - 1;
    reg  [71:0] packet;
    reg  [3:0]  index;
    wire [15:0] frame_16 = {{(16 - FW){1'b0}}, frame};
    wire [15:0] first_16 = {{(16 - PW){1'b0}}, old_first};
    wire [15:0] last_16  = {{(16 - PW){1'b0}}, old_last};
    assign m_data = packet[7:0];
    assign m_last = index == LAST;

    always @(posedge clk) begin
        case (state)
            IDLE: begin
                merged <= 1'b0;
                if (!fetch) link <= link == FINAL_LINK[LW-1:0] ? {LW{1'b0}} : link + 1'b1;
                frame <= heard ? in_frame : scan;
                first <= n_first[PW*link +: PW];
                last  <= n_last[PW*link +: PW];
                if (heard && enable) state <= MERGE;
                else if (fetch)      state <= SEND;
                // Waits at a frame that is to be sent and goes on behind it, so that frames take turns.
                if (fetch || !pending[scan]) scan <= scan == FINAL_FRAME[FW-1:0] ? {FW{1'b0}} : scan + 1'b1;
            end
            MERGE: begin
                if (was && old_first < first) first <= old_first;
                if (was && old_last > last)   last  <= old_last;
                state <= STORE;
            end
            STORE: begin
                pending[frame] <= 1'b1;
                merged         <= 1'b1;
                state          <= IDLE;
            end
            default: begin
                pending[frame] <= 1'b0;
                state          <= IDLE;
            end
        endcase

        if (state == SEND) begin
            m_valid <= 1'b1;
            index   <= 4'd0;
            packet  <= {last_16, first_16, frame_16, 16'd6, 3'd0, `LP_TYPE_NOTIFY};
        end else if (m_valid && m_ready) begin
            packet  <= {8'd0, packet[71:8]};
            index   <= index + 4'd1;
            m_valid <= !m_last;
        end
        if (!enable) pending <= {FRAMES{1'b0}};
        if (rst) begin
            state   <= IDLE;
            pending <= {FRAMES{1'b0}};
            scan    <= {FW{1'b0}};
            link    <= {LW{1'b0}};
            merged  <= 1'b0;
            m_valid <= 1'b0;
        end
    end
endmodule
`resetall
