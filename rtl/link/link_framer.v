`default_nettype none
// Framer: sends the packets of the replay buffer as frames, and goes back when the peer lost one.
//
// Contract:
//   f_*: frame symbols `SOP seq payload crc crc crc crc EOP`, no bubble between two frames that are both in the buffer. A packet still
//   being loaded is sent as it comes; f_valid is low while its next byte is missing.
//   At most WINDOW-1 frames are sent and not acknowledged. sent_seq: one past the last frame ever sent whole.
//   `lost` (with acked): go back to base_seq once the frame in progress is complete, unless just that frame is being re-sent. A frame
//   whose packet is still being loaded is abandoned for it (the next SOP ends it) as soon as its next byte is missing: that byte
//   may be waiting for the room of those that are to be sent again.
//   The same when RETRY symbol times (`tick`) pass without progress though something is unacknowledged and the peer says GO; RETRY_LIMIT
//   such in a row pulse `give_up`.
//   `restart` (pulse): the frame in progress is abandoned, sequence numbers begin at 0.
//
// Source: doc/protocol.md, "Sender"; go-back-N after GigaE PM.
module link_framer #(
    parameter RETRY       = 16384,
    parameter RETRY_LIMIT = 8
) (
    input  wire        clk,
    input  wire        rst,
    input  wire        tick,

    input  wire        up,
    input  wire        peer_stop,
    input  wire        restart,

    input  wire [15:0] base,
    input  wire [7:0]  base_seq,
    input  wire [15:0] load,
    input  wire [7:0]  load_seq,
    input  wire        loading,
    input  wire        loaded,
    output wire [15:0] rd_addr,
    input  wire [7:0]  rd_data,
    output wire        look,
    output wire [7:0]  look_seq,
    input  wire        look_done,
    input  wire [15:0] look_start,

    input  wire        acked,
    input  wire        lost,
    input  wire        progress,
    output reg  [7:0]  sent_seq,
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
    localparam [2:0] IDLE = 3'd0, SEQ = 3'd1, DATA = 3'd2, CRC = 3'd3, END = 3'd4;

    reg  [2:0]  state;
    reg  [1:0]  crc_left;
    reg  [15:0] send, send_end, load_q;
    reg  [7:0]  send_seq;
    reg         end_known, looked, closed, behind;
    wire        advance  = !f_valid || f_take;
    wire        starved  = send == load_q;
    wire        present  = !starved && (end_known || send_seq == load_seq);
    wire        take     = advance && state == DATA && present;
    wire        last     = end_known && send_next == send_end;
    wire [15:0] send_next = send + 16'd1;
    wire [7:0]  in_flight = send_seq - base_seq;
    wire        nothing  = send_seq == load_seq && !loading;
    wire        complete = advance && state == END;
    assign rd_addr = take ? send_next : send;

    // behind, closed: a clock late when an acknowledgement has moved base; a frame begun meanwhile is a duplicate to the peer.
    reg  go_back, resending;
    wire leave  = state == DATA && starved && go_back && advance;
    wire rewind = state == IDLE && (go_back || behind);
    wire begin_frame = state == IDLE && !go_back && !behind && !closed && !nothing && up && advance;

    // The end of the packet being sent: told when its last byte is loaded, or looked up where that was before.
    assign look     = (state == IDLE ? begin_frame : !end_known && !looked) && send_seq != load_seq;
    assign look_seq = send_seq + 8'd1;

    always @(posedge clk) begin
        load_q    <= load;
        looked    <= look;
        behind    <= in_flight[7];
        closed    <= in_flight >= `LP_WINDOW_MAX - 1 - {7'd0, complete};

        if (advance) f_valid <= 1'b0;
        case (state)
            IDLE: begin
                end_known <= 1'b0;
                if (nothing) send <= load;
                if (rewind) begin
                    send     <= base;
                    send_seq <= base_seq;
                end else if (begin_frame) begin
                    f_valid <= 1'b1;
                    state   <= SEQ;
                end
            end
            SEQ: if (advance) begin
                f_valid <= 1'b1;
                state   <= DATA;
            end
            DATA: if (take) begin
                f_valid <= 1'b1;
                send    <= send_next;
                if (last) state <= CRC;
            end else if (leave) state <= IDLE;
            CRC: if (advance) begin
                f_valid  <= 1'b1;
                crc_left <= crc_left - 2'd1;
                if (crc_left == 2'd0) state <= END;
            end
            default: if (advance) begin
                f_valid  <= 1'b1;
                state    <= IDLE;
                send_seq <= send_seq + 8'd1;
                if (send_seq == sent_seq) sent_seq <= sent_seq + 8'd1;
            end
        endcase

        if (look_done || (loaded && send_seq == load_seq && state != IDLE)) end_known <= 1'b1;
        if (rst || restart) begin
            state    <= IDLE;
            f_valid  <= 1'b0;
            crc_left <= 2'd3;
            looked   <= 1'b0;
            send_seq <= 8'd0;
            sent_seq <= 8'd0;
        end
    end

    always @(posedge clk)
        if (look_done) send_end <= look_start;
        else if (loaded && send_seq == load_seq) send_end <= load + 16'd1;

    wire [7:0]  crc_byte;
    wire [23:0] unused_crc;
    wire        unused_ok;
    wire        crc_shift = state == CRC;
    crc32c_byte u_crc (
        .clk(clk), .init(state == IDLE), .en((advance && (state == SEQ || crc_shift)) || take), .shift(crc_shift),
        .data(state == SEQ ? send_seq : rd_data), .crc({unused_crc, crc_byte}), .ok(unused_ok)
    );

    always @(posedge clk)
        if (advance)
            case (state)
                IDLE:    f_sym <= `LP_SYM_SOP;
                SEQ:     f_sym <= {1'b0, send_seq};
                DATA:    f_sym <= {1'b0, rd_data};
                CRC:     f_sym <= {1'b0, crc_byte};
                default: f_sym <= `LP_SYM_EOP;
            endcase

    // Going back.
    reg  [TIMERW-1:0] timer;
    reg  [LIMITW-1:0] retries;
    wire asked   = acked && lost && !(resending && base_seq == send_seq);
    wire expired = timer == RETRY;
    wire last_retry = retries == RETRY_LIMIT - 1;
    wire sent_any   = sent_seq != base_seq;

    always @(posedge clk) begin
        ev_retry  <= expired;
        ev_replay <= rewind && go_back && sent_any;
        give_up   <= expired && last_retry;

        if (asked || (expired && !last_retry)) go_back <= 1'b1;
        else if (rewind || (progress && !leave)) go_back <= 1'b0;   // who leaves a frame has to find its beginning again
        if (rewind && go_back) resending <= sent_any;
        else if (complete)     resending <= 1'b0;

        if (progress || expired || go_back || f_valid || peer_stop || !sent_any) timer <= 0;
        else if (tick)                                                        timer <= timer + 1'b1;
        if (progress)     retries <= 0;
        else if (expired) retries <= retries + 1'b1;

        if (rst || restart) begin
            {go_back, resending, give_up} <= 3'd0;
            timer   <= 0;
            retries <= 0;
        end
    end
`ifdef FORMAL
`include "link_framer.formal.v"
`endif
endmodule
`resetall
