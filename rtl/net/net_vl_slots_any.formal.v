`default_nettype none
// Stands in for net_vl_slots where a proof is about who is given slots: the same ports and contract, with its memories in sight; it gives
// the free slots in any order, and says of times what it likes. It holds its caller to the contract: what is looked at is not written,
// and no slot is given that is free.
module net_vl_slots #(
    parameter SLOTS = 4,
    parameter TIME  = 8,
    parameter SW    = $clog2(SLOTS)
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            look,
    input  wire [SW-1:0]   at,
    output reg  [SW-1:0]   link,
    output reg  [15:0]     size,
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
    output wire [SW-1:0]   free_slot,
    output wire [SW*SLOTS+16*SLOTS+SLOTS+SW-1:0] f_all
);
    reg [SW*SLOTS-1:0] f_links;
    reg [16*SLOTS-1:0] f_sizes;
    reg [SLOTS-1:0]    f_free;
    reg [SW-1:0]       f_at;                    // what was looked at last
    assign f_all = {f_links, f_sizes, f_free, f_at};
    (* anyseq *) wire            any_again;
    (* anyseq *) wire [TIME-1:0] any_at;
    (* anyseq *) wire            any_free;
    (* anyseq *) wire [SW-1:0]   any_slot;
    assign {sent_again, sent_at, free_valid, free_slot} = {any_again, any_at, any_free, any_slot};
    reg          shows;
    reg [SW-1:0] shown;
    always @* if (free_valid) assume (f_free[free_slot]);
    always @* if (shows) assume (free_valid && free_slot == shown);     // until it is taken
    always @(posedge clk) begin
        shows <= free_valid && !free_ready && !rst;
        shown <= free_slot;
        if (look) {f_at, link, size} <= {at, f_links[SW*at +: SW], f_sizes[16*at +: 16]};
        if (chain) f_links[SW*last +: SW] <= slot;
        if (keep) f_sizes[16*slot +: 16] <= length;
        if (free_valid && free_ready) f_free[free_slot] <= 1'b0;
        if (give) f_free[given] <= 1'b1;
        if (rst) f_free <= {SLOTS{1'b0}};
    end
    always @* if (!rst) begin
        if (look) assert (!chain && !keep && !sent);
        if (give) assert (!f_free[given]);
    end
endmodule
`resetall
