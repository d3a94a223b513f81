`default_nettype none
// Reply unit: carries out one host request at a time and answers it with one packet.
//
// Contract:
//   A request stands on req_* until req_done, the clock before its answer's last byte stands on m_*. Register accesses: reg_en with
//   reg_* until reg_done, which gives reg_value and reg_ok. Receive buffer reads: mem_en/mem_addr, the word one clock later, which stays until
//   the next mem_en, unless mem_clash says in that clock to read again. An aligned word is read once, so its bytes in the answer are
//   those of one instant. req_last: the offset in its page of the last byte to be read.
//   m_*: the answer, a byte a clock: REG_DATA, BUF_DATA or DONE. They are registers.
//   resume, retrap (pulses): RESUME and RETRAP of a link that is `trapped`.
//
// Source: doc/protocol.md, "Packets".
module ni_reply #(
    parameter LINKS      = 1,
    parameter PAGE_BYTES = 1024,
    parameter ADDR_WIDTH = 12
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
    input  wire [$clog2(PAGE_BYTES)-1:0] req_last,

    input  wire [LINKS-1:0]      trapped,
    output wire [LINKS-1:0]      resume,
    output wire [LINKS-1:0]      retrap,

    output wire                  reg_en,
    output wire                  reg_write,
    output wire [15:0]           reg_addr,
    output wire [31:0]           reg_wdata,
    input  wire                  reg_done,
    input  wire                  reg_ok,
    input  wire [31:0]           reg_value,

    output wire                  mem_en,
    output wire [ADDR_WIDTH-3:0] mem_addr,
    input  wire [31:0]           mem_data,
    input  wire                  mem_clash,

    output reg                   m_valid,
    input  wire                  m_ready,
    output reg  [7:0]            m_data,
    output reg                   m_last
);
`include "linkproto.vh"

    localparam PW = $clog2(PAGE_BYTES);
    localparam [1:0] WAIT = 2'd0, HEAD = 2'd1, DATA = 2'd2;

    wire is_read  = req_type == `LP_TYPE_REG_READ;
    wire is_write = req_type == `LP_TYPE_REG_WRITE;
    wire is_buf   = req_type == `LP_TYPE_BUF_READ;
    wire fine     = req_status == `LP_STATUS_OK;
    wire is_resume = req_type == `LP_TYPE_RESUME;
    wire is_retrap = req_type == `LP_TYPE_RETRAP;
    wire [7:0]  link       = 8'd1 << req_via;
    wire        unused_link = |link;
    wire [LINKS-1:0] meant = trapped & link[LINKS:1];
    assign resume = go && fine && is_resume ? meant : {LINKS{1'b0}};
    assign retrap = go && fine && is_retrap ? meant : {LINKS{1'b0}};
    assign reg_en    = req_valid && state == WAIT && fine && (is_read || is_write);
    assign reg_write = is_write;
    assign reg_addr  = req_fields[15:0];
    assign reg_wdata = req_fields[47:16];
    wire   go        = req_valid && state == WAIT && (reg_en ? reg_done : 1'b1);

    // What is answered: a register's value, bytes of the receive buffer, or a status.
    reg         has_value, has_data, wrong;
    reg  [31:0] value;
    wire [PW:0] count  = req_fields[32 +: PW + 1];      // no more than a page
    wire        traps  = is_resume || is_retrap;
    wire [7:0]  status = !fine ? req_status : !wrong ? `LP_STATUS_OK : traps ? `LP_STATUS_NOT_TRAPPED : `LP_STATUS_BAD_ADDRESS;

    // The answer in words of four bytes: two for the header and what follows it, half a one for the rest of a value; then the buffer's.
    reg  [1:0]  state;
    reg  [3:0]  place;              // number of the next byte; in DATA the lower two bits are its lane
    wire [15:0] length = has_value ? 16'd7 : has_data ? {{(15 - PW){1'b0}}, count} + 16'd5 : 16'd2;
    wire [7:0]  kind   = has_value ? {3'd0, `LP_TYPE_REG_DATA} : has_data ? {3'd0, `LP_TYPE_BUF_DATA} : {req_via, `LP_TYPE_DONE};
    wire [1:0]  lane   = place[1:0];
    wire [31:0] header = {req_tag, length, kind};
    wire [31:0] addr   = {{(32 - ADDR_WIDTH){1'b0}}, req_fields[ADDR_WIDTH-1:0]};
    wire [31:0] fields = has_value ? {value[15:0], req_fields[15:0]} : has_data ? addr : {24'd0, status};
    wire [7:0]  byte_0 = header[8*lane +: 8];
    wire [7:0]  byte_1 = fields[8*lane +: 8];
    wire [7:0]  byte_2 = lane[0] ? value[31:24] : value[23:16];
    wire [7:0]  byte_3 = mem_data[8*lane +: 8];

    // Words of the buffer, which stay on mem_data while their bytes are sent: the next is read in the clock in which the last byte is loaded.
    reg                   fresh, got;       // mem_data was read in the clock before, or longer ago
    reg                   at_end;           // it has the last byte
    reg  [ADDR_WIDTH-3:0] word;             // to be read next
    wire step    = !m_valid || m_ready;
    wire usable  = got || (fresh && !mem_clash);
    wire load    = step && (state == HEAD || (state == DATA && usable));
    wire used_up = load && state == DATA && place[1:0] == 2'd3;
    assign mem_en   = state != WAIT && !fresh && (!got || used_up);
    assign mem_addr = word;
    always @(posedge clk) begin
        fresh <= mem_en;
        got   <= state != WAIT && usable && !used_up;
        if (mem_en) at_end <= word[PW-3:0] == req_last[PW-1:2];
        if (state == WAIT)            word <= req_fields[ADDR_WIDTH-1:2];
        else if (fresh && !mem_clash) word <= word + 1'b1;
        if (rst) fresh <= 1'b0;
    end

    wire follows = has_data && count != {(PW + 1){1'b0}};
    wire ends    = state == HEAD ? place == (has_value ? 4'd9 : has_data ? 4'd7 : 4'd4) && !follows : at_end && place[1:0] == req_last[1:0];
    assign req_done = load && ends;
    always @(posedge clk) begin
        if (reg_done) value <= reg_value;
        if (step) begin
            m_valid <= load;
            m_last  <= ends;
            m_data  <= state == DATA ? byte_3 : place[3] ? byte_2 : place[2] ? byte_1 : byte_0;
        end
        if (load) place <= place + 4'd1;
        case (state)
            WAIT: begin
                place     <= 4'd0;
                has_value <= fine && is_read && reg_ok;
                has_data  <= fine && is_buf;
                wrong     <= traps ? meant == {LINKS{1'b0}} : reg_en && !reg_ok;
                if (go) state <= HEAD;
            end
            HEAD: if (step && has_data && place == 4'd7) begin
                state      <= DATA;
                place[1:0] <= req_fields[1:0];
            end
            default: ;
        endcase
        if (req_done) state <= WAIT;
        if (rst) begin
            state   <= WAIT;
            m_valid <= 1'b0;
        end
    end
endmodule
`resetall
