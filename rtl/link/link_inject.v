`default_nettype none
// Error injector: damages the symbols of one port on their way to the PHY, after a plan that follows from a seed. For test builds.
//
// Contract:
//   s_sym / s_ready from the link endpoint, m_sym / m_ready to the PHY, `tick` once a symbol time. Until it is told to run it changes
//   nothing and delays nothing.
//   wr_*: writes to its registers, of which `running`, `cut`, `symbols` and `hits` can be read. CONTROL with RUN begins the plan at
//   symbol 0, the first one taken some four clocks later; without, the plan ends. All other registers are to be written before.
//   Symbols count as they are taken, IDLE only at a tick: so a PHY that does not send IDLE has no more of them than one that does.
//   For equal seeds and rates the symbols hit and what happens to them are those of testbench.FaultSource. A dropped symbol
//   becomes IDLE; of a duplicated one the second is no further symbol. ev_hit pulses for each symbol hit.
//   With CUT set OPEN goes out in place of every symbol, plan or not.
//
// HX8K: 760 LUT4, 112 to 115 MHz. Source: doc/protocol.md, "Error injector"; xorshift generators: Marsaglia 2003.
module link_inject (
    input  wire        clk,
    input  wire        rst,

    input  wire        tick,
    input  wire [8:0]  s_sym,
    output wire        s_ready,
    output wire [8:0]  m_sym,
    input  wire        m_ready,

    input  wire        wr_en,
    input  wire [3:0]  wr_reg,
    input  wire [31:0] wr_data,
    output reg         running,
    output reg         cut,
    output reg  [31:0] symbols,
    output reg  [31:0] hits,

    output reg         ev_hit
);
`include "linkproto.vh"

    localparam [2:0] DROP = 3'd2, DUPLICATE = 3'd3, BURST = 3'd4, STUCK = 3'd5, UNPLUG = 3'd6;
    localparam [31:0] NOISE_STEP = 32'h9E3779B9;

    // Registers. A length is kept as the bits of a number that make it.
    reg  [63:0] seed;
    reg  [31:0] count;
    reg  [28:0] flip_chance, drop_chance, duplicate_chance, burst_chance, stuck_chance, unplug_chance;
    reg  [14:0] burst_mask, stuck_mask, unplug_mask;
    reg  [8:0]  open;
    function [14:0] ones(input [3:0] n);
        ones = ~(15'h7FFF << n);
    endfunction

    wire control = wr_en && wr_reg == `LP_INJECT_CONTROL;
    wire start   = control && wr_data[`LP_INJECT_CONTROL_RUN_BIT];
    always @(posedge clk) begin
        if (control) cut <= wr_data[`LP_INJECT_CONTROL_CUT_BIT];
        if (wr_en)
            case (wr_reg)
                `LP_INJECT_SEED_LO:   seed[31:0]       <= wr_data;
                `LP_INJECT_SEED_HI:   seed[63:32]      <= wr_data;
                `LP_INJECT_COUNT:     count            <= wr_data;
                `LP_INJECT_FLIP:      flip_chance      <= wr_data[28:0];
                `LP_INJECT_DROP:      drop_chance      <= wr_data[28:0];
                `LP_INJECT_DUPLICATE: duplicate_chance <= wr_data[28:0];
                `LP_INJECT_BURST:     burst_chance     <= wr_data[28:0];
                `LP_INJECT_STUCK:     stuck_chance     <= wr_data[28:0];
                `LP_INJECT_UNPLUG:    unplug_chance    <= wr_data[28:0];
                `LP_INJECT_LENGTHS: begin
                    burst_mask  <= ones(wr_data[`LP_INJECT_LENGTHS_BURST_LSB +: `LP_INJECT_LENGTHS_BURST_WIDTH]);
                    stuck_mask  <= ones(wr_data[`LP_INJECT_LENGTHS_STUCK_LSB +: `LP_INJECT_LENGTHS_STUCK_WIDTH]);
                    unplug_mask <= ones(wr_data[`LP_INJECT_LENGTHS_UNPLUG_LSB +: `LP_INJECT_LENGTHS_UNPLUG_WIDTH]);
                end
                `LP_INJECT_OPEN:      open             <= wr_data[8:0];
                default: ;
            endcase
        if (rst) cut <= 1'b0;
    end

    // What happens to the symbol at s_sym, decided while the one before it was there.
    reg        hit, replace, twice, noisy;
    reg [8:0]  mask, value;
    wire [8:0] noise;
    reg        again;                   // the first of two is out
    wire       idle    = s_sym == `LP_SYM_IDLE;
    wire       counts  = running && (tick || !idle || again);
    wire       first   = counts && twice && !again;
    wire       counted = counts && s_ready;
    assign s_ready = m_ready && !first;
    assign m_sym   = cut ? open : !counts ? s_sym : replace ? value : s_sym ^ (noisy ? noise : mask);

    // The number of a symbol, three before its turn; with what it is compared, two before; what it means, one before.
    reg  [2:0]  prime;                  // the first three symbols after `start`
    reg  [63:0] number;
    wire        move   = prime != 3'b000 || counted;
    wire [63:0] step_a = number ^ (number << 13);
    wire [63:0] step_b = step_a ^ (step_a >> 7);
    wire [63:0] step_c = step_b ^ (step_b << 17);

    wire [2:0]  code  = number[63:61];
    reg  [60:0] thrown;
    reg  [2:0]  thrown_code;
    reg  [28:0] chance;
    reg  [14:0] most;
    wire [28:0] chance_of = code == UNPLUG ? unplug_chance : code == STUCK ? stuck_chance : code == BURST ? burst_chance
                       : code == DUPLICATE ? duplicate_chance : code == DROP ? drop_chance : &code ? 29'd0 : flip_chance;
    wire [19:0] ninth = {1'b0, thrown[31:16], 3'd0} + {4'd0, thrown[31:16]};
    wire        unused_ninth = |ninth[15:0];

    reg         due;
    reg  [2:0]  due_code;
    reg  [3:0]  due_bit;
    reg  [14:0] due_more;
    reg  [31:0] due_low;

    // A fault that lasts: how many symbols more, and the sum that makes a burst's noise.
    reg  [14:0] more;
    reg         bursts;
    reg  [31:0] sum;
    wire        lasts    = more != 15'd0;
    wire        burst    = lasts ? bursts : due && due_code == BURST;
    wire [31:0] sum_next = lasts ? sum + NOISE_STEP : due_low;
    assign      noise    = {sum[31:24], sum[23] || sum[31:23] == 9'd0};
    wire [8:0]  one_bit  = 9'd1 << due_bit;

    always @(posedge clk) begin
        if (start)     number <= seed;
        else if (move) number <= step_c;

        if (move) begin
            thrown      <= number[60:0];
            thrown_code <= code;
            chance      <= chance_of;
            most        <= code == UNPLUG ? unplug_mask : code == STUCK ? stuck_mask : burst_mask;

            due      <= thrown[60:32] < chance;
            due_code <= thrown_code;
            due_bit  <= ninth[19:16];
            due_more <= thrown[30:16] & most;
            due_low  <= thrown[31:0];

            hit     <= lasts || due;
            noisy   <= burst;
            mask    <= !lasts && due && due_code < DROP ? one_bit : 9'd0;
            replace <= lasts ? !bursts : due && (due_code == DROP || due_code == STUCK || due_code == UNPLUG);
            twice   <= !lasts && due && due_code == DUPLICATE;
            if (!lasts) begin
                value  <= due_code == DROP ? `LP_SYM_IDLE : due_code == STUCK ? due_low[8:0] : open;
                bursts <= due_code == BURST;
            end
            sum  <= sum_next;
            more <= lasts ? more - 15'd1 : due && due_code[2] ? due_more : 15'd0;
        end
        if (prime[0]) {due, more} <= 16'd0;
    end

    reg [31:0] left;                    // symbols until COUNT, less one
    reg        endless, ends;
    always @(posedge clk) begin
        prime  <= control ? {2'b00, start} : {prime[1:0], 1'b0};
        ev_hit <= counted && hit;
        again  <= (again || (first && m_ready)) && !s_ready;
        if (counted) begin
            symbols <= symbols + 32'd1;
            left    <= left - 32'd1;
            ends    <= left == 32'd1 && !endless;
            if (ends) running <= 1'b0;
        end
        if (ev_hit) hits <= hits + 32'd1;
        if (prime[2]) running <= 1'b1;
        if (control) begin
            running <= 1'b0;
            again   <= 1'b0;
        end
        if (start) begin
            ev_hit  <= 1'b0;
            symbols <= 32'd0;
            hits    <= 32'd0;
            left    <= count - 32'd1;
            endless <= count == 32'd0;
            ends    <= count == 32'd1;
        end
        if (rst) begin
            {running, again, ev_hit} <= 3'd0;
            prime   <= 3'b000;
            symbols <= 32'd0;
            hits    <= 32'd0;
        end
    end
endmodule
`resetall
