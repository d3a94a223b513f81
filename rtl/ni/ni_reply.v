`default_nettype none
// Reply unit: carries out one host request at a time and answers it with one packet.
//
// Contract:
//   A request stands on req_* until req_done. Register accesses: reg_en with reg_* until reg_done, which gives reg_value
//   and reg_ok. Receive buffer reads: mem_en/mem_addr, the word one clock later, unless mem_clash says a clock after that to read again. An aligned word
//   is read once, so its bytes in the answer are those of one instant.
//   m_*: the answer, a byte a clock: REG_DATA, BUF_DATA or DONE.
//   resume, retrap (pulses): RESUME and RETRAP of a link that is `trapped`.
//
// Source: doc/protocol.md, "Packets".
module ni_reply #(
    parameter LINKS      = 1,
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

    output wire                  m_valid,
    input  wire                  m_ready,
    output wire [7:0]            m_data,
    output wire                  m_last
);
`include "linkproto.vh"

    localparam [1:0] WAIT = 2'd0, HEAD = 2'd1, DATA = 2'd2, LOAD = 2'd3;

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

    // The answer's header and fields wait in a shift register, first byte lowest, and then each word of the data.
    reg  [1:0]  state;
    reg  [79:0] head;
    reg  [3:0]  head_left;
    reg         follows;            // data of the receive buffer come after the header
    reg  [1:0]  lane;
    reg  [15:0] left;
    reg         one_left;              // left is 1
    wire [15:0] count    = req_fields[47:32];
    wire [15:0] buf_size = count + 16'd5;
    wire [7:0]  status   = !fine ? req_status : reg_en && !reg_ok ? `LP_STATUS_BAD_ADDRESS
                         : (is_resume || is_retrap) && meant == {LINKS{1'b0}} ? `LP_STATUS_NOT_TRAPPED : `LP_STATUS_OK;
    wire        move     = m_valid && m_ready;

    assign m_valid  = state == HEAD || state == DATA;
    assign m_last   = state == HEAD ? head_left == 4'd0 && !follows : one_left;
    assign m_data   = head[8*lane +: 8];
    assign req_done = move && m_last;

    // The next word is read while the last one is sent.
    localparam [1:0] READ = 2'd0, AWAIT = 2'd1, CHECK = 2'd2, HAVE = 2'd3;
    reg  [1:0] reading;
    reg  [ADDR_WIDTH-3:0] word;
    reg  [1:0] first_lane;
    wire have = reading == HAVE || (reading == CHECK && !mem_clash);
    wire emptied = move && !m_last && (state == HEAD ? head_left == 4'd0 : lane == 2'd3);
    wire load = have && (state == LOAD || emptied);
    assign mem_addr = word;
    assign mem_en   = reading == READ;
    always @(posedge clk) begin
        case (reading)
            READ:    reading <= AWAIT;
            AWAIT:   reading <= CHECK;
            CHECK:   reading <= mem_clash ? READ : HAVE;
            default: ;
        endcase
        if (load) word <= word + 1'b1;
        if (load || state == WAIT) reading <= READ;
        if (state == WAIT) word <= req_fields[ADDR_WIDTH-1:2];
    end

    always @(posedge clk) begin
        case (state)
            WAIT: if (go) begin
                state   <= HEAD;
                lane       <= 2'd0;
                first_lane <= req_fields[1:0];
                left    <= count;
                one_left   <= count == 16'd1;
                follows <= 1'b0;
                if (fine && is_read && reg_ok) begin
                    head      <= {reg_value, reg_addr, req_tag, 16'd7, 3'd0, `LP_TYPE_REG_DATA};
                    head_left <= 4'd9;
                end else if (fine && is_buf) begin
                    head      <= {16'd0, req_fields[31:0], req_tag, buf_size, 3'd0, `LP_TYPE_BUF_DATA};
                    head_left <= 4'd7;
                    follows   <= count != 16'd0;
                end else begin
                    head      <= {40'd0, status, req_tag, 16'd2, req_via, `LP_TYPE_DONE};
                    head_left <= 4'd4;
                end
            end
            HEAD: if (move) begin
                head      <= {8'd0, head[79:8]};
                head_left <= head_left - 4'd1;
                if (head_left == 4'd0) state <= follows ? LOAD : WAIT;
            end
            default: if (move) begin
                left  <= left - 16'd1;
                one_left <= left == 16'd2;
                lane <= lane + 2'd1;
                if (lane == 2'd3) state <= LOAD;
                if (m_last)       state <= WAIT;
            end
        endcase
        if (load) begin
            head[31:0] <= mem_data;
            lane       <= first_lane;
            first_lane <= 2'd0;
            state      <= DATA;
        end
        if (rst) state <= WAIT;
    end
endmodule
`resetall
