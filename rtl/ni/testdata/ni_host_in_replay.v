`default_nettype none
// ni_host_in in front of the replay buffer of its one link, in which nothing is ever acknowledged.
module ni_host_in_replay #(
    parameter WIDTH = 1
) (
    input  wire               clk,
    input  wire               rst,
    input  wire               s_valid,
    output wire               s_ready,
    input  wire [8*WIDTH-1:0] s_data,
    input  wire [WIDTH-1:0]   s_keep,
    input  wire               s_last,
    input  wire               restart,
    output wire               has_room,
    output wire               f_valid,
    output wire               f_ready,
    output wire               refused,
    output wire               lost,
    output wire [7:0]         held,
    output wire [7:0]         bytes
);
    wire [8*WIDTH-1:0] f_data;
    wire [WIDTH-1:0]   f_keep;
    wire               f_last, cancel, takes, req;
    wire [15:0]        size, freed;
    wire [7:0]         next;
    assign bytes = next - 8'd1 - freed[7:0];
    wire unused = ^freed[15:8];
    ni_host_in #(.LINKS(1), .PAGE_BYTES(64), .BUFFER_BYTES(256), .ADDR_WIDTH(8), .WIDTH(WIDTH), .WORD(WIDTH == 1 ? 4 : WIDTH)) u_in (
        .clk(clk), .rst(rst),
        .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_keep(s_keep), .s_last(s_last), .s_sure(1'b1), .s_void(1'b0),
        .f_valid(f_valid), .f_data(f_data), .f_keep(f_keep), .f_last(f_last), .f_cancel(cancel),
        .has_room(has_room), .size(size), .takes(takes),
        .req_valid(req), .req_done(req), .req_type(), .req_via(), .req_tag(), .req_status(), .req_fields(), .at_last(), .last_lane(),
        .next(1'b0), .turn(1'b0), .load(1'b0), .value(32'd0),
        .w_valid(), .w_take(1'b0), .w_addr(), .w_data(), .w_mask(), .ev_no_space(refused), .ev_bad()
    );
    link_replay #(.REPLAY_BYTES(128), .MAX_PACKET(72), .WIDTH(WIDTH)) u_replay (
        .clk(clk), .rst(rst),
        .s_valid(f_valid), .s_ready(f_ready), .s_data(f_data), .s_keep(f_keep), .s_last(f_last), .cancel(cancel),
        .has_room(has_room), .size(size), .takes(takes), .freed_bytes(freed), .freed_packets(), .queued(),
        .refused(refused), .admit(1'b0), .gap(), .base(), .base_seq(), .load(next), .load_last(), .load_seq(held), .loading(), .loaded(),
        .rd_en(1'b0), .rd_addr(7'd0), .rd_data(), .look(1'b0), .look_seq(8'd0), .look_done(), .look_last(),
        .restart(restart), .dropping(), .ack(1'b0), .ack_n(8'd0), .sent_seq(8'd0), .acked(), .progress(),
        .ev_bad_ack(), .ev_acked(), .ev_lost(lost)
    );
endmodule
`resetall
