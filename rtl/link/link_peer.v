`default_nettype none
// Who is at the other end: takes INITs apart.
//
// Contract:
//   byte_en: byte `at` behind LSW of an INIT stands at byte_q, b0 being 0; nothing says yet that the word is good.
//   Behind the last of them until the next INIT: `other`, it names another life than `life`; `bad`, a field of it is of no use.
//   load: life, node and fits are taken from INITs as they come; else they stand. fits: the peer takes packets of this end's MAX_PACKET,
//   over LANES lanes.
//   ROUTES: so many bytes is a ROUTE with a packet of such a page.
//   HOST, 1 at the host's port: both ends of that cable have nonce 0, and an INIT with another one is bad.
//
// Source: doc/protocol.md, "Who is there".
module link_peer #(
    parameter PAGE_BYTES = 2048,
    parameter HOST       = 0,
    parameter ROUTES     = 0,
    parameter LANES      = 1
) (
    input  wire        clk,

    input  wire        load,

    input  wire        byte_en,
    input  wire [3:0]  at,
    input  wire [7:0]  byte_q,

    output wire [31:0] life,
    output wire [15:0] node,
    output reg         fits,
    output reg         other,
    output reg         bad
);
`include "linkproto.vh"

    localparam [31:0] VERSION = `LP_VERSION;
    localparam [3:0]  VERSION_AT = `LP_INIT_VERSION, NODE_AT = `LP_INIT_NODE, LIFE_AT = `LP_INIT_LIFE, EPOCH_AT = LIFE_AT + 4'd3,
                      PAGE_AT = `LP_INIT_PAGE, LANES_AT = `LP_INIT_LANES;
    localparam integer NEED = $clog2(PAGE_BYTES);
    localparam [31:0] MORE = LANES - 1;

    wire in_life = at[3:2] == LIFE_AT[3:2];
    wire differs;           // from `life`
    wire foreign;           // to this kind of cable
    generate
        if (HOST != 0) begin : g_host
            reg [7:0] epoch;
            assign life    = {epoch, 24'd0};
            assign node    = 16'd0;
            assign differs = at == EPOCH_AT && byte_q != epoch;
            assign foreign = in_life && at != EPOCH_AT && byte_q != 8'd0;
            always @(posedge clk) if (byte_en && load && at == EPOCH_AT) epoch <= byte_q;
        end else begin : g_link
            reg [47:0] id;
            assign {life, node} = id;
            assign differs = in_life && byte_q != life[8*at[1:0] +: 8];
            assign foreign = 1'b0;
            always @(posedge clk) if (byte_en && load && at >= NODE_AT && at <= EPOCH_AT) id <= {byte_q, id[47:8]};
        end
    endgenerate

    always @(posedge clk)
        if (byte_en) begin
            other <= at != 4'd0 && (other || differs);
            bad   <= at != 4'd0 && (bad || foreign || (at == VERSION_AT && byte_q != VERSION[7:0])
                || (at == PAGE_AT && (byte_q & `LP_INIT_PAGE_RESERVED) != 8'd0)
                || (at == LANES_AT && ((byte_q & `LP_INIT_LANES_RESERVED) != 8'd0 || byte_q[5:3] > byte_q[2:0])));
            if (load && at == PAGE_AT)                    fits <= {byte_q[3:0], byte_q[`LP_INIT_ROUTES_BIT]} >= {NEED[3:0], ROUTES[0]};
            if (load && at == LANES_AT && (LANES == 1 ? byte_q != 8'd0 : byte_q[2:0] != MORE[2:0])) fits <= 1'b0;
        end
endmodule
`resetall
