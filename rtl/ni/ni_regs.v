`default_nettype none
// Registers of the network interface: identity, scratch, link status, counters, frame table.
//
// Contract:
//   reg_en with reg_* stands until reg_done, one clock, 1 to 24 clocks later; reg_ok is low for a register that does not exist, or
//   that cannot be written. A write takes effect with reg_done.
//   status: 24 bits a link, link 0 (the host port) lowest; events: 16 one-clock pulses a link, in the order of the counters.
//   The frame table's ports are passed through.
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

    input  wire [24*(LINKS+1)-1:0] status,
    input  wire [16*(LINKS+1)-1:0] events,

    output reg                     notify,
    output wire                    ft_wr_en,
    output wire [15:0]             ft_frame,
    output wire                    ft_wr_valid,
    output wire [2:0]              ft_wr_link,
    input  wire                    ft_valid,
    input  wire [2:0]              ft_link
);
`include "linkproto.vh"

    localparam PORTS = LINKS + 1;
    localparam [31:0] FEATURES = 32'd1 << `LP_FEATURE_PAGING_BIT | 32'd1 << `LP_FEATURE_NOTIFY_BIT
        | (TRACE != 0 ? 32'd1 << `LP_FEATURE_TRACE_BIT : 32'd0) | (INJECT != 0 ? 32'd1 << `LP_FEATURE_INJECTOR_BIT : 32'd0);
    localparam COUNTERS = `LP_COUNTER_STRIDE * PORTS;
    localparam CW = $clog2(COUNTERS);

    wire [15:0] counter = reg_addr - `LP_REG_COUNTERS;
    wire [15:0] frame   = reg_addr - `LP_REG_FRAME_TABLE;
    wire [15:0] port    = reg_addr - `LP_REG_LINK_STATUS;
    wire in_counters = reg_addr >= `LP_REG_COUNTERS && counter < COUNTERS[15:0];
    wire in_table    = reg_addr >= `LP_REG_FRAME_TABLE && frame < FRAMES[15:0];
    wire in_status   = reg_addr >= `LP_REG_LINK_STATUS && port < PORTS[15:0];
    wire in_ident    = reg_addr <= `LP_REG_FEATURES;
    wire in_control  = reg_addr == `LP_REG_CONTROL;
    wire in_scratch  = reg_addr == `LP_REG_SCRATCH;
    wire known       = reg_write ? in_scratch || in_control || in_table
                                 : in_counters || in_table || in_status || in_ident || in_scratch || in_control;
    wire is_counter  = in_counters && !reg_write;

    // One clock to decode and select; counters answer by themselves.
    reg         ready;
    reg         ok;
    reg  [31:0] value, scratch;
    wire        counter_valid;
    wire [31:0] counter_value;
    assign reg_done  = reg_en && (ready || counter_valid);
    assign reg_ok    = counter_valid || ok;
    assign reg_value = counter_valid ? counter_value : value;

    reg  [31:0] ident;
    always @*
        case (reg_addr[3:0])
            4'd0:    ident = `LP_MAGIC;
            4'd1:    ident = `LP_VERSION;
            4'd2:    ident = SOURCE_HASH[31:0];
            4'd3:    ident = SOURCE_HASH[63:32];
            4'd4:    ident = LINKS;
            4'd5:    ident = FRAMES;
            4'd6:    ident = PAGE_BYTES;
            4'd7:    ident = REPLAY_BYTES;
            4'd8:    ident = RX_BYTES;
            4'd9:    ident = `LP_WINDOW_MAX;
            default: ident = FEATURES;
        endcase

    wire [23:0] link_status = status[24*port[2:0] +: 24];
    always @(posedge clk) begin
        ready <= reg_en && !is_counter && !reg_done;
        ok    <= known;
        value <= in_ident   ? ident
               : in_scratch ? scratch
               : in_control ? {31'd0, notify}
               : in_status  ? {8'd0, link_status}
               :              {ft_valid, 28'd0, ft_link};
        if (reg_done && reg_write && in_scratch) scratch <= reg_wdata;
        if (reg_done && reg_write && in_control) notify <= reg_wdata[`LP_CONTROL_NOTIFY_BIT];
        if (rst) begin
            ready   <= 1'b0;
            scratch <= 32'd0;
            notify  <= 1'b0;
        end
    end

    assign ft_wr_en    = reg_done && reg_write && in_table;
    assign ft_frame    = frame;
    assign ft_wr_valid = reg_wdata[`LP_FRAME_VALID_BIT];
    assign ft_wr_link  = reg_wdata[`LP_FRAME_LINK_LSB +: `LP_FRAME_LINK_WIDTH];

    counter_bank #(.N(COUNTERS)) u_counters (
        .clk(clk), .rst(rst), .event_in(events),
        .rd_en(reg_en && is_counter), .rd_addr(counter[CW-1:0]), .rd_valid(counter_valid), .rd_data(counter_value)
    );
endmodule
`resetall
