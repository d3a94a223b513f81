`default_nettype none
// Queues of virtual links that wait for something.
//
// Contract:
//   put[q] (pulse): `vl` waits in queue q behind the others, each link at most once in each. first[VIRTUAL*q +: VIRTUAL] with valid[q]: the
//   one that has waited longest, until take[q] (pulse). A queue shows a link two clocks after it came; one that is taken is gone.
//   In the last queue a link is shown no sooner than DELAY paces after it came, DELAY less than 128. pace (pulse): time moves on.
//
// Proven: net_vl_queues.formal.v.
module net_vl_queues #(
    parameter VIRTUAL = 4,
    parameter QUEUES  = 4,
    parameter DELAY   = 32
) (
    input  wire                      clk,
    input  wire                      rst,
    input  wire                      pace,
    input  wire [QUEUES-1:0]         put,
    input  wire [VIRTUAL-1:0]        vl,
    output wire [QUEUES-1:0]         valid,
    output wire [VIRTUAL*QUEUES-1:0] first,
    input  wire [QUEUES-1:0]         take
);
    localparam DEPTH = 1 << VIRTUAL < 4 ? 4 : 1 << VIRTUAL;
    reg  [7:0] paces;
    always @(posedge clk) paces <= rst ? 8'd0 : paces + {7'd0, pace};

    genvar q;
    generate
        for (q = 0; q < QUEUES; q = q + 1) begin : g_queue
            wire room, waits;
            wire [7:0] since;
            wire [7:0] waited = paces - since;
            wire [$clog2(DEPTH):0] unused_used;
            fifo_sync #(.WIDTH(8 + VIRTUAL), .DEPTH(DEPTH)) u_fifo (
                .clk(clk), .rst(rst), .s_valid(put[q]), .s_ready(room), .s_data({paces, vl}),
                .m_valid(waits), .m_ready(take[q]), .m_data({since, first[VIRTUAL*q +: VIRTUAL]}), .used(unused_used)
            );
            assign valid[q] = waits && (q != QUEUES - 1 || waited >= DELAY[7:0]);
`ifdef VERILATOR
            always @(posedge clk) if (!rst) assert (!(put[q] && !room));
`else
            wire unused_room = room;
`endif
        end
    endgenerate
`ifdef FORMAL
`include "net_vl_queues.formal.v"
`endif
endmodule
`resetall
