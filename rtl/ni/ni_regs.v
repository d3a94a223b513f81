`default_nettype none
// Registers of the network interface: identity, scratch, link status, counters, frame table.
//
// Contract:
//   reg_en with reg_* stands until reg_done, one clock, 2 to 25 clocks later; reg_ok is low for a register that does not exist, or
//   that cannot be written. A write takes effect with reg_done.
//   status: 32 bits a link, link 0 (the host port) lowest; events: 16 one-clock pulses a link, in the order of the counters.
//   peer: {known, refused, node id} of each link's. node, nonce: NODE_ID and NONCE; renew pulses when NONCE has been written; anonymous: it
//   is 0.
//   admit (pulse): the link's status has been written with LOST set.
//   The frame table's ports are passed through.
//   SPACED, a bit a port: symbols other than IDLE are sixteen clocks or more apart there. WIDTH: bytes of packets a clock. LANES: of the
//   port that has most.
//
// Source: doc/protocol.md, "Registers".
module ni_regs #(
    parameter LINKS        = 1,
    parameter FRAMES       = 4,
    parameter PAGE_BYTES   = 1024,
    parameter REPLAY_BYTES = 4096,
    parameter RX_BYTES     = 4096,
    parameter TRACE        = 0,
    parameter INJECT       = 0,
    parameter ROUTES       = 0,
    parameter ROUTER       = 0,
    parameter BARRIER      = 0,
    parameter VIRTUAL      = 0,
    parameter CONTEXTS     = 0,
    parameter [LINKS:0] SPACED = 0,
    parameter WIDTH        = 1,
    parameter LANES        = 1,
    parameter [63:0] SOURCE_HASH = 64'd0
) (
    input  wire                    clk,
    input  wire                    rst,

    input  wire                    reg_en,
    input  wire                    reg_write,
    input  wire [15:0]             reg_addr,
    input  wire [31:0]             reg_wdata,
    output wire                    reg_done,
    output wire                    reg_ok,
    output wire [31:0]             reg_value,

    input  wire [32*(LINKS+1)-1:0] status,
    input  wire [16*(LINKS+1)-1:0] events,

    input  wire [18*(LINKS+1)-1:0] peer,
    output reg  [15:0]             node,
    output reg  [31:0]             nonce,
    output reg                     anonymous,
    output reg                     renew,
    output wire [LINKS:0]          admit,
    output reg                     notify,
    output reg                     gateway,
    output wire                    ft_wr_en,
    output wire [15:0]             ft_frame,
    output wire                    ft_wr_valid,
    output wire [2:0]              ft_wr_link,
    output wire [15:0]             ft_wr_vl,
    input  wire                    ft_valid,
    input  wire [2:0]              ft_link,
    input  wire [15:0]             ft_vl
);
`include "linkproto.vh"

    localparam PORTS = LINKS + 1;
    localparam [31:0] FEATURES = 32'd1 << `LP_FEATURE_PAGING_BIT | 32'd1 << `LP_FEATURE_NOTIFY_BIT
        | (TRACE != 0 ? 32'd1 << `LP_FEATURE_TRACE_BIT : 32'd0) | (INJECT != 0 ? 32'd1 << `LP_FEATURE_INJECTOR_BIT : 32'd0)
        | (ROUTES != 0 ? 32'd1 << `LP_FEATURE_ROUTES_BIT : 32'd0) | (ROUTER != 0 ? 32'd1 << `LP_FEATURE_ROUTER_BIT : 32'd0)
        | (VIRTUAL != 0 ? 32'd1 << `LP_FEATURE_VIRTUAL_BIT : 32'd0)
        | (CONTEXTS != 0 ? 32'd1 << `LP_FEATURE_MESSAGES_BIT : 32'd0)
        | (BARRIER != 0 ? 32'd1 << `LP_FEATURE_BARRIERS_BIT : 32'd0);
    localparam COUNTERS = `LP_COUNTER_STRIDE * PORTS;
    localparam CW = $clog2(COUNTERS);

    // One clock to decode, one to select; counters answer by themselves. Each block stands at a multiple of its greatest size.
    localparam [15:0] STATUS_AT = `LP_REG_LINK_STATUS, PEER_AT = `LP_REG_PEER, COUNTERS_AT = `LP_REG_COUNTERS,
                      TABLE_AT = `LP_REG_FRAME_TABLE, FEATURES_AT = `LP_REG_FEATURES;
    reg        in_counters, in_table, in_control, in_node, in_nonce, unwritten;
    reg  [PORTS-1:0] in_status, in_peer;    // of each port
    wire       no_counter, no_frame;
    at_least #(.WIDTH(8), .LIMIT(COUNTERS)) u_no_counter (.x({1'b0, reg_addr[6:0]}), .y(no_counter));
    at_least #(.WIDTH(9), .LIMIT(FRAMES)) u_no_frame (.x({1'b0, reg_addr[7:0]}), .y(no_frame));
    wire       found_counters = reg_addr[15:7] == COUNTERS_AT[15:7] && !no_counter;
    wire       found_table    = reg_addr[15:8] == TABLE_AT[15:8] && !no_frame;
    wire       found_ident    = reg_addr[15:4] == 12'd0 && reg_addr[3:0] <= FEATURES_AT[3:0];
    wire       settable       = reg_addr == `LP_REG_SCRATCH || reg_addr == `LP_REG_NODE_ID || reg_addr == `LP_REG_NONCE;
    reg        decoded, selected, ok;
    reg  [2:0]  written;            // since reset: SCRATCH, NODE_ID, NONCE
    wire        counter_valid;
    wire [31:0] counter_value;
    reg  [31:0] link_status;        // of the port that is asked for, else 0
    reg         is_word;            // of the counters' memory
    assign reg_done  = selected || counter_valid;
    assign reg_ok    = counter_valid || ok;
    assign reg_value = ({32{is_word && !unwritten}} & counter_value)
                     | link_status | {30'd0, {2{in_control}} & {gateway, notify}}
                     | ({32{in_table}} & {ft_valid, 7'd0, ft_vl, 5'd0, ft_link});

    integer p;
    always @* begin
        link_status = 32'd0;
        for (p = 0; p < PORTS; p = p + 1)
            link_status = link_status | ({32{in_status[p]}} & status[32*p +: 32])
                | ({32{in_peer[p]}} & {peer[18*p+16 +: 2], 14'd0, peer[18*p +: 16]});
    end
    assign admit = selected && reg_write && reg_wdata[`LP_LINK_STATUS_LOST_BIT] ? in_status : {PORTS{1'b0}};
    always @(posedge clk) begin
        in_counters <= found_counters;
        in_table    <= found_table;
        is_word     <= (!reg_write && (found_counters || found_ident)) || settable;
        for (p = 0; p < PORTS; p = p + 1) begin
            in_status[p] <= reg_addr == STATUS_AT + p[15:0];
            in_peer[p]   <= reg_addr == PEER_AT + p[15:0] && !reg_write;
        end
        in_control  <= reg_addr == `LP_REG_CONTROL;
        in_node     <= reg_addr == `LP_REG_NODE_ID;
        in_nonce    <= reg_addr == `LP_REG_NONCE;
        unwritten   <= (reg_addr == `LP_REG_SCRATCH && !written[0]) || (reg_addr == `LP_REG_NODE_ID && !written[1])
                    || (reg_addr == `LP_REG_NONCE && !written[2]);

        decoded  <= reg_en && !reg_done;
        selected <= decoded && reg_en && !is_word && !reg_done;
        ok       <= in_control || in_table || {in_status, in_peer} != {2*PORTS{1'b0}};
        if (counter_valid && reg_write) written <= written | {in_nonce, in_node, !in_nonce && !in_node};
        if (counter_valid && reg_write && in_node)  node  <= reg_wdata[15:0];
        if (counter_valid && reg_write && in_nonce) nonce <= reg_wdata;
        renew     <= counter_valid && reg_write && in_nonce && !rst;
        anonymous <= nonce == 32'd0;
        if (selected && reg_write && in_control) begin
            notify  <= reg_wdata[`LP_CONTROL_NOTIFY_BIT];
            gateway <= reg_wdata[`LP_CONTROL_GATEWAY_BIT] && ROUTES != 0 && ROUTER == 0;
        end
        if (rst) begin
            decoded  <= 1'b0;
            selected <= 1'b0;
            written  <= 3'd0;
            node     <= 16'd0;
            nonce    <= 32'd0;
            notify   <= 1'b0;
            gateway  <= 1'b0;
        end
    end

    assign ft_wr_en    = selected && reg_write && in_table;
    assign ft_frame    = {8'd0, reg_addr[7:0]};
    assign ft_wr_valid = reg_wdata[`LP_FRAME_VALID_BIT];
    assign ft_wr_vl    = reg_wdata[`LP_FRAME_VL_LSB +: `LP_FRAME_VL_WIDTH];
    assign ft_wr_link  = reg_wdata[`LP_FRAME_LINK_LSB +: `LP_FRAME_LINK_WIDTH];

    // Those that cannot come within the time of a frame, which has ten symbols, and those of single symbols.
    // Packets come by several lanes faster than that, and those that waited are refused faster than they came, if WIDTH is not 1. What
    // several lanes say is counted in one clock and the next, and so are, with ROUTES, writes that are denied and datagrams that are late.
    localparam [15:0] RARE = 16'd1 << `LP_CNT_RETRIES | 16'd1 << `LP_CNT_RESTARTS | 16'd1 << `LP_CNT_STOPS;
    localparam [15:0] FRAME = 16'd1 << `LP_CNT_RX_PACKETS | 16'd1 << `LP_CNT_RX_DUP | 16'd1 << `LP_CNT_RX_GAP
        | 16'd1 << `LP_CNT_RX_OVERRUN | 16'd1 << `LP_CNT_NO_SPACE | {15'd0, ROUTES == 0} << `LP_CNT_DENIED;
    localparam [15:0] SLOW = WIDTH == 1 && LANES == 1 ? RARE | FRAME : RARE;
    localparam [15:0] OF_SYMBOLS = 16'd1 << `LP_CNT_RX_CRC | 16'd1 << `LP_CNT_RX_STRAY | 16'd1 << `LP_CNT_BAD_WORD;
    function [16*PORTS-1:0] slow(input [LINKS:0] spaced);
        integer k;
        for (k = 0; k < PORTS; k = k + 1)
            slow[16*k +: 16] = spaced[k] && LANES == 1 ? SLOW | OF_SYMBOLS : SLOW;
    endfunction
    // In the order of the registers.
    localparam IDENTS = `LP_REG_FEATURES + 1;
    localparam [32*IDENTS-1:0] IDENT = {FEATURES, word(`LP_WINDOW_MAX), word(RX_BYTES), word(REPLAY_BYTES), word(PAGE_BYTES),
        word(FRAMES), word(LINKS), SOURCE_HASH, `LP_VERSION, `LP_MAGIC};
    function [31:0] word(input [31:0] value);
        word = value;
    endfunction
    counter_bank #(.N(COUNTERS), .SLOW(slow(SPACED)), .FIRST(IDENTS), .INIT(IDENT)) u_counters (
        .clk(clk), .rst(rst), .event_in(events),
        .rd_en(decoded && is_word), .rd_addr(reg_addr[CW-1:0]), .other(!in_counters), .wr_en(reg_write), .wr_data(reg_wdata),
        .rd_valid(counter_valid), .rd_data(counter_value)
    );
endmodule
`resetall
