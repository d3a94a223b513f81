`default_nettype none
// Properties of link_rx: what comes out are the packets of good frames, whole, once and in order, and nothing else; a good frame is
// refused only when the FIFO refused a byte of it; `expected`, `lost` and the events say what has become of each frame.
//
// Every clock brings any symbol or none, and any key. The check sum is a small one (crc32c_byte.formal.v); the harness computes it too. The
// FIFO is its contract with a reader that is always ready (link_rx_fifo.formal.v); that fifo_commit keeps it is proven by itself.
module link_rx_formal #(
    parameter RX_BYTES   = 8,
    parameter MAX_PACKET = 4,
    parameter HEADROOM   = 2,
    parameter EARLY      = 0
) (
    input wire       clk,
    input wire       rst,
    input wire [2:0] kind,
    input wire [7:0] symbol,
    input wire       up,
    input wire       restart,
    input wire [31:0] key
);
    // A reset of some clocks, then none.
    reg [2:0] f_clocks = 3'd0;
    wire      f_run = f_clocks == 3'd4;
    always @(posedge clk) if (!f_run) f_clocks <= f_clocks + 3'd1;
    always @* assume (rst == !f_run);
    always @* if (restart) assume (!up);

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
        .up(up), .restart(restart), .key(key), .expected(expected), .lost(lost), .stop(stop), .coming(coming),
        .ev_packet(ev_packet), .ev_crc(ev_crc), .ev_dup(ev_dup), .ev_gap(ev_gap), .ev_overrun(ev_overrun), .ev_stray(ev_stray),
        .ev_malformed(ev_malformed), .m_valid(m_valid), .m_ready(1'b1), .m_data(m_data), .m_last(m_last),
        .m_sure(m_sure), .m_void(m_void)
    );

    // The frame in progress, by the rules of the protocol.
    localparam MOST = 1 + MAX_PACKET + 4;
    reg        f_in, f_admitted;
    reg [3:0]  f_n;                     // data symbols since SOP
    reg [7:0]  f_seq;
    reg [15:0] f_length;
    wire       f_ok;
    wire       f_too_long = data && f_n == MOST;
    wire       f_end      = f_in && (sop || eop || err || f_too_long);
    wire       f_whole    = eop && f_ok && f_n >= 1 + 3 + 4;
    wire [31:0] f_crc;
    crc32c_byte f_check (.clk(clk), .init(sop), .key(key), .en(sop || data), .shift(1'b0), .data(symbol), .crc(f_crc), .ok(f_ok));
    always @(posedge clk) begin
        if (!up)   f_admitted <= 1'b0;
        if (f_end || aborted) f_in <= 1'b0;
        if (data) begin
            if (f_n <= MOST) f_n <= f_n + 4'd1;
            if (f_n == 0) f_seq <= symbol;
            if (f_n == 2) f_length[7:0] <= symbol;
            if (f_n == 3) f_length[15:8] <= symbol;
        end
        if (sop) begin
            f_in       <= 1'b1;
            f_admitted <= 1'b1;
            f_n        <= 4'd0;
        end
        if (rst) f_in <= 1'b0;
    end

    // The frame that has ended, until its event. A frame that overran the FIFO may have ended before.
    reg       e_end, e_whole, e_admitted, e_fits;
    reg [7:0] e_seq;
    reg       v_end, v_good, v_mine, v_old, v_admitted, v_fits;
    reg       e_excused, v_excused, f_excused;
    wire [7:0] e_ahead = e_seq - expected;
    reg       v_restart;
    reg [7:0] v_expected;
    reg       v_lost;
    always @(posedge clk) begin
        e_end      <= f_end && !rst;
        e_whole    <= f_whole;
        e_admitted <= f_admitted && up;
        e_fits     <= f_n == f_length + 8;
        e_seq      <= f_seq;
        v_end      <= e_end && !rst;
        v_good     <= e_whole;
        v_admitted <= e_admitted;
        v_fits     <= e_fits;
        v_mine     <= e_ahead == 0;
        v_old      <= e_ahead[7];
        v_restart  <= restart || rst;
        v_expected <= expected;
        v_lost     <= lost;
        f_excused  <= (f_excused && !sop) || ev_overrun;
        e_excused  <= f_excused || ev_overrun;
        v_excused  <= e_excused || ev_overrun;
    end
    wire v_packet    = v_end && v_admitted && v_good && v_mine && v_fits;
    wire v_malformed = v_end && v_admitted && v_good && v_mine && !v_fits;
    wire v_dup       = v_end && v_admitted && v_good && v_old;
    wire v_gap       = v_end && v_admitted && v_good && !v_mine && !v_old;
    wire v_crc       = v_end && v_admitted && !v_good;
    wire known = f_run && !rst;
    always @* if (known) begin
        if (ev_packet)    assert (v_packet);
        if (ev_malformed) assert (v_malformed);
        if (ev_dup)       assert (v_dup);
        if (ev_gap)       assert (v_gap);
        if (ev_crc)       assert (v_crc);
        if (!v_excused && !ev_overrun) begin
            assert (ev_packet == v_packet);
            assert (ev_malformed == v_malformed);
            assert (ev_dup == v_dup);
            assert (ev_gap == v_gap);
            assert (ev_crc == v_crc);
        end
        assert (ev_packet + ev_malformed + ev_dup + ev_gap + ev_crc + ev_overrun <= 1);
        assert (expected == (v_restart ? 8'd0 : v_expected + (ev_packet || ev_malformed)));
        assert (lost == (!v_restart && ((v_lost && !ev_packet && !ev_malformed) || ev_gap || ev_crc || ev_overrun)));
    end

    // What comes out: with its event a packet begins, and all its bytes follow; nothing else. Of each packet one bit is compared, of the
    // f_which-th byte.
    (* anyconst *) wire [1:0] f_which;
    (* anyconst *) wire [2:0] f_bit;
    reg  [2:0] e_bytes, v_bytes, f_out, f_bytes;
    reg        f_value, e_value, v_value, f_kept;
    wire [2:0] f_at   = ev_packet ? 3'd0 : f_out;
    wire [2:0] f_size = ev_packet ? v_bytes : f_bytes;
    wire       f_want = ev_packet ? v_value : f_kept;
    always @(posedge clk) begin
        if (data && f_n == f_which + 1) f_value <= symbol[f_bit];
        e_bytes <= f_n - 4'd5;
        v_bytes <= e_bytes;
        e_value <= f_value;
        v_value <= e_value;
        f_bytes <= f_size;
        f_kept  <= f_want;
        f_out   <= f_at + {2'd0, m_valid};
        if (rst) {f_bytes, f_out} <= 6'd0;
    end
    always @* if (known) begin
        if (ev_packet) assert (f_out == f_bytes);
        assert (m_valid == (f_at != f_size));
        if (m_valid) assert (m_last == (f_at + 3'd1 == f_size));
        if (m_valid && f_at == f_which) assert (m_data[f_bit] == f_want);
    end
endmodule
`resetall
