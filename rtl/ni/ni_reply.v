`default_nettype none
// Reply unit: carries out one host request at a time and answers it with one packet.
//
// Contract:
//   A request stands on req_* until req_done, the clock in which its answer's last byte appears on m_*; all but req_valid stand a clock
//   before it. req_turn: its fields go round by a byte; req_load: what is read of a register takes the place of their upper four bytes, in
//   each clock of the access but its first, so that its value stands there at last.
//   Register accesses: reg_en with reg_* until reg_done, which gives reg_ok.
//   Receive buffer reads: mem_en, the word one clock later, which stays until the next mem_en, unless mem_clash says in that clock to read
//   again; the address moves on to the next word with mem_next. mem_last: it is that of the last word, whose last byte is last_lane. An
//   aligned word is read once, so its bytes in the answer are those of one instant.
//   m_*: the answer, as ni_compose takes it: REG_DATA, BUF_DATA or DONE.
//   resume, retrap (pulses): RESUME and RETRAP of a link that is `trapped`.
//
// Source: doc/protocol.md, "Packets".
module ni_reply #(
    parameter LINKS      = 1,
    parameter PAGE_BYTES = 1024,
    parameter WORD       = 4
) (
    input  wire                  clk,
    input  wire                  rst,

    input  wire                  req_valid,
    output wire                  req_done,
    input  wire [4:0]            req_type,
    input  wire [2:0]            req_via,
    input  wire [7:0]            req_tag,
    input  wire [7:0]            req_status,
    input  wire [47:0]           req_fields,
    output wire                  req_turn,
    output reg                   req_load,

    input  wire [LINKS-1:0]      trapped,
    output wire [LINKS-1:0]      resume,
    output wire [LINKS-1:0]      retrap,

    output wire                  reg_en,
    output wire                  reg_write,
    output wire [15:0]           reg_addr,
    output wire [31:0]           reg_wdata,
    input  wire                  reg_done,
    input  wire                  reg_ok,

    output wire                  mem_en,
    output wire                  mem_next,
    input  wire                  mem_last,
    input  wire [$clog2(WORD)-1:0] last_lane,
    input  wire [8*WORD-1:0]     mem_data,
    input  wire                  mem_clash,

    output reg                   m_valid,
    input  wire                  m_ready,
    output wire [7:0]            m_kind,
    output wire [15:0]           m_length,
    output reg  [7:0]            m_data,
    output reg                   m_last
);
`include "linkproto.vh"

    localparam PW = $clog2(PAGE_BYTES);
    localparam [1:0] WAIT = 2'd0, HEAD = 2'd1, DATA = 2'd2, DONE = 2'd3;
    reg  [1:0]  state;

    reg         accesses, is_write, reads, traps, resumes, fine;
    reg  [LINKS-1:0] meant;         // the link of RESUME and RETRAP, if it is trapped
    wire [7:0]  link = 8'd1 << req_via;
    wire        unused_link = |link;
    always @(posedge clk) begin
        fine     <= req_status == `LP_STATUS_OK;
        accesses <= req_status == `LP_STATUS_OK && (req_type == `LP_TYPE_REG_READ || req_type == `LP_TYPE_REG_WRITE);
        is_write <= req_type == `LP_TYPE_REG_WRITE;
        reads    <= req_status == `LP_STATUS_OK && req_type == `LP_TYPE_BUF_READ;
        traps    <= req_status == `LP_STATUS_OK && (req_type == `LP_TYPE_RESUME || req_type == `LP_TYPE_RETRAP);
        resumes  <= req_type == `LP_TYPE_RESUME;
        meant    <= trapped & link[LINKS:1];
    end
    assign reg_en    = req_valid && state == WAIT && accesses;
    assign reg_write = is_write;
    assign reg_addr  = req_fields[15:0];
    assign reg_wdata = req_fields[47:16];
    always @(posedge clk) req_load <= reg_en && !is_write && !reg_done && !rst;
    wire   go        = req_valid && state == WAIT && (!accesses || reg_done);
    assign resume    = go && traps && resumes  ? meant : {LINKS{1'b0}};
    assign retrap    = go && traps && !resumes ? meant : {LINKS{1'b0}};

    // What is answered: a register's value, bytes of the receive buffer, or a status.
    reg         has_value, has_data, follows, wrong;
    wire [PW:0] count  = req_fields[32 +: PW + 1];      // no more than a page; until the fields go round
    wire [7:0]  status = !fine ? req_status : !wrong ? `LP_STATUS_OK : traps ? `LP_STATUS_NOT_TRAPPED : `LP_STATUS_BAD_ADDRESS;

    // The answer: its head, the tag, then the fields or a status, then bytes of the buffer.
    reg  [2:0]  place;              // 0: the head, then number of the next byte
    reg         later;              // it is behind the tag, in HEAD
    reg  [PW+1:0] span;             // of an answer with data, behind its header
    always @(posedge clk) span <= {1'b0, count} + 5;
    assign      m_length = has_value ? 16'd7 : has_data ? {{(14 - PW){1'b0}}, span} : 16'd2;
    assign      m_kind   = has_value ? {3'd0, `LP_TYPE_REG_DATA} : has_data ? {3'd0, `LP_TYPE_BUF_DATA} : {req_via, `LP_TYPE_DONE};
    localparam [WORD-1:0] FIRST_LANE = 1;
    reg  [WORD-1:0] lane;           // of the next byte in DATA, a bit each; before it none
    reg  [7:0]  of_word;            // that byte of the word
    integer k;
    always @* begin
        of_word = 8'd0;
        for (k = 0; k < WORD; k = k + 1) of_word = of_word | ({8{lane[k]}} & mem_data[8*k +: 8]);
    end
    wire [7:0]  field  = !later ? req_tag : has_value || has_data ? req_fields[7:0] : status;

    // Words of the buffer, which stay on mem_data while their bytes are sent: the next is read in the clock in which the last byte is
    // loaded.
    reg         fresh, got;         // mem_data was read in the clock before, or longer ago
    reg         at_end;             // it has the last byte
    wire step    = !m_valid || m_ready;
    wire usable  = got || (fresh && !mem_clash);
    wire load    = step && (state == HEAD || (state == DATA && usable));
    wire used_up = load && lane[WORD-1];
    assign req_turn = step && later;
    wire spent   = step && lane[WORD-1];     // used_up, where the word was read longer ago
    assign mem_en   = state != WAIT && !fresh && (!got || spent);
    assign mem_next = fresh && !mem_clash;
    always @(posedge clk) begin
        fresh <= mem_en && !rst;
        got   <= state != WAIT && usable && !used_up;
        if (mem_en) at_end <= mem_last;
    end

    wire ends    = state == HEAD ? place == (has_value ? 3'd7 : has_data ? 3'd5 : 3'd2) && !follows : at_end && lane[last_lane];
    assign req_done = state == DONE;
    always @(posedge clk) begin
        if (step) begin
            m_valid <= load;
            m_last  <= ends;
            m_data  <= of_word | ({8{state == HEAD}} & field);
        end
        if (load) {place, lane} <= {place + 3'd1, lane[WORD-2:0], lane[WORD-1]};
        if (load && state == HEAD && place == 3'd1) later <= 1'b1;
        case (state)
            WAIT: begin
                place     <= 3'd0;
                lane      <= {WORD{1'b0}};
                has_value <= accesses && !is_write && reg_ok;
                has_data  <= reads;
                follows   <= reads && count != {(PW + 1){1'b0}};
                wrong     <= traps ? meant == {LINKS{1'b0}} : accesses && !reg_ok;
                if (go) state <= HEAD;
            end
            HEAD: if (step && has_data && place == 3'd5) begin
                state      <= DATA;
                lane       <= FIRST_LANE << req_fields[24 +: $clog2(WORD)];        // of the address, which has gone round by three bytes
                later      <= 1'b0;
            end
            default: ;
        endcase
        if (load && ends)  state <= DONE;
        if (state == DONE) state <= WAIT;
        if (rst || state == WAIT || state == DONE) later <= 1'b0;
        if (rst) begin
            state   <= WAIT;
            m_valid <= 1'b0;
        end
    end
endmodule
`resetall
