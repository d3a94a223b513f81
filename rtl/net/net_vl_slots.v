`default_nettype none
// What is known of the slots of packets to be sent: which are free, and of the others the next one of its link, the packet's length, and
// when it was sent.
//
// Contract:
//   look with `at`: link, size, sent_at and sent_again (not for the first time) of that slot from the next clock on, until the next look.
//   chain (pulse): `slot` is the next one behind `last`. keep (pulse): there is a packet of `length` in `slot`.
//   sent (pulse): the packet in sent_slot is sent `now`, not for the first time if `repeats`.
//   give (pulse): slot `given` is free; each is given once before it is taken. free_*: slots that are, oldest first.
//   What is looked at and written in the same clock is undefined.
//
// Proven: net_vl_slots.formal.v.
module net_vl_slots #(
    parameter SLOTS = 64,
    parameter TIME  = 8,
    parameter SW    = $clog2(SLOTS)
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            look,
    input  wire [SW-1:0]   at,
    output wire [SW-1:0]   link,
    output wire [15:0]     size,
    output wire            sent_again,
    output wire [TIME-1:0] sent_at,
    input  wire            chain,
    input  wire [SW-1:0]   last,
    input  wire            keep,
    input  wire [SW-1:0]   slot,
    input  wire [15:0]     length,
    input  wire            sent,
    input  wire [SW-1:0]   sent_slot,
    input  wire            repeats,
    input  wire [TIME-1:0] now,
    input  wire            give,
    input  wire [SW-1:0]   given,
    output wire            free_valid,
    input  wire            free_ready,
    output wire [SW-1:0]   free_slot
);
`ifdef FORMAL
    (* anyconst *) wire [SW-1:0] f_slot;
    wire [SW-1:0] f_link_word;
    wire [15:0]   f_size_word;
    wire [TIME:0] f_sent_word;
`endif
    ram_sdp #(.WIDTH(SW), .DEPTH(SLOTS)) u_links (
        .clk(clk), .wr_en(chain), .wr_addr(last), .wr_data(slot), .rd_en(look), .rd_addr(at), .rd_data(link)
`ifdef FORMAL
        , .f_addr(f_slot), .f_word(f_link_word)
`endif
    );
    ram_sdp #(.WIDTH(16), .DEPTH(SLOTS)) u_sizes (
        .clk(clk), .wr_en(keep), .wr_addr(slot), .wr_data(length), .rd_en(look), .rd_addr(at), .rd_data(size)
`ifdef FORMAL
        , .f_addr(f_slot), .f_word(f_size_word)
`endif
    );
    ram_sdp #(.WIDTH(1 + TIME), .DEPTH(SLOTS)) u_sent (
        .clk(clk), .wr_en(sent), .wr_addr(sent_slot), .wr_data({repeats, now}), .rd_en(look), .rd_addr(at), .rd_data({sent_again, sent_at})
`ifdef FORMAL
        , .f_addr(f_slot), .f_word(f_sent_word)
`endif
    );
    wire [SW:0] unused_free;
    wire        room;
    fifo_sync #(.WIDTH(SW), .DEPTH(SLOTS)) u_free (
        .clk(clk), .rst(rst), .s_valid(give), .s_ready(room), .s_data(given),
        .m_valid(free_valid), .m_ready(free_ready), .m_data(free_slot), .used(unused_free)
    );
`ifdef VERILATOR
    always @(posedge clk) if (!rst) assert (!(give && !room));
`else
    wire unused_room = room;
`endif
`ifdef FORMAL
`include "net_vl_slots.formal.v"
`endif
endmodule
`resetall
