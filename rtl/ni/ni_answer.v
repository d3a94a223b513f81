`default_nettype none
// Gives ROUTEs to the host, whole, between the TRAPs of their link: answers and MESSAGEs in datagrams, and ROUTEs of virtual links.
//
// Contract:
//   s_put with s_data, s_keep, s_last: beats of ROUTEs. `commit` (pulse, behind the last): that one is for the host; `rollback`: it is not,
//   or is void. Nothing is put while `pause` is high, for two clocks at most: room that a ROUTE has given back does not show yet.
//   t_*: TRAPs; m_*: TRAPs and, in their order, ROUTEs, as ni_compose takes them; `via` is LINK.
//   A ROUTE for which there is no room in HOLD_BYTES, a power of two, is dropped, ev_lost (pulse), so that a slow host holds up nothing.
//
// HX8K: 138 LUT4, 92 flip-flops and 3 block memories.
// Proven: ni_answer.formal.v. Source: doc/protocol.md, "Routed packets".
module ni_answer #(
    parameter LINK       = 1,
    parameter HOLD_BYTES = 1024,
    parameter WIDTH      = 1
) (
    input  wire               clk,
    input  wire               rst,

    input  wire               s_put,
    input  wire [8*WIDTH-1:0] s_data,
    input  wire [WIDTH-1:0]   s_keep,
    input  wire               s_last,
    input  wire               commit,
    input  wire               rollback,
    output wire               pause,
    output reg                ev_lost,

    input  wire               t_valid,
    output wire               t_ready,
    input  wire [7:0]         t_kind,
    input  wire [15:0]        t_length,
    input  wire [7:0]         t_data,
    input  wire               t_last,

    output wire               m_valid,
    input  wire               m_ready,
    output wire [7:0]         m_kind,
    output wire [15:0]        m_length,
    output wire [7:0]         m_data,
    output wire               m_last
);
`include "linkproto.vh"
    localparam DEPTH = HOLD_BYTES / WIDTH;

    wire               f_valid, f_ready, f_last, full, f_sure, f_void, overflow;
    wire [8*WIDTH-1:0] f_data;
    wire [WIDTH-1:0]   f_keep;
    wire [$clog2(DEPTH):0] used;
    wire unused = ^{f_sure, f_void, used};
`ifdef FORMAL
    wire [7:0]  f_held, f_firm;
    wire        f_loose, f_hole;
    wire [15:0] f_past;
    wire [(9*WIDTH+1)*DEPTH-1:0] f_words;
`endif
    fifo_commit #(.WIDTH(9 * WIDTH + 1), .DEPTH(DEPTH)) u_fifo (
        .clk(clk), .rst(rst), .wr_en(s_put), .wr_data({s_last, s_keep, s_data}), .commit(commit), .rollback(commit || rollback),
        .used(used), .full(full), .overflow(overflow),
        .m_valid(f_valid), .m_ready(f_ready), .m_data({f_last, f_keep, f_data}), .m_sure(f_sure), .m_void(f_void)
`ifdef FORMAL
        , .f_held(f_held), .f_firm(f_firm), .f_loose(f_loose), .f_past(f_past), .f_hole(f_hole), .f_words(f_words)
`endif
    );
    always @(posedge clk) ev_lost <= commit && overflow && !rst;
    reg [1:0] behind;               // the end of a ROUTE
    always @(posedge clk) behind <= {behind[0], commit || rollback};
    assign pause = full && behind != 2'd0;

    // Of a ROUTE first its header, then its head for ni_compose, and then its bytes.
    localparam [1:0] HEADED = `LP_HEADER_BYTES;
    reg  [1:0]  place;              // bytes of the header that have been read
    reg  [15:0] length;
    reg         own, told;          // a ROUTE is underway, and its head has moved
    reg         begun;              // a TRAP's head has moved, and its last byte has not
    wire [7:0]  data;
    wire        last, done;
    wire        heads = f_valid && place != HEADED;
    wire        gives = f_valid && own && told && m_ready;
    assign f_ready = (heads || gives) && done;
    beat_bytes #(.WIDTH(WIDTH)) u_bytes (
        .clk(clk), .leave(rst), .data(f_data), .keep(f_keep), .last(f_last), .step(heads || gives),
        .byte_q(data), .byte_last(last), .done(done)
    );
    always @(posedge clk) begin
        if (heads) begin
            place  <= place + 2'd1;
            length <= {data, length[15:8]};
        end
        own   <= own ? !(gives && last) : place == HEADED && !t_valid && !begun;
        told  <= own && (told || m_ready) && !(gives && last);
        begun <= t_valid && t_ready ? !begun || !t_last : begun;
        if (gives && last) place <= 2'd0;
        if (rst) {place, own, told, begun} <= 5'd0;
    end
    assign t_ready  = m_ready && !own;
    assign m_valid  = own ? !told || f_valid : t_valid;
    assign m_kind   = own ? {LINK[2:0], `LP_TYPE_ROUTE} : t_kind;
    assign m_length = own ? length : t_length;
    assign m_data   = own ? data : t_data;
    assign m_last   = own ? told && last : t_last;
`ifdef FORMAL
`include "ni_answer.formal.v"
`endif
endmodule
`resetall
