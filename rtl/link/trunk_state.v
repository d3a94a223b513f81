`default_nettype none
// State of a link of several lanes: with whom it is up.
//
// Contract:
//   ack (pulses): a word on lane k counts. life, node, known: of whom each lane hears. heard: lanes that are.
//   `up` rises with the first word that counts; peer_life and peer_node are from then on those of its lane. `restart` pulses when, while
//   up, no lane is heard, `give_up` or `renew` came, or no word in SILENCE symbol times (`tick`): both sequence spaces begin again and a
//   new epoch is taken. young: for SKEW symbol times after `up` has risen.
//   may_leave: one lane after the other may be left out, if it is not the last one heard. alone: lanes beside which no other is heard.
//   A reset takes the next epoch; after configuration that is the one after FIRST_EPOCH.
//
// Proven: trunk_state.formal.v. Source: doc/protocol.md, "Lanes".
`include "linkproto.vh"
module trunk_state #(
    parameter LANES       = 4,
    parameter FIRST_EPOCH = 1,
    parameter SILENCE     = 16384       // 0: silence says nothing
) (
    input  wire                clk,
    input  wire                rst,
    input  wire                tick,

    input  wire [LANES-1:0]    ack,
    input  wire [32*LANES-1:0] life,
    input  wire [16*LANES-1:0] node,
    input  wire [LANES-1:0]    heard,
    input  wire                give_up,
    input  wire                renew,

    output reg                 up,
    output reg                 restart,
    output reg  [7:0]          epoch,
    output reg  [31:0]         peer_life,
    output reg  [15:0]         peer_node,
    output wire                young,
    output wire [LANES-1:0]    may_leave,
    output reg  [LANES-1:0]    alone
);
    localparam SILENTW = $clog2(SILENCE + 2);
    localparam SKEWW   = $clog2(`LP_LANE_SKEW + 1);
    localparam [LANES-1:0] ONE = 1;

    function [7:0] next_epoch(input [7:0] e);
        next_epoch = &e ? 8'd1 : e + 8'd1;
    endfunction

    reg  rst_q = 1'b0;
    initial epoch = FIRST_EPOCH[7:0];

    reg  unheard;
    wire silent;
    wire begins = up && (unheard || give_up || silent || renew);

    reg  [SKEWW-1:0] age;
    wire old;
    at_least #(.WIDTH(SKEWW), .LIMIT(`LP_LANE_SKEW)) u_age (.x(age), .y(old));
    assign young = !old;

    reg  [LANES-1:0] scan;              // one bit
    integer k;
    always @* for (k = 0; k < LANES; k = k + 1) alone[k] = (heard & ~(ONE << k)) == 0;
    assign may_leave = scan & ~alone;

    // Of the lowest lane with a word.
    reg [31:0] first_life;
    reg [15:0] first_node;
    always @* begin
        {first_life, first_node} = {life[31:0], node[15:0]};
        for (k = LANES - 1; k >= 0; k = k - 1)
            if (ack[k]) {first_life, first_node} = {life[32*k +: 32], node[16*k +: 16]};
    end

    always @(posedge clk) begin
        restart <= begins;
        unheard <= up && heard == 0 && !begins && !(|ack);
        if (begins) up <= 1'b0;
        else if (|ack && !renew) up <= 1'b1;
        if (!up) {peer_life, peer_node} <= {first_life, first_node};
        age  <= !up ? {SKEWW{1'b0}} : age + {{SKEWW-1{1'b0}}, tick && !old};
        scan <= {scan[LANES-2:0], scan[LANES-1]};
        if (rst ? !rst_q : begins) epoch <= next_epoch(epoch);
        rst_q <= rst;
        if (rst) begin
            {up, restart, unheard} <= 3'd0;
            scan <= ONE;
        end
    end

    generate
        if (SILENCE == 0) begin : g_patient
            assign silent = 1'b0;
        end else begin : g_silence
            reg  [SILENTW-1:0] since;
            reg                gone;
            wire               over;
            at_least #(.WIDTH(SILENTW), .LIMIT(SILENCE)) u_over (.x(since), .y(over));
            assign silent = gone;
            always @(posedge clk) begin
                gone  <= over && up && !(|ack) && !begins && !rst;
                since <= |ack || !up ? {SILENTW{1'b0}} : since + {{SILENTW-1{1'b0}}, tick && !over};
            end
        end
    endgenerate
`ifdef FORMAL
`include "trunk_state.formal.v"
`endif
endmodule
`resetall
