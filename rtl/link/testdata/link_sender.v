`default_nettype none
// Replay buffer and framer as link_endpoint joins them, for tests of the two together.
module link_sender #(
    parameter REPLAY_BYTES = 1024,
    parameter MAX_PACKET   = 136,
    parameter RETRY        = 200,
    parameter RETRY_LIMIT  = 3,
    parameter WIDTH        = 1
) (
    input  wire        clk,
    input  wire        rst,
    input  wire        tick,
    input  wire        up,
    input  wire        peer_stop,
    input  wire        restart,
    input  wire [31:0] key,
    input  wire        ack,
    input  wire        ack_lost,
    input  wire [7:0]  ack_n,

    input  wire        s_valid,
    output wire        s_ready,
    input  wire [8*WIDTH-1:0] s_data,
    input  wire [WIDTH-1:0]   s_keep,
    input  wire        s_last,
    input  wire        cancel,
    output wire        has_room,
    input  wire [15:0] size,
    output wire        takes,
    output wire [15:0] freed_bytes,
    output wire [7:0]  freed_packets,
    output wire        queued,
    input  wire        refused,
    input  wire        admit,
    output wire        gap,

    output wire        f_valid,
    output wire [8:0]  f_sym,
    input  wire        f_take,

    output wire        give_up,
    output wire        ev_bad_ack,
    output wire        ev_acked,
    output wire        ev_lost,
    output wire        ev_replay,
    output wire        ev_retry
);
    localparam POINTER = $clog2(REPLAY_BYTES) + 1;
    wire [POINTER-1:0] base, load, load_last, look_last;
    wire        rd_en;
    wire [POINTER-2:0] rd_addr;
    wire [7:0]  base_seq, load_seq, sent_seq, look_seq, rd_data;
    wire        loading, loaded, dropping, look, look_done, acked, progress;
    link_replay #(.REPLAY_BYTES(REPLAY_BYTES), .MAX_PACKET(MAX_PACKET), .WIDTH(WIDTH)) u_replay (
        .clk(clk), .rst(rst), .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_keep(s_keep), .s_last(s_last), .cancel(cancel),
        .has_room(has_room), .size(size), .takes(takes), .freed_bytes(freed_bytes), .freed_packets(freed_packets),
        .queued(queued), .refused(refused), .admit(admit), .gap(gap),
        .base(base), .base_seq(base_seq), .load(load), .load_last(load_last), .load_seq(load_seq), .loading(loading), .loaded(loaded),
        .rd_en(rd_en), .rd_addr(rd_addr), .rd_data(rd_data),
        .look(look), .look_seq(look_seq), .look_done(look_done), .look_last(look_last),
        .restart(restart), .dropping(dropping), .ack(ack), .ack_n(ack_n), .sent_seq(sent_seq), .acked(acked), .progress(progress),
        .ev_bad_ack(ev_bad_ack), .ev_acked(ev_acked), .ev_lost(ev_lost)
    );

    reg lost;
    always @(posedge clk) if (ack) lost <= ack_lost;

    link_framer #(.POINTER(POINTER), .RETRY(RETRY), .RETRY_LIMIT(RETRY_LIMIT)) u_framer (
        .clk(clk), .rst(rst), .tick(tick), .up(up), .peer_stop(peer_stop), .restart(restart || dropping), .key(key),
        .base(base), .base_seq(base_seq), .load(load), .load_last(load_last), .load_seq(load_seq), .loading(loading), .loaded(loaded), .cancel(cancel),
        .rd_en(rd_en), .rd_addr(rd_addr), .rd_data(rd_data),
        .look(look), .look_seq(look_seq), .look_done(look_done), .look_last(look_last),
        .acked(acked), .lost(lost), .progress(progress), .sent_seq(sent_seq), .give_up(give_up),
        .f_valid(f_valid), .f_sym(f_sym), .f_take(f_take), .ev_replay(ev_replay), .ev_retry(ev_retry)
    );
endmodule
`resetall
