`default_nettype none
// Trap unit of one link: takes PAGE and CONNECT out of the packets, reports them to the host, and holds what follows until RESUME.
//
// Contract:
//   s_*: packets as of link_rx, those on trial included.
//   s_* -> m_*: all other packets, unchanged, a clock after their first byte stands at s_*. While `hold` is high the receiver of m_* may
//   look at a packet but must not carry it out.
//   A PAGE or CONNECT goes to t_*, whole, as a TRAP packet for ni_compose, once `quiet` says that every packet before it has been carried
//   out; then `hold` rises and stays until `resume` (pulse). The next PAGE or CONNECT waits for that too. So nothing is dropped, order is
//   kept, and only this link's packets wait: link state words and acknowledgements do not pass here.
//   A malformed one, a PAGE for a frame that does not exist, or a CONNECT whose TRAP would exceed MAX_PACKET is dropped, ev_bad.
//   `retrap` (pulse, while `hold` is high): the TRAP goes to t_* again, a CONNECT's without its params, unless it is on its way already.
//
// Proven: ni_trap.formal.v, by induction.
// Source: LMMC, remote paging: the receiving interface stops reception on that link until its host has changed the page.
module ni_trap #(
    parameter LINK       = 1,
    parameter FRAMES     = 4,
    parameter MAX_PACKET = 1032,
    parameter WIDTH      = 1
) (
    input  wire       clk,
    input  wire       rst,

    input  wire       s_valid,
    output wire       s_ready,
    input  wire [8*WIDTH-1:0] s_data,
    input  wire [WIDTH-1:0]   s_keep,
    input  wire       s_last,
    input  wire       s_sure,
    input  wire       s_void,

    output wire       m_valid,
    input  wire       m_ready,
    output wire [8*WIDTH-1:0] m_data,
    output wire [WIDTH-1:0]   m_keep,
    output wire       m_last,

    output wire       t_valid,
    input  wire       t_ready,
    output wire [7:0] t_kind,
    output wire [15:0] t_length,
    output wire [7:0] t_data,
    output wire       t_last,

    input  wire       quiet,
    output reg        hold,
    input  wire       resume,
    input  wire       retrap,
    output reg        ev_bad
);
`include "linkproto.vh"

    localparam [2:0] LOOK = 3'd0, COLLECT = 3'd1, CHECK = 3'd2, TELL = 3'd3, DROP = 3'd4, PASS = 3'd5;
    localparam [7:0] HEADER = `LP_HEADER_BYTES;

    reg  [2:0]  state;
    reg  [3:0]  place;              // number of the byte that is collected, or told behind the TRAP's head, which is 0
    reg         telling;            // the TRAP's head, and what has been collected of the packet
    reg         ended;              // nothing of the packet follows
    wire        page  = s_data[7:0] == {3'd0, `LP_TYPE_PAGE};
    wire        traps = page || s_data[7:0] == {3'd0, `LP_TYPE_CONNECT};
    wire        take  = s_valid && s_ready;
    wire        step  = telling && t_ready;
    wire        params = state == TELL && !telling && !ended;

    assign m_valid = s_valid && state == PASS;
    assign m_data  = s_data;
    assign m_keep  = s_keep;
    assign m_last  = s_last;

    // What traps is looked at byte by byte, and other packets pass in beats.
    wire [7:0] data;
    wire       last, done;
    wire       looks = state == COLLECT || (params && t_ready);
    assign s_ready = (looks && done) || state == DROP || (state == PASS && m_ready);
    beat_bytes #(.WIDTH(WIDTH)) u_bytes (
        .clk(clk), .leave(rst || state == DROP), .data(s_data), .keep(s_keep), .last(s_last), .step(s_valid && looks),
        .byte_q(data), .byte_last(last), .done(done)
    );

    // What is kept of the packet: type, length and fields. The fields go round: they stand as they were when they have all been told.
    reg         is_page, too_long;
    reg         exists, near;       // the frame of a PAGE does; its lower byte may
    reg         fitting;            // a CONNECT's TRAP does not exceed MAX_PACKET; a clock late
    reg  [7:0]  length;             // to be told, less than 256
    reg  [47:0] fields;             // of a CONNECT in the upper four bytes
    wire [7:0]  field    = is_page ? fields[7:0] : fields[23:16];
    wire [3:0]  size     = is_page ? `LP_PAGE_MIN_LENGTH : `LP_CONNECT_MIN_LENGTH;
    wire        at_end   = place == HEADER[3:0] + size;
    wire        told     = step && at_end;
    wire        complete = place == HEADER[3:0] + size - 4'd1;

    localparam FW = FRAMES > 1 ? $clog2(FRAMES) : 1;
    localparam integer MOST = MAX_PACKET - 2 * `LP_HEADER_BYTES;
    localparam integer CONNECT_MOST = MOST < `LP_CONNECT_MAX_LENGTH ? MOST : `LP_CONNECT_MAX_LENGTH;
    wire good = is_page ? ended && exists : fitting;

    reg  [7:0]  out;                // byte `place` of what is told
    assign t_valid  = telling || (params && s_valid);
    assign t_kind   = {LINK[2:0], `LP_TYPE_TRAP};
    assign t_length = {8'd0, length + HEADER};
    assign t_data   = telling ? out : data;
    assign t_last   = telling ? ended && at_end : last;

    always @(posedge clk) begin
        ev_bad <= 1'b0;
        if (resume) hold <= 1'b0;
        if (state == COLLECT ? s_valid : step) place <= place + 4'd1;
        else if (state != COLLECT && !telling) place <= 4'd0;
        if (told)        telling <= 1'b0;
        else if (retrap) telling <= 1'b1;
        case (state)
            LOOK: begin
                if (s_valid && !traps)                              state <= PASS;
                if (s_valid && traps && s_sure && quiet && !hold && !telling) state <= COLLECT;
            end
            COLLECT: if (s_valid) begin
                ended <= last;
                if (complete) state <= CHECK;
                else if (last) begin
                    ev_bad <= 1'b1;
                    state  <= LOOK;
                end
            end
            CHECK: begin
                ev_bad  <= !good;
                telling <= good;
                state   <= good ? TELL : ended ? LOOK : DROP;
            end
            TELL: if (ended ? told : take && s_last) begin
                hold  <= 1'b1;
                ended <= 1'b1;
                state <= LOOK;
            end
            default: if ((take && s_last) || s_void) state <= LOOK; // PASS, DROP
        endcase
        if (rst) begin
            state   <= LOOK;
            telling <= 1'b0;
            hold    <= 1'b0;
            ev_bad  <= 1'b0;
        end
    end

    always @(posedge clk) begin
        fitting <= !too_long && length <= CONNECT_MOST[7:0];
        if (state == COLLECT) case (place)
            4'd0: is_page  <= page;
            4'd1: length   <= data;
            4'd2: too_long <= data != 8'd0;
            4'd3: near     <= data >> FW == 8'd0 && {1'b0, data[FW-1:0]} < FRAMES[FW:0];
            4'd4: exists   <= near && data == 8'd0;
            default: ;
        endcase
        if (state == COLLECT ? s_valid : step && !told && place >= HEADER[3:0])
            fields <= {state == COLLECT ? data : field, fields[47:8]};

        if (step) case (place)
            4'd0: out <= {3'd0, is_page ? `LP_TYPE_PAGE : `LP_TYPE_CONNECT};
            4'd1: out <= length;
            4'd2: begin
                out    <= 8'd0;
                length <= {4'd0, size};
            end
            default: out <= field;
        endcase
    end

`ifdef FORMAL
`include "ni_trap.formal.v"
`endif
endmodule
`resetall
