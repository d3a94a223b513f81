`default_nettype none
// Framer: sends the packets of the replay buffer as frames, and goes back when the peer lost one.
//
// Contract:
//   key: what the CRC is sealed with, while up.
//   f_*: frame symbols `SOP seq payload crc crc crc crc EOP`, no bubble between two frames that are both in the buffer. A packet still
//   being loaded is sent as it comes; f_valid is low while its next byte is missing.
//   At most WINDOW-1 frames are sent and not acknowledged. sent_seq: one past the last frame ever sent whole.
//   `lost` (with acked): go back to base_seq once the frame in progress is complete, unless just that frame is being re-sent. A frame
//   whose packet is still being loaded is ended by ABORT for it as soon as its next byte is missing: that byte
//   may be waiting for the room of those that are to be sent again.
//   `cancel` (pulse): the packet that is being loaded is taken back, so `load` goes back in the next clock. ABORT ends its frame.
//   The same when RETRY symbol times (`tick`) pass without progress though something is unacknowledged and the peer says GO, if all has
//   been sent then. The RETRY_LIMIT'th time in a row, also if it has been sending meanwhile, pulses `give_up`.
//   `restart` (pulse): the frame in progress is abandoned, sequence numbers begin at 0. `rst`: two clocks or more.
//
// Proven: link_framer.formal.v. Source: doc/protocol.md, "Sender"; go-back-N after GigaE PM.
module link_framer #(
    parameter POINTER     = 16,         // bits of a byte pointer, one more than an address in the replay buffer has
    parameter RETRY       = 16384,
    parameter RETRY_LIMIT = 8
) (
    input  wire        clk,
    input  wire        rst,
    input  wire        tick,

    input  wire        up,
    input  wire        peer_stop,
    input  wire        restart,
    input  wire [31:0] key,

    input  wire [POINTER-1:0] base,
    input  wire [7:0]  base_seq,
    input  wire [POINTER-1:0] load,
    input  wire [POINTER-1:0] load_last,
    input  wire [7:0]  load_seq,
    input  wire        loading,
    input  wire        loaded,
    input  wire        cancel,
    output wire        rd_en,
    output wire [POINTER-2:0] rd_addr,
    input  wire [7:0]  rd_data,
    output wire        look,
    output wire [7:0]  look_seq,
    input  wire        look_done,
    input  wire [POINTER-1:0] look_last,

    input  wire        acked,
    input  wire        lost,
    input  wire        progress,
    output wire [7:0]  sent_seq,
    output reg         give_up,

    output reg         f_valid,
    output reg  [8:0]  f_sym,
    input  wire        f_take,

    output reg         ev_replay,
    output reg         ev_retry
);
`include "linkproto.vh"

    localparam TIMERW = $clog2(RETRY + 1);
    localparam LIMITW = $clog2(RETRY_LIMIT + 1);
    localparam integer IDLE = 0, SEQ = 1, DATA = 2, CRC = 3, END = 4;
    localparam [4:0] ONE = 5'd1;
    wire        advance  = !f_valid || f_take;
    reg  [4:0]  state;                  // one bit for each of them
    reg  [1:0]  crc_left;
    reg  [7:0]  next_seq;               // of the next frame to be begun, or of the frame that is being sent up to the first byte of its CRC
    reg         passed;                 // the packet's last byte went out in the clock before

    // Whether a frame may begin, a clock late: what stops it comes long before a frame has ended. behind, closed: two clocks late
    // when an acknowledgement has moved base; a frame begun meanwhile is a duplicate to the peer.
    reg         may_begin, pending, behind, closed;
    reg         current;                // the packet being sent is the one being loaded
    reg         reset, rewound;
    reg         astray;                 // since a restart or a frame that was left: `send` stands at no packet's beginning
    reg  [7:0]  in_flight;
    reg         go_back, went_back, resending;
    wire        leave;                  // the frame that is being sent waits for its next byte, but others are to be sent again
    reg         canceled;               // next_seq is the packet that has been taken back
    reg         aborts;                 // ABORT ends the frame
    wire        quits       = leave || (canceled && (state[SEQ] || state[DATA]));
    wire        waiting     = pending || loading;
    wire        begin_frame = state[IDLE] && may_begin && waiting && !go_back && !behind && advance;
    wire        rewind      = state[IDLE] && (go_back || behind || astray);

    // What comes a clock after rst or restart: only of a restart f_valid and sent_seq must fall at once.
    always @(posedge clk) reset <= rst || restart;
    always @(posedge clk) canceled <= cancel && next_seq == load_seq && !rewind && !reset;

    always @(posedge clk) begin
        pending   <= next_seq != load_seq || loaded;
        in_flight <= next_seq - base_seq;
        behind    <= in_flight[7];
        closed    <= in_flight >= `LP_WINDOW_MAX - 1;
        may_begin <= up && !closed && !behind && !go_back && !astray && !rewind && !went_back && !reset;
        rewound   <= rewind;
        if (reset) pending <= 1'b0;
        if (reset || leave)         astray <= 1'b1;
        else if (rewind)            astray <= 1'b0;
    end

    // The end of the packet being sent: told when its last byte is loaded, or looked up where that was before. The first two bytes of a
    // packet are never its last.
    reg                end_known, looked;
    reg  [POINTER-1:0] send_last;
    wire               found = look_done && looked;
    assign look     = state[IDLE] && pending && may_begin && !looked;
    assign look_seq = next_seq;

    always @(posedge clk) begin
        if (!end_known) send_last <= found ? look_last : load_last;
        if (look)       looked    <= 1'b1;
        if (found)      end_known <= 1'b1;
        if (current && loaded) begin
            end_known <= 1'b1;
            current   <= 1'b0;
        end
        if (state[IDLE] && !pending) begin
            looked    <= 1'b0;
            end_known <= loaded;
            current   <= begin_frame && !loaded;
        end
        // A clock behind what makes it so: `pending` is still that of before a rewind then, and in END nobody looks.
        if (reset || rewound || state[END]) begin
            looked    <= 1'b0;
            end_known <= 1'b0;
            current   <= 1'b0;
        end
    end

    // Bytes are fetched ahead, into the memory's output register and from there into byte_q.
    reg  [POINTER-1:0] send;            // the next to be fetched
    reg                fetched, have, ended;
    reg  [7:0]         byte_q;
    wire step  = advance && (!state[DATA] || have);
    wire take  = step && state[DATA];
    wire pass  = !have || (advance && state[DATA]);
    wire more  = send != load;
    wire more_here = more && !rewound && (state[IDLE] || state[SEQ] || (state[DATA] && !ended && (end_known || current)));
    wire fetch = rd_en && more_here;
    wire last  = ended && !fetched;     // byte_q is the packet's last
    reg  starved;                       // a clock late, since nobody is in a hurry
    assign leave = starved && go_back && state[DATA];
    wire [POINTER-1:0] following = send + 1'b1;     // added before it is known whether it is wanted
    assign rd_en   = !fetched || pass;
    assign rd_addr = send[POINTER-2:0];

    always @(posedge clk) begin
        starved <= state[DATA] && current && !have && !fetched && !more;
        if (rd_en) fetched <= fetch;
        if (pass) begin
            have   <= fetched;
            byte_q <= rd_data;
        end
        if (fetch) ended <= end_known && send == send_last;
        send <= rewind ? base : canceled ? load : fetch || rewound ? following : send;  // base is the place before
        if (reset || rewound || canceled || state[END]) {fetched, have, ended} <= 3'd0;
    end

    reg  [7:0] not_sent;                // sent_seq inverted: a carry chain subtracts it without a row of inverters
    reg  first_time;                    // the frame is sent whole, and has not been before
    assign sent_seq = ~not_sent;
    wire complete = advance && state[END];
    always @(posedge clk) begin
        if (state[DATA]) first_time <= next_seq == sent_seq;
        if (quits) first_time <= 1'b0;
        passed <= take && last && !reset;
        aborts <= quits || (aborts && !state[IDLE]);
        next_seq <= reset ? 8'd0 : rewind ? base_seq : next_seq + {7'd0, passed};
        not_sent <= not_sent - {7'd0, complete && first_time};

        if (advance) f_valid <= begin_frame || take || state[SEQ] || state[CRC] || state[END];
        if (state[CRC] && advance) crc_left <= crc_left - 2'd1;

        // Each bit by itself: one chain for all of them is slow.
        state[IDLE] <= (state[IDLE] && !begin_frame) || complete;
        state[SEQ]  <= begin_frame || (state[SEQ] && !advance && !canceled);
        state[DATA] <= (state[SEQ] && advance && !canceled) || (state[DATA] && !(take && last) && !quits);
        state[CRC]  <= (take && last) || (state[CRC] && !(advance && crc_left == 2'd0));
        state[END]  <= (state[CRC] && advance && crc_left == 2'd0) || quits || (state[END] && !advance);
        if (reset) begin
            state    <= ONE << IDLE;
            crc_left <= 2'd3;
        end
        if (restart || reset) begin
            f_valid  <= 1'b0;
            not_sent <= 8'hFF;
        end
    end

    wire [7:0]  crc_byte;
    wire [23:0] unused_crc;
    wire        unused_ok;
    crc32c_byte u_crc (
        .clk(clk), .init(state[IDLE]), .key(key), .en(step), .shift(state[CRC]),
        .data(state[SEQ] ? next_seq : byte_q), .crc({unused_crc, crc_byte}), .ok(unused_ok)
    );

    always @(posedge clk)
        if (step)
            f_sym <= state[IDLE] ? `LP_SYM_SOP : state[END] ? (aborts ? `LP_SYM_ABORT : `LP_SYM_EOP)
                   : {1'b0, state[SEQ] ? next_seq : state[DATA] ? byte_q : crc_byte};

    // Going back.
    reg  [TIMERW-1:0] timer;
    reg  [LIMITW-1:0] retries;
    reg  lost_again, oldest, sent_any, expired, last_retry;
    wire asked = lost_again && !(resending && oldest);
    wire drained = !f_valid && (starved || (state[IDLE] && (!pending || closed)));    // there is nothing that may be sent
    wire timed_out;
    at_least #(.WIDTH(TIMERW), .LIMIT(RETRY)) u_timed_out (.x(timer), .y(timed_out));

    always @(posedge clk) begin
        lost_again <= acked && lost;
        oldest     <= rewind || (oldest && !progress);
        sent_any   <= sent_seq != base_seq;
        last_retry <= retries == RETRY_LIMIT - 1;
        expired    <= timed_out && !expired;
        ev_retry   <= expired;
        went_back  <= rewind && go_back;
        ev_replay  <= went_back && sent_any;
        give_up    <= expired && last_retry;

        if (asked || (expired && drained && !last_retry)) go_back <= 1'b1;
        else if (rewind || progress)                      go_back <= 1'b0;
        if (went_back)     resending <= sent_any;
        else if (complete) resending <= 1'b0;

        timer <= timer + {{TIMERW-1{1'b0}}, tick && !timed_out};
        if (progress || expired || peer_stop || !sent_any) timer <= 0;
        retries <= progress ? {LIMITW{1'b0}} : retries + {{LIMITW-1{1'b0}}, expired};

        if (reset) begin
            {go_back, went_back, resending, give_up, lost_again, expired} <= 6'd0;
            timer   <= 0;
            retries <= 0;
        end
    end
`ifdef FORMAL
`include "link_framer.formal.v"
`endif
endmodule
`resetall
