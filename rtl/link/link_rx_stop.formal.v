`default_nettype none
// STOP and GO of link_rx, one of two properties:
// HALTS = 1: nothing overruns the FIFO, provided the peer sends no frame symbol once STOP has stood for ROUND clocks, whatever it sends
// before that. HEADROOM-3 is the most that holds; a packet is longer than HEADROOM, so that a halted frame can be all payload.
// HALTS = 0: no deadlock, whatever the peer sends. While STOP stands there is, after four clocks at most, a whole packet to be read: so a
// reader that goes on reading comes to LOW, and to GO.
//
// Every clock brings any symbol or none. The check sum is a small one (crc32c_byte.formal.v). With HALTS = 1 the FIFO is its count of words
// (link_rx_count.formal.v); that fifo_commit keeps it is proven by itself.
module link_rx_stop_formal #(
    parameter HALTS      = 1,
    parameter RX_BYTES   = 32,
    parameter MAX_PACKET = 16,
    parameter HEADROOM   = 8,
    parameter ROUND      = HEADROOM - 3,
    parameter EARLY      = 0
) (
    input wire       clk,
    input wire [2:0] kind,
    input wire [7:0] symbol,
    input wire       m_ready
);
    // A reset of some clocks, then none.
    reg [1:0] f_clocks = 2'd0;
    wire      rst = f_clocks != 2'd3;
    always @(posedge clk) if (rst) f_clocks <= f_clocks + 2'd1;

    wire sop  = kind == 3'd1;
    wire eop  = kind == 3'd2;
    wire data = kind == 3'd3;
    wire err  = kind == 3'd4;
    wire aborted = kind == 3'd5;
    wire [7:0] expected, m_data;
    wire lost, stop, coming, m_valid, m_last, m_sure, m_void;
    wire ev_packet, ev_crc, ev_dup, ev_gap, ev_overrun, ev_stray, ev_malformed;
    link_rx #(.RX_BYTES(RX_BYTES), .MAX_PACKET(MAX_PACKET), .HEADROOM(HEADROOM), .EARLY(EARLY)) u_rx (
        .clk(clk), .rst(rst), .sop(sop), .eop(eop), .aborted(aborted), .data(data), .err(err), .byte_q(symbol),
        .up(1'b1), .restart(1'b0), .key(32'd0), .expected(expected), .lost(lost), .stop(stop), .coming(coming),
        .ev_packet(ev_packet), .ev_crc(ev_crc), .ev_dup(ev_dup), .ev_gap(ev_gap), .ev_overrun(ev_overrun), .ev_stray(ev_stray),
        .ev_malformed(ev_malformed), .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_last(m_last),
        .m_sure(m_sure), .m_void(m_void)
    );

    generate
        if (HALTS != 0) begin : g_halts
            reg [3:0] f_stopped;        // how long STOP has stood, up to ROUND
            always @(posedge clk)
                if (rst || !stop)            f_stopped <= 4'd0;
                else if (f_stopped != ROUND) f_stopped <= f_stopped + 4'd1;
            always @* if (f_stopped == ROUND) assume (!sop && !eop && !aborted && !data && !err);
            always @* if (!rst) assert (!ev_overrun);
        end else begin : g_goes
            reg [2:0] f_starved;        // how long there has been nothing to read in spite of STOP
            always @(posedge clk)
                if (rst || !stop || m_valid) f_starved <= 3'd0;
                else                         f_starved <= f_starved + 3'd1;
            always @* if (!rst) assert (f_starved <= 4);
        end
    endgenerate
endmodule
`resetall
