`default_nettype none
// Trap unit of one link: takes PAGE and CONNECT out of the packets, reports them to the host, and holds what follows until RESUME.
//
// Contract:
//   s_* -> m_*: all other packets, unchanged, a clock after their first byte stands at s_*. While `hold` is high the receiver of m_* may look at a packet but must
//   not carry it out.
//   A PAGE or CONNECT goes to t_*, whole, as a TRAP packet, once `quiet` says that every packet before it has been carried out;
//   then `hold` rises and stays until `resume` (pulse). The next PAGE or CONNECT waits for that too. So nothing is dropped, order is
//   kept, and only this link's packets wait: link state words and acknowledgements do not pass here.
//   A malformed one, a PAGE for a frame that does not exist, or a CONNECT whose TRAP would exceed MAX_PACKET is dropped, ev_bad.
//
// Proven: ni_trap.formal.v, by induction.
// Source: LMMC, remote paging: the receiving interface stops reception on that link until its host has changed the page.
module ni_trap #(
    parameter LINK       = 1,
    parameter FRAMES     = 4,
    parameter MAX_PACKET = 1032
) (
    input  wire       clk,
    input  wire       rst,

    input  wire       s_valid,
    output wire       s_ready,
    input  wire [7:0] s_data,
    input  wire       s_last,

    output wire       m_valid,
    input  wire       m_ready,
    output wire [7:0] m_data,
    output wire       m_last,

    output wire       t_valid,
    input  wire       t_ready,
    output wire [7:0] t_data,
    output wire       t_last,

    input  wire       quiet,
    output reg        hold,
    input  wire       resume,
    output reg        ev_bad
);
`include "linkproto.vh"

    localparam [2:0] LOOK = 3'd0, COLLECT = 3'd1, CHECK = 3'd2, REPORT = 3'd3, REST = 3'd4, DROP = 3'd5, PASS = 3'd6;

    reg  [2:0]  state;
    reg  [2:0]  index;
    reg  [39:0] head;               // the packet's first five bytes, first byte lowest
    wire        traps = s_data == {3'd0, `LP_TYPE_PAGE} || s_data == {3'd0, `LP_TYPE_CONNECT};
    wire        take  = s_valid && s_ready;

    assign m_valid = s_valid && state == PASS;
    assign m_data  = s_data;
    assign m_last  = s_last;
    assign s_ready = state == COLLECT || state == DROP || (state == PASS && m_ready) || (state == REST && t_ready);

    // Header of the TRAP, then what was collected, then the rest as it comes.
    wire [15:0] length      = head[23:8];
    reg  [15:0] trap_length;
    reg  [7:0]  out;                // byte `index` of it
    wire [63:0] report      = {head, trap_length, LINK[2:0], `LP_TYPE_TRAP};
    assign t_valid = state == REPORT || (state == REST && s_valid);
    assign t_data  = state == REPORT ? out : s_data;
    assign t_last  = state == REST && s_last;

    localparam MOST = MAX_PACKET - 2 * `LP_HEADER_BYTES;
    localparam CONNECT_MOST = MOST < `LP_CONNECT_MAX_LENGTH ? MOST : `LP_CONNECT_MAX_LENGTH;
    wire is_page = head[7:0] == {3'd0, `LP_TYPE_PAGE};
    wire good    = is_page ? length == `LP_PAGE_MIN_LENGTH && head[39:24] < FRAMES[15:0]
                           : length >= `LP_CONNECT_MIN_LENGTH && length <= CONNECT_MOST[15:0];

    always @(posedge clk) begin
        ev_bad <= 1'b0;
        if (resume) hold <= 1'b0;
        case (state)
            LOOK: begin
                index <= 3'd0;
                if (s_valid && !traps)                  state <= PASS;
                if (s_valid && traps && quiet && !hold) state <= COLLECT;
            end
            COLLECT: if (take) begin
                index <= index + 3'd1;
                if (index == 3'd4) begin
                    index <= 3'd0;
                    state <= CHECK;
                end
                if (s_last) begin
                    ev_bad <= 1'b1;
                    state  <= LOOK;
                end
            end
            CHECK: begin
                ev_bad <= !good;
                state  <= good ? REPORT : DROP;
            end
            REPORT: if (t_ready) begin
                index <= index + 3'd1;
                if (index == 3'd7) state <= REST;
            end
            REST: if (take && s_last) begin
                hold  <= 1'b1;
                state <= LOOK;
            end
            default: if (take && s_last) state <= LOOK;     // PASS, DROP
        endcase
        if (rst) begin
            state  <= LOOK;
            hold   <= 1'b0;
            ev_bad <= 1'b0;
        end
    end

    wire [2:0] coming = state == REPORT && t_ready ? index + 3'd1 : index;
    always @(posedge clk) begin
        if (take && state == COLLECT) head <= {s_data, head[39:8]};
        trap_length <= length + `LP_HEADER_BYTES;
        out         <= report[8*coming +: 8];
    end

`ifdef FORMAL
`include "ni_trap.formal.v"
`endif
endmodule
`resetall
