`default_nettype none
// Stands in for net_vl_next where a proof is about what is done next: the same ports; it chooses any link that asks, when it likes. It
// holds its caller to the contract: a link is put into a queue only while it is not there.
module net_vl_next #(
    parameter VIRTUAL   = 4,
    parameter ACK_DELAY = 32
) (
    input  wire               clk,
    input  wire               rst,
    input  wire               tick,
    input  wire               pace,
    input  wire               idle,
    output wire               chosen,
    output wire [3:0]         choice,
    output wire [VIRTUAL-1:0] vl,

    input  wire               look,
    input  wire               hear,
    input  wire [VIRTUAL-1:0] r_vl,
    input  wire               put,
    input  wire               begins,
    input  wire [VIRTUAL-1:0] p_vl,
    input  wire               c_en,
    input  wire [VIRTUAL-1:0] c_vl,
    input  wire               send_idle,
    input  wire               told_ready,
    input  wire               m_room,
    input  wire               to_turn,
    input  wire               to_tell,
    input  wire               to_wake,
    input  wire               to_settle,
    input  wire [VIRTUAL-1:0] of_vl,
    output reg  [(4<<VIRTUAL)-1:0] f_in         // of each link: it waits for its turn, to be told, for room, to acknowledge
);
    localparam [3:0] LOOK = 4'd0, HEAR = 4'd8, PUT = 4'd2, HOST = 4'd3, TALK = 4'd4, TIMES = 4'd5, WAKE = 4'd6, TELL = 4'd7,
        SETTLE = 4'd1, AHEAD = 4'd10;
    (* anyseq *) wire               any;
    (* anyseq *) wire [3:0]         any_choice;
    (* anyseq *) wire [VIRTUAL-1:0] any_vl;
    assign {chosen, choice, vl} = {any, any_choice, any_vl};
    wire [3:0] in = f_in[4*vl +: 4], puts = {to_settle, to_wake, to_tell, to_turn};
    always @* if (idle && chosen) case (choice)
        LOOK:    assume (look && vl == r_vl);
        HEAR:    assume (hear && vl == r_vl);
        PUT:     assume (put && vl == p_vl);
        HOST:    assume (c_en && vl == c_vl);
        TALK:    assume (in[0] && send_idle);
        TELL:    assume (in[1] && told_ready);
        WAKE:    assume (in[2] && m_room);
        SETTLE:  assume (in[3]);
        TIMES:   ;
        default: assume (choice == AHEAD && begins && send_idle && vl == p_vl);
    endcase
    wire [3:0] leaves = {choice == SETTLE, choice == WAKE, choice == TELL, choice == TALK} & {4{idle && chosen}};
    wire [(4<<VIRTUAL)-1:0] gone = {{(4<<VIRTUAL)-4{1'b0}}, leaves} << {vl, 2'd0}, come = {{(4<<VIRTUAL)-4{1'b0}}, puts} << {of_vl, 2'd0};
    always @(posedge clk) f_in <= rst ? {(4 << VIRTUAL){1'b0}} : (f_in & ~gone) | come;
    always @* if (!rst) begin
        assert ((f_in[4*of_vl +: 4] & puts) == 4'd0);
        assert (!idle || puts == 4'd0);
    end
endmodule
`resetall
