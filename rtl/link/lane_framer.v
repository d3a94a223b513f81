`default_nettype none
// Framer of a lane: sends one packet of the replay buffer after the other as frames.
//
// Contract:
//   give (pulse, while `ready`): a packet, with its number and the places of its first and last byte; whole in the buffer.
//   turn: in this clock the lane may read; it does if rd_en, and rd_data are the bytes from rd_addr on, one clock later. There is no bubble
//   in frames if `turn` comes once in WIDTH symbol times at least and the next packet is given while `ready` is young.
//   f_*: frame symbols `SOP seq payload crc crc crc crc EOP`; f_valid is low while the next byte is missing.
//   key: what the CRC is sealed with.
//   sends, seq: the frame that is being sent, until its EOP has been taken, when `done` pulses; fetches, next_seq: the one whose bytes are
//   read, maybe the same.
//   rst drops both frames.
//
// Proven: lane_framer.formal.v. Source: doc/protocol.md, "Lanes".
module lane_framer #(
    parameter POINTER = 13,             // bits of a byte pointer, one more than an address in the replay buffer has
    parameter WIDTH   = 4
) (
    input  wire               clk,
    input  wire               rst,
    input  wire [31:0]        key,

    input  wire               give,
    output wire               ready,
    input  wire [7:0]         given_seq,
    input  wire [POINTER-1:0] given_first,
    input  wire [POINTER-1:0] given_last,

    input  wire               turn,
    output wire               rd_en,
    output wire [POINTER-2:0] rd_addr,
    input  wire [8*WIDTH-1:0] rd_data,

    output reg                f_valid,
    output reg  [8:0]         f_sym,
    input  wire               f_take,

    output wire               sends,
    output reg  [7:0]         seq,
    output wire               fetches,
    output reg  [7:0]         next_seq,
    output wire               done
);
`include "linkproto.vh"

    localparam CW = $clog2(WIDTH) + 1;
    localparam [31:0] W = WIDTH;
    localparam integer IDLE = 0, SEQ = 1, DATA = 2, CRC = 3, END = 4;
    localparam [4:0] ONE = 5'd1;

    // The packet whose bytes are read. `begun`: its frame is the one that is being sent, or was.
    reg               reading, begun;
    reg [POINTER-1:0] at, last;
    wire [POINTER-1:0] behind = last - at;              // bytes behind the next one
    wire              final_read = behind < W[POINTER-1:0];
    assign ready   = !reading && begun;
    assign fetches = !ready;

    // Beats that have been read: `cur` is being sent, `nxt` and `far` come behind it; each with how many bytes
    // it has, and whether its last is a packet's.
    reg  [8*WIDTH-1:0] cur, nxt, far;
    reg  [CW-1:0]     cur_n, nxt_n, far_n, came_n;
    reg               cur_end, nxt_end, far_end, came_end, came;
    assign rd_en   = turn && reading && (far_n == 0 || nxt_n == 0) && !came;
    assign rd_addr = at[POINTER-2:0];

    reg  [4:0] state;
    reg  [1:0] crc_left;
    wire       advance = !f_valid || f_take;
    wire       start   = state[IDLE] && !begun && advance;
    wire       step    = advance && (!state[DATA] || cur_n != 0);
    wire       take    = step && state[DATA];
    wire       finish  = take && cur_n == 1 && cur_end;
    wire       refill  = nxt_n != 0 && (cur_n == 0 || (take && cur_n == 1));
    assign     sends   = !state[IDLE] || f_valid;
    assign     done    = state[IDLE] && f_valid && f_take;

    always @(posedge clk) begin
        if (rd_en) begin
            came_n   <= final_read ? behind[CW-1:0] + 1'b1 : W[CW-1:0];
            came_end <= final_read;
            at       <= at + W[POINTER-1:0];
            reading  <= !final_read;
        end
        came <= rd_en;
        if (give) begin
            {next_seq, at, last} <= {given_seq, given_first, given_last};
            {reading, begun}     <= 2'b10;
        end

        if (take) begin
            cur   <= cur >> 8;
            cur_n <= cur_n - 1'b1;
        end
        if (refill) {cur, cur_n, cur_end} <= {nxt, nxt_n, nxt_end};
        if (refill || nxt_n == 0) {nxt, nxt_n, nxt_end, far_n} <= {far, far_n, far_end, {CW{1'b0}}};
        if (came)   {far, far_n, far_end} <= {rd_data, came_n, came_end};

        if (start) begin
            seq   <= next_seq;
            begun <= 1'b1;
        end
        if (advance) f_valid <= start || take || state[SEQ] || state[CRC] || state[END];
        if (state[CRC] && advance) crc_left <= crc_left - 2'd1;
        state[IDLE] <= (state[IDLE] && !start) || (state[END] && advance);
        state[SEQ]  <= start || (state[SEQ] && !advance);
        state[DATA] <= (state[SEQ] && advance) || (state[DATA] && !finish);
        state[CRC]  <= finish || (state[CRC] && !(advance && crc_left == 2'd0));
        state[END]  <= (state[CRC] && advance && crc_left == 2'd0) || (state[END] && !advance);
        if (rst) begin
            {reading, begun, came, f_valid} <= 4'b0100;
            {cur_n, nxt_n, far_n} <= 0;
            state    <= ONE << IDLE;
            crc_left <= 2'd3;
        end
    end

    wire [7:0]  crc_byte;
    wire [23:0] unused_crc;
    wire        unused_ok;
    crc32c_byte u_crc (
        .clk(clk), .init(state[IDLE]), .key(key), .en(step), .shift(state[CRC]),
        .data(state[SEQ] ? seq : cur[7:0]), .crc({unused_crc, crc_byte}), .ok(unused_ok)
    );
    always @(posedge clk)
        if (step)
            f_sym <= state[IDLE] ? `LP_SYM_SOP : state[END] ? `LP_SYM_EOP
                   : {1'b0, state[SEQ] ? seq : state[DATA] ? cur[7:0] : crc_byte};
`ifdef FORMAL
`include "lane_framer.formal.v"
`endif
endmodule
`resetall
