`default_nettype none
// A small RISC-V core: LUI, ADDI, ANDI, ORI, XORI, ADD, SUB, AND, OR, XOR, LW, SW, BEQ, BNE, JAL, JALR and EBREAK of RV32I, one memory
// access at a time. Any other instruction traps, as EBREAK does: it stops with trap at 1.
//
// Bus: mem_valid, mem_write, mem_addr and mem_wdata stay until mem_ready, which may come in the same clock; mem_rdata counts with it.
// Source: The RISC-V Instruction Set Manual, volume I, RV32I.
module core (
    input  wire        clk,
    input  wire        rst,
    output reg         mem_valid,
    input  wire        mem_ready,
    output reg         mem_write,
    output reg  [31:0] mem_addr,
    output reg  [31:0] mem_wdata,
    input  wire [31:0] mem_rdata,
    output reg         trap
);
    localparam [1:0] FETCH = 2'd0, EXECUTE = 2'd1, MEMORY = 2'd2;
    localparam [6:0] LUI = 7'h37, OP_IMM = 7'h13, OP = 7'h33, LOAD = 7'h03, STORE = 7'h23, BRANCH = 7'h63, JAL = 7'h6F, JALR = 7'h67;

    reg [1:0]  state;
    reg [31:0] pc, inst;
    reg [31:0] x [0:31];

    wire [6:0]  opcode = inst[6:0];
    wire [2:0]  kind   = inst[14:12];
    wire [4:0]  rd     = inst[11:7];
    wire [31:0] a      = inst[19:15] == 5'd0 ? 32'd0 : x[inst[19:15]];
    wire [31:0] b      = inst[24:20] == 5'd0 ? 32'd0 : x[inst[24:20]];
    wire [31:0] imm_i  = {{20{inst[31]}}, inst[31:20]};
    wire [31:0] imm_s  = {{20{inst[31]}}, inst[31:25], inst[11:7]};
    wire [31:0] imm_b  = {{20{inst[31]}}, inst[7], inst[30:25], inst[11:8], 1'b0};
    wire [31:0] imm_j  = {{12{inst[31]}}, inst[19:12], inst[20], inst[30:21], 1'b0};

    wire        reg_op = opcode == OP;
    wire [31:0] other  = reg_op ? b : imm_i;
    reg  [31:0] result;
    reg         known;          // the operation is one of those above
    always @* begin
        known = !reg_op || inst[31:25] == 7'd0 || (inst[31:25] == 7'h20 && kind == 3'd0);
        case (kind)
            3'd0:    result = reg_op && inst[30] ? a - other : a + other;
            3'd4:    result = a ^ other;
            3'd6:    result = a | other;
            3'd7:    result = a & other;
            default: {known, result} = 33'd0;
        endcase
    end

    wire taken = (a == b) != kind[0];

    // The next pc, and what goes to rd, of an instruction without access to memory.
    reg         legal, writes;
    reg  [31:0] next, value;
    always @* begin
        {legal, writes, next, value} = {1'b1, 1'b1, pc + 32'd4, result};
        case (opcode)
            LUI:        value = {inst[31:12], 12'd0};
            OP_IMM, OP: legal = known;
            BRANCH: begin
                {legal, writes} = {kind[2:1] == 2'd0, 1'b0};
                if (taken) next = pc + imm_b;
            end
            JAL:        {next, value} = {pc + imm_j, pc + 32'd4};
            JALR: begin
                legal         = kind == 3'd0;
                {next, value} = {(a + imm_i) & ~32'd1, pc + 32'd4};
            end
            LOAD, STORE: {legal, writes} = {kind == 3'd2, 1'b0};
            default:    legal = 1'b0;
        endcase
    end

    always @(posedge clk) begin
        case (state)
            FETCH: if (mem_valid && mem_ready) begin
                inst      <= mem_rdata;
                mem_valid <= 1'b0;
                state     <= EXECUTE;
            end
            EXECUTE: if (!legal) trap <= 1'b1;
            else begin
                if (writes) x[rd] <= value;
                pc        <= next;
                mem_valid <= 1'b1;
                mem_addr  <= next;
                state     <= FETCH;
                if (opcode == LOAD || opcode == STORE) begin
                    mem_addr  <= a + (opcode == STORE ? imm_s : imm_i);
                    mem_write <= opcode == STORE;
                    mem_wdata <= b;
                    state     <= MEMORY;
                end
            end
            default: if (mem_ready) begin // MEMORY
                if (!mem_write) x[rd] <= mem_rdata;
                mem_write <= 1'b0;
                mem_addr  <= pc;
                state     <= FETCH;
            end
        endcase
        if (rst) begin
            {state, pc, mem_addr} <= {FETCH, 64'd0};
            {mem_valid, mem_write, trap} <= 3'b100;
        end
    end
endmodule
`resetall
