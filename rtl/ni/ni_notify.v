`default_nettype none
// Notifier: tells the host which bytes of which frame remote writes have changed.
//
// Contract:
//   n_*: a remote write carried out, one for each link: frame, offsets of its first and last byte; it stands until n_ready. Taken within 6
//   clocks a link, and 3, whatever the host does, so that a host that reads slowly never stalls a link.
//   m_*: NOTIFY packets, as ni_compose takes them. Writes to one frame that come before its NOTIFY is sent are merged into one range that
//   covers them; no write is left out. Frames take turns, so one that is written all the time does not keep back another. `enable` low:
//   writes are forgotten; a NOTIFY begun is still sent.
//
// Proven: ni_notify.formal.v, by induction.
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
    output wire [7:0]                            m_kind,
    output wire [15:0]                           m_length,
    output reg  [7:0]                            m_data,
    output reg                                   m_last
);
`include "linkproto.vh"

    localparam PW = $clog2(PAGE_BYTES);
    localparam FW = FRAMES > 1 ? $clog2(FRAMES) : 1;
    localparam LW = LINKS > 1 ? $clog2(LINKS) : 1;
    localparam [1:0] IDLE = 2'd0, FIRST = 2'd1, LAST = 2'd2, END = 2'd3;
    localparam integer FINAL_FRAME = FRAMES - 1;
    localparam integer FINAL_LINK  = LINKS - 1;

    // One range a frame, its first offset and its last one behind each other; `pending` says that it holds something. Offsets are kept
    // inverted: a carry chain compares them without a row of inverters. The memory has the depth of a block, since a smaller one would be
    // built of registers.
`ifdef FORMAL
    localparam DEPTH = 2 << FW;
`else
    localparam DEPTH = FRAMES > 128 ? 2 * FRAMES : 256;
`endif
    localparam DW    = $clog2(DEPTH);
    reg  [1:0]        state;
    reg  [FRAMES-1:0] pending;
    reg  [FW-1:0]     scan;
    reg  [LW-1:0]     link;
    reg  [FW-1:0]     frame;
    reg               telling;          // the range is read for the host, and not to be merged with a write
    reg               below;            // the offset in the memory is less than the write's
    reg               known;
    wire              keep     = known && below == (state == LAST); // it is the one that counts
    reg               forgot;           // `enable` was low since the write was looked at: then it is looked at again
    wire              done     = state == END && !(forgot && enable);
    reg               merged;           // in the clock before: then the host's turn comes first
    reg               busy;             // a packet is to be sent
    wire              was      = pending[frame];
    wire              found    = !busy && !m_valid && pending[scan];
    wire              heard    = n_valid[link] && !(merged && found);
    wire              fetch    = !heard && found;
    wire [FW-1:0]     in_frame = n_frame[16*link +: FW];
    wire [PW-1:0]     in_first = n_first[PW*link +: PW];
    wire [PW-1:0]     in_last  = n_last[PW*link +: PW];
    wire [PW-1:0]     not_old;
    wire [PW:0]       above = {1'b0, state == FIRST ? in_first : in_last} + {1'b0, not_old};
    wire              unused_above = ^above[PW-1:0];
    wire [FW-1:0]     look     = state != IDLE ? frame : heard ? in_frame : scan;
    wire [DW-1:0]     rd_addr  = {{(DW - FW - 1){1'b0}}, look, state != IDLE};
    wire [DW-1:0]     wr_addr  = {{(DW - FW - 1){1'b0}}, frame, state == END};

`ifdef FORMAL
    wire [2*DW-1:0] f_at;
    wire [2*PW-1:0] f_words;
`endif
    ram_sdp #(
        .WIDTH(PW), .DEPTH(DEPTH)
`ifdef FORMAL
        , .PROBES(2)
`endif
    ) u_ranges (
        .clk(clk),
        .wr_en(!keep && !telling && (state == LAST || state == END)), .wr_addr(wr_addr), .wr_data(state == LAST ? ~in_first : ~in_last),
        .rd_en(state == IDLE || state == FIRST), .rd_addr(rd_addr), .rd_data(not_old)
`ifdef FORMAL
        , .f_addr(f_at), .f_word(f_words)
`endif
    );

    genvar l;
    generate
        for (l = 0; l < LINKS; l = l + 1) begin : g_ready
            assign n_ready[l] = done && link == l;
        end
    endgenerate

    always @(posedge clk) begin
        forgot <= !enable || (forgot && state != IDLE);
        below  <= above[PW];
        known  <= was;
        case (state)
            IDLE: begin
                merged  <= 1'b0;
                frame   <= heard ? in_frame : scan;
                telling <= fetch;
                if (heard || fetch) state <= FIRST;
                // Waits at a frame that is to be sent and goes on behind it, so that frames take turns.
                if (fetch || !pending[scan]) scan <= scan == FINAL_FRAME[FW-1:0] ? {FW{1'b0}} : scan + 1'b1;
            end
            FIRST: state <= LAST;
            LAST: begin
                state <= telling ? IDLE : END;
                if (telling) pending[frame] <= 1'b0;
            end
            default: begin
                if (done) pending[frame] <= 1'b1;
                merged <= done;
                state  <= IDLE;
            end
        endcase
        if (done || (state == IDLE && !heard && !fetch)) link <= link == FINAL_LINK[LW-1:0] ? {LW{1'b0}} : link + 1'b1;
        if (!enable) pending <= {FRAMES{1'b0}};
        if (rst) begin
            state   <= IDLE;
            pending <= {FRAMES{1'b0}};
            scan    <= {FW{1'b0}};
            link    <= {LW{1'b0}};
            merged  <= 1'b0;
        end
    end

    // The packet: what it says stands while its bytes are loaded.
    localparam [2:0] FINAL = `LP_NOTIFY_MIN_LENGTH;
    reg  [FW-1:0] of_frame;
    reg  [PW-1:0] of_first, of_last;
    reg  [2:0]    index;                // 0: the head
    wire [15:0]   frame_16 = {{(16 - FW){1'b0}}, of_frame};
    wire [15:0]   first_16 = {{(16 - PW){1'b0}}, of_first};
    wire [15:0]   last_16  = {{(16 - PW){1'b0}}, of_last};
    reg  [7:0]    next;
    always @*
        case (index)
            3'd1:    next = frame_16[7:0];
            3'd2:    next = frame_16[15:8];
            3'd3:    next = first_16[7:0];
            3'd4:    next = first_16[15:8];
            3'd5:    next = last_16[7:0];
            default: next = last_16[15:8];
        endcase
    assign m_kind   = {3'd0, `LP_TYPE_NOTIFY};
    assign m_length = `LP_NOTIFY_MIN_LENGTH;

    always @(posedge clk) begin
        if (telling && state == FIRST) of_first <= ~not_old;
        if (telling && state == LAST) begin
            of_frame <= frame;
            of_last  <= ~not_old;
            busy     <= 1'b1;
        end
        if (!m_valid || m_ready) begin
            m_valid <= busy;
            m_last  <= index == FINAL;
            m_data  <= next;
            index   <= busy ? index + 3'd1 : 3'd0;
            if (index == FINAL) busy <= 1'b0;
        end
        if (rst) begin
            busy    <= 1'b0;
            m_valid <= 1'b0;
        end
    end
`ifdef FORMAL
`include "ni_notify.formal.v"
`endif
endmodule
`resetall
