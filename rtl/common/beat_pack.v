`default_nettype none
// Bytes to beats: gathers a packet's bytes into beats of WIDTH.
//
// Contract:
//   s_*: packets, a byte a clock. m_*: the same packets in beats: byte i of a beat is m_data[8*i +: 8] and there if m_keep[i]; all bytes of
//   a beat are there but in a packet's last, m_last, which has the lowest ones.
//   A beat shows in the clock in which its last byte is at s_*. With WIDTH 1 there is nothing between s_* and m_*.
//   `clear` (pulse): the packet in progress is dropped, with a byte that moves in this clock; the next byte is a packet's first.
module beat_pack #(
    parameter WIDTH = 4                 // 1, or a power of two
) (
    input  wire               clk,
    input  wire               clear,

    input  wire               s_valid,
    output wire               s_ready,
    input  wire [7:0]         s_data,
    input  wire               s_last,

    output wire               m_valid,
    input  wire               m_ready,
    output wire [8*WIDTH-1:0] m_data,
    output wire [WIDTH-1:0]   m_keep,
    output wire               m_last
);
    assign m_last = s_last;
    generate
        if (WIDTH == 1) begin : g_byte
            assign {m_valid, m_data, m_keep} = {s_valid, s_data, 1'b1};
            assign s_ready = m_ready;
            wire unused = clk | clear;
        end else begin : g_beat
            reg [8*WIDTH-9:0] data;
            reg [WIDTH-2:0]   keep;     // bytes that wait in data
            wire take = s_valid && s_ready;
            assign m_valid = s_valid && (s_last || keep[WIDTH-2]);
            assign m_keep  = {keep, 1'b1};
            assign s_ready = m_ready || !m_valid;

            genvar i;
            assign m_data[8*WIDTH-8 +: 8] = s_data;
            for (i = 0; i < WIDTH - 1; i = i + 1) begin : g_lane
                always @(posedge clk) if (take && !keep[i]) data[8*i +: 8] <= s_data;     // the last one of these stays
                assign m_data[8*i +: 8] = keep[i] ? data[8*i +: 8] : s_data;
            end
            always @(posedge clk)
                if (clear || (take && m_valid)) keep <= {WIDTH-1{1'b0}};
                else if (take)                  keep <= m_keep[WIDTH-2:0];
        end
    endgenerate
endmodule
`resetall
