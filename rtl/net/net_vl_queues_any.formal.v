`default_nettype none
// Stands in for net_vl_queues where a proof is about who puts links in and takes them: the same ports; it shows which links it
// likes, and when.
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
    (* anyseq *) wire [QUEUES-1:0]         any_valid;
    (* anyseq *) wire [VIRTUAL*QUEUES-1:0] any_first;
    assign {valid, first} = {any_valid, any_first};
endmodule
`resetall
