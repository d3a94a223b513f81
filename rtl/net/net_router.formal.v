`default_nettype none
`include "linkproto.vh"
// A whole router of two ports with two slots an input. Packets for this node leave by port 0, others that come by port 0 by port 1, as
// `back` says. What comes by any input leaves by an output whole, once and in order, or is counted, or was void. Where outputs take what
// they get, one that is alone leaves within MOST clocks from its last beat on, and no output has a part of a void one two clocks later.
//
// Packets wear a mark in each beat: one packet of one input, whichever the solver likes, wears ONE; those from that input
// that come behind it and go where it does wear LATER; all others wear OTHER. WIDTH is 8, so that the least ROUTE has three beats.
//
// REACH: not a property, but the opposite of one: that no second packet leaves. It is refuted, so the properties do not hold for want of
// traffic.
module net_router_formal #(
    parameter REACH = 0,
    parameter MOST  = 5
) (
    input wire clk
);
    localparam N = 2, WIDTH = 8, DW = 8 * WIDTH, BEATS = 4;
    localparam MARK = 8 * `LP_ROUTE_SRC, FOLLOWED = MARK + 2;
    localparam [1:0] OTHER = 2'd0, ONE = 2'd1, LATER = 2'd2;
    reg f_run = 1'b0;
    always @(posedge clk) f_run <= 1'b1;
    wire rst = !f_run;

    (* anyseq *) wire [N-1:0]       s_valid, s_last, s_void, m_ready, has_room, overdue, gap;
    (* anyconst *) wire [N-1:0]     alive;
    (* anyseq *) wire [N*DW-1:0]    s_data;
    (* anyconst *) wire             f_in;           // the input that is followed
    (* anyconst *) wire             f_eager;        // outputs take what they get, and there is no other packet
    wire [N-1:0]    s_ready, m_valid, m_last, m_cancel, admit, ev_bad, ev_lost, ev_hops, ev_late;
    wire [N*DW-1:0] m_data;
    wire            clearing;
    net_router #(.PORTS(N - 1), .SLOTS(2), .SLOT_BYTES(BEATS * WIDTH), .WIDTH(WIDTH), .NODES(2), .GROUPS(2)) u_router (
        .clk(clk), .rst(rst), .self(16'd1), .back(1'b1), .from(), .alive(alive), .strict(2'b00), .peer(32'd0),
        .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_keep({N*WIDTH{1'b1}}), .s_last(s_last), .s_void(s_void),
        .m_valid(m_valid), .m_ready(m_ready), .m_data(m_data), .m_keep(), .m_last(m_last), .m_cancel(m_cancel),
        .has_room(has_room), .overdue(overdue), .gap(gap), .admit(admit),
        .clearing(clearing), .wr_en(1'b0), .wr_group(1'b0), .wr_addr(16'd0), .wr_data(32'd0), .rd_en(1'b0), .rd_done(), .rd_value(),
        .ev_bad(ev_bad), .ev_lost(ev_lost), .ev_hops(ev_hops), .ev_late(ev_late)
    );

    // Packets come as of link_rx: a beat waits until it is taken, what is void stands still, and each fits a slot.
    (* anyseq *) wire f_pick;               // the packet that begins is ONE
    reg  [2*N-1:0]    f_at, f_mark;         // beats of the packet that comes, and what it wears
    reg  [N-1:0]      f_waits;
    reg  [N*DW-1:0]   f_was;
    reg  [N-1:0]      f_was_last;
    reg               f_begun, f_whole, f_void;     // ONE has begun, has come whole, was void
    reg  [15:0]       f_dest;
    reg  [1:0]        f_beats;                      // of ONE, less one
    (* anyconst *) wire [1:0] f_beat;               // the followed beat, of which a bit is compared
    reg               f_value;
    wire [N-1:0]      f_takes = s_valid & s_ready;
    wire              f_first = f_takes[f_in] && f_at[2*f_in +: 2] == 0;
    wire              f_coming = (f_begun && !f_whole && !f_void) || (f_first && !f_begun && f_pick);
    reg  [1:0]        f_wears;
    wire [15:0]       f_to = s_data[DW*f_in + 8*`LP_ROUTE_DEST +: 16];
    integer p;
    always @* begin
        for (p = 0; p < N; p = p + 1) begin
            if (s_void[p]) assume (!s_valid[p] && f_at[2*p +: 2] != 0);
            if (f_waits[p] && !s_void[p]) assume (s_valid[p] && s_data[DW*p +: DW] == f_was[DW*p +: DW] && s_last[p] == f_was_last[p]);
            if (s_valid[p] && f_at[2*p +: 2] == BEATS - 1) assume (s_last[p]);
            // Its mark; and it is no multicast.
            f_wears = f_mark[2*p +: 2];
            if (f_at[2*p +: 2] == 0) begin
                f_wears = OTHER;
                if (p == f_in && f_begun && f_to == f_dest)  f_wears = LATER;
                if (p == f_in && !f_begun && f_pick)         f_wears = ONE;
                if (s_valid[p]) assume (s_data[DW*p + 8*`LP_ROUTE_DEST +: 16] < 2);
            end
            if (s_valid[p]) assume (s_data[DW*p + MARK +: 2] == f_wears);
        end
        if (clearing) assume (s_valid == 0);
        if (f_eager)  assume (&m_ready && &has_room && overdue == 0 && gap == 0 && &alive && !s_valid[!f_in] && (f_begun || f_pick));
        if (f_eager && (f_whole || f_void)) assume (s_valid == 0);
    end
    always @(posedge clk) begin
        f_waits <= s_valid & ~s_ready;
        {f_was, f_was_last} <= {s_data, s_last};
        for (p = 0; p < N; p = p + 1) begin
            if (f_takes[p]) begin
                f_at[2*p +: 2] <= s_last[p] ? 2'd0 : f_at[2*p +: 2] + 2'd1;
                if (f_at[2*p +: 2] == 0) f_mark[2*p +: 2] <= s_data[DW*p + MARK +: 2];
            end
            if (s_void[p]) f_at[2*p +: 2] <= 2'd0;
        end
        if (f_first && !f_begun && f_pick) {f_begun, f_dest} <= {1'b1, f_to};
        if (f_coming && f_takes[f_in] && s_last[f_in]) {f_whole, f_beats} <= {1'b1, f_at[2*f_in +: 2]};
        if (f_coming && s_void[f_in]) f_void <= 1'b1;
        if (f_coming && f_takes[f_in] && f_at[2*f_in +: 2] == f_beat) f_value <= s_data[DW*f_in + FOLLOWED];
        if (rst) {f_at, f_begun, f_whole, f_void, f_waits} <= 0;
    end

    // What leaves.
    reg  [2*N-1:0]  f_out, f_wore;          // beats that have left, and what they wore
    reg             f_left, f_later;        // ONE has left whole; one that wears LATER has
    reg  [4:0]      f_events, f_wait;       // clocks since ONE has come whole, or was void
    reg  [N-1:0]    f_aborted;
    reg  [1:0]      f_wearing;
    wire [N-1:0]    f_gives = m_valid & m_ready;
    always @(posedge clk) begin
        for (p = 0; p < N; p = p + 1) begin
            if (f_gives[p]) begin
                f_out[2*p +: 2] <= m_last[p] ? 2'd0 : f_out[2*p +: 2] + 2'd1;
                if (f_out[2*p +: 2] == 0) f_wore[2*p +: 2] <= m_data[DW*p + MARK +: 2];
                if (m_last[p] && f_wore[2*p +: 2] == ONE)   f_left  <= 1'b1;
                if (m_last[p] && f_wore[2*p +: 2] == LATER) f_later <= 1'b1;
            end
            if (m_cancel[p]) f_out[2*p +: 2] <= 2'd0;
            if (m_cancel[p]) f_aborted[p] <= 1'b1;
        end
        f_events <= f_events + ({ev_bad, ev_lost, ev_hops, ev_late} != 0 && f_events != 31);
        f_wait   <= (f_whole || f_void) && f_wait != 31 ? f_wait + 5'd1 : f_wait;
        if (rst) {f_out, f_left, f_later, f_events, f_wait, f_aborted} <= 0;
    end
    always @* if (f_run && REACH == 0) begin
        for (p = 0; p < N; p = p + 1) begin
            f_wearing = f_out[2*p +: 2] == 0 ? m_data[DW*p + MARK +: 2] : f_wore[2*p +: 2];
            if (m_cancel[p]) assert (!m_valid[p] && f_out[2*p +: 2] != 0);
            if (m_valid[p]) begin
                // All beats of one packet, and no more than it has.
                if (f_out[2*p +: 2] != 0) assert (m_data[DW*p + MARK +: 2] == f_wearing);
                if (f_out[2*p +: 2] < 2)  assert (!m_last[p]);
                if (f_wearing == ONE) begin
                    assert (f_begun && !f_left);
                    if (m_last[p]) assert (f_whole && !f_void && f_out[2*p +: 2] == f_beats);
                    if (f_out[2*p +: 2] == f_beat) assert (m_data[DW*p + FOLLOWED] == f_value);
                end
                // None overtakes it.
                if (f_wearing == LATER) assert (f_left || f_void || f_events != 0);
            end
        end
        if (f_eager && f_whole) assert (f_left || f_events != 0 || f_wait < MOST);
        for (p = 0; p < N; p = p + 1)
            if (f_eager && f_void) assert (f_out[2*p +: 2] == 0 || f_wore[2*p +: 2] != ONE || f_wait < 2);
    end

    always @* if (f_run && REACH != 0) assert (!f_later);
endmodule
`resetall
