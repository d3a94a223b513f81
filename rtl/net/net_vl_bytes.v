`default_nettype none
// Beats to bytes in front of net_vl: what comes from the network, but for datagrams.
//
// Contract:
//   s_*: ROUTEs on trial, in beats of WIDTH bytes; s_void (pulse, s_valid low) takes back what has come of one.
//   m_*: those of virtual links, a byte a clock, on trial as at s_*, and at most the beginning of datagrams, which m_void then takes back.
//   A packet of MAX_PACKET bytes waits here while bytes of those before it go. A datagram takes room only until its state has come.
//   With WIDTH 1 there is nothing between s_* and m_*.
//
// Proven: net_vl_bytes.formal.v, by induction.
module net_vl_bytes #(
    parameter WIDTH      = 4,           // 1, or a power of two
    parameter MAX_PACKET = 1049
) (
    input  wire               clk,
    input  wire               rst,

    input  wire               s_valid,
    output wire               s_ready,
    input  wire [8*WIDTH-1:0] s_data,
    input  wire [WIDTH-1:0]   s_keep,
    input  wire               s_last,
    input  wire               s_void,

    output wire               m_valid,
    input  wire               m_ready,
    output wire [7:0]         m_data,
    output wire               m_last,
    output wire               m_void
);
`include "linkproto.vh"
    generate
        if (WIDTH == 1) begin : g_byte
            assign {m_valid, m_data, m_last, m_void} = {s_valid, s_data, s_last, s_void};
            assign s_ready = m_ready;
            wire unused = ^{clk, rst, s_keep};
        end else begin : g_beat
            localparam DEPTH = 1 << $clog2((MAX_PACKET + WIDTH - 1) / WIDTH);
            localparam [31:0] STATE = `LP_ROUTE_STATE / WIDTH;      // beat with the state
            reg  [2:0] at;              // beats that have come, as many as are looked at
            reg        skips;           // the rest of a datagram comes
            wire       full;
            wire       datagram = at == STATE[2:0] && s_data[8*(`LP_ROUTE_STATE % WIDTH) +: 8] == `LP_ROUTE_DATAGRAM;
            assign     s_ready = !full;     // a datagram whose state has come fills nothing
            wire       accept  = s_valid && s_ready;
            wire       keeps   = accept && !skips && !datagram;
            always @(posedge clk) begin
                if (accept) begin
                    at    <= s_last ? 3'd0 : at > STATE[2:0] ? at : at + 3'd1;
                    skips <= !s_last && (skips || datagram);
                end
                if (s_void || rst) {at, skips} <= 4'd0;
            end

            wire               f_valid, f_sure, f_last, done, overflow;
            wire [8*WIDTH-1:0] f_data;
            wire [WIDTH-1:0]   f_keep;
            wire [$clog2(DEPTH):0] used;
            wire               unused = ^{f_sure, overflow, used};
`ifdef FORMAL
            wire [7:0]  f_held, f_firm;
            wire        f_loose, f_hole;
            wire [15:0] f_past;
            wire [3:0]  f_lane;
            wire [(9*WIDTH+1)*DEPTH-1:0] f_words;
`endif
            fifo_commit #(.WIDTH(9 * WIDTH + 1), .DEPTH(DEPTH), .EARLY(1)) u_fifo (
                .clk(clk), .rst(rst), .wr_en(keeps), .wr_data({s_last, s_keep, s_data}), .commit(keeps && s_last),
                .rollback(s_void || (accept && datagram && !skips)), .used(used), .full(full), .overflow(overflow),
                .m_valid(f_valid), .m_ready(m_ready && done), .m_data({f_last, f_keep, f_data}), .m_sure(f_sure), .m_void(m_void)
`ifdef FORMAL
                , .f_held(f_held), .f_firm(f_firm), .f_loose(f_loose), .f_past(f_past), .f_hole(f_hole), .f_words(f_words)
`endif
            );
            beat_bytes #(.WIDTH(WIDTH)) u_bytes (
                .clk(clk), .leave(rst || m_void), .data(f_data), .keep(f_keep), .last(f_last), .step(f_valid && m_ready),
                .byte_q(m_data), .byte_last(m_last), .done(done)
`ifdef FORMAL
                , .f_lane(f_lane)
`endif
            );
            assign m_valid = f_valid;
`ifdef FORMAL
`include "net_vl_bytes.formal.v"
`endif
        end
    endgenerate
endmodule
`resetall
