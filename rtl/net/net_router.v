`default_nettype none
// Router: takes packets at its ports and gives each to the port that its table says, as soon as that is known and the port is free.
//
// Contract:
//   Port 0 is this node, ports 1 .. PORTS are links. s_*: packets that come, as of net_input; m_*, has_room, overdue, gap, admit:
//   packets that leave, as of net_output. Each is a vector with an entry for each port.
//   strict[p]: packets that come by port p are dropped if they are not from peer[16*p +: 16].
//   alive[p]: packets may leave by port p. self, back, clearing, wr_*, rd_*: as of net_table.
//   from: the port by which the packet came that leaves by port 0, or the last one that did.
//   ev_bad, ev_lost, ev_hops [p]: pulses for packets that came by port p and are dropped, as of net_input; ev_late[p]: for those that were
//   to leave by p when it went down or was overdue.
//   Packets from one port to another leave in their order, those for nodes and those for multicast groups each among themselves; none is
//   doubled, and each that is not reported leaves, if its output has room again and again. What leaves by several ports goes to those that
//   are free in the same clocks, and to the others later.
//
// Source: doc/network.md.
module net_router #(
    parameter PORTS      = 4,
    parameter SLOTS      = 8,
    parameter SLOT_BYTES = 2048,
    parameter WIDTH      = 1,
    parameter NODES      = 4096,
    parameter GROUPS     = 16
) (
    input  wire                         clk,
    input  wire                         rst,
    input  wire [15:0]                  self,
    input  wire [$clog2(PORTS+1)-1:0]   back,
    output wire [$clog2(PORTS+1)-1:0]   from,
    input  wire [PORTS:0]               alive,
    input  wire [PORTS:0]               strict,
    input  wire [16*(PORTS+1)-1:0]      peer,

    input  wire [PORTS:0]               s_valid,
    output wire [PORTS:0]               s_ready,
    input  wire [8*WIDTH*(PORTS+1)-1:0] s_data,
    input  wire [WIDTH*(PORTS+1)-1:0]   s_keep,
    input  wire [PORTS:0]               s_last,
    input  wire [PORTS:0]               s_void,

    output wire [PORTS:0]               m_valid,
    input  wire [PORTS:0]               m_ready,
    output wire [8*WIDTH*(PORTS+1)-1:0] m_data,
    output wire [WIDTH*(PORTS+1)-1:0]   m_keep,
    output wire [PORTS:0]               m_last,
    output wire [PORTS:0]               m_cancel,
    input  wire [PORTS:0]               has_room,
    input  wire [PORTS:0]               overdue,
    input  wire [PORTS:0]               gap,
    output wire [PORTS:0]               admit,

    output wire                         clearing,
    input  wire                         wr_en,
    input  wire                         wr_group,
    input  wire [15:0]                  wr_addr,
    input  wire [31:0]                  wr_data,
    input  wire                         rd_en,
    output wire                         rd_done,
    output wire [31:0]                  rd_value,

    output wire [PORTS:0]               ev_bad,
    output wire [PORTS:0]               ev_lost,
    output wire [PORTS:0]               ev_hops,
    output wire [PORTS:0]               ev_late
);
    localparam N  = PORTS + 1;
    localparam NW = $clog2(N);
    localparam BW = 9 * WIDTH + 1;          // a beat: last, keep, data

    wire [N-1:0]    look, looked, ways;
    wire [16*N-1:0] dest;
    net_table #(.N(N), .NODES(NODES), .GROUPS(GROUPS)) u_table (
        .clk(clk), .rst(rst), .self(self), .back(back), .alive(alive), .look(look), .dest(dest), .looked(looked), .ways(ways),
        .clearing(clearing), .wr_en(wr_en), .wr_group(wr_group), .wr_addr(wr_addr), .wr_data(wr_data),
        .rd_en(rd_en), .rd_done(rd_done), .rd_value(rd_value)
    );

    wire [N*N-1:0]  want, many;
    wire [N-1:0]    room, done, start, outs, taken;
    wire            cast;
    wire [NW-1:0]   to;
    wire [N*NW-1:0] sources;
    assign from = sources[NW-1:0];
    net_match #(.N(N)) u_match (
        .clk(clk), .rst(rst), .want(want), .many(many), .room(room), .done(done), .start(start), .cast(cast), .outs(outs), .to(to),
        .taken(taken), .from(sources)
    );

    // The crossbar: what inputs give, and what outputs take.
    wire [N-1:0]    x_valid, x_cancel, x_ready, x_next;
    wire [N*BW-1:0] x_beat;
    genvar p;
    generate
        for (p = 0; p < N; p = p + 1) begin : g_port
            reg [N-1:0] leaves;             // by which the packet of this input leaves
            always @(posedge clk) if (start[p]) leaves <= outs;
            assign x_next[p] = (leaves & ~x_ready) == 0;
            net_input #(.N(N), .SLOTS(SLOTS), .SLOT_BYTES(SLOT_BYTES), .WIDTH(WIDTH)) u_input (
                .clk(clk), .rst(rst), .strict(strict[p]), .peer(peer[16*p +: 16]),
                .s_valid(s_valid[p]), .s_ready(s_ready[p]), .s_data(s_data[8*WIDTH*p +: 8*WIDTH]), .s_keep(s_keep[WIDTH*p +: WIDTH]),
                .s_last(s_last[p]), .s_void(s_void[p]),
                .look(look[p]), .dest(dest[16*p +: 16]), .looked(looked[p]), .ways(ways),
                .want(want[N*p +: N]), .many(many[N*p +: N]), .start(start[p]), .cast(cast), .outs(outs), .to(to), .done(done[p]),
                .m_valid(x_valid[p]), .m_ready(x_next[p]), .m_data(x_beat[BW*p +: 8*WIDTH]),
                .m_keep(x_beat[BW*p + 8*WIDTH +: WIDTH]), .m_last(x_beat[BW*p + BW - 1]), .m_cancel(x_cancel[p]),
                .ev_bad(ev_bad[p]), .ev_lost(ev_lost[p]), .ev_hops(ev_hops[p])
            );

            wire [NW-1:0] source = sources[NW*p +: NW];
            wire [BW-1:0] beat   = x_beat[BW*source +: BW];
            net_output #(.WIDTH(WIDTH)) u_output (
                .clk(clk), .rst(rst), .room(room[p]), .s_start(outs[p]),
                .s_valid(taken[p] && x_valid[source]), .s_ready(x_ready[p]), .s_next(x_next[source]), .s_data(beat[8*WIDTH-1:0]),
                .s_keep(beat[8*WIDTH +: WIDTH]), .s_last(beat[BW-1]), .s_cancel(taken[p] && x_cancel[source]),
                .m_valid(m_valid[p]), .m_ready(m_ready[p]), .m_data(m_data[8*WIDTH*p +: 8*WIDTH]), .m_keep(m_keep[WIDTH*p +: WIDTH]),
                .m_last(m_last[p]), .m_cancel(m_cancel[p]), .has_room(has_room[p]), .overdue(overdue[p]), .gap(gap[p]), .admit(admit[p]),
                .ev_lost(ev_late[p])
            );
        end
    endgenerate
endmodule
`resetall
