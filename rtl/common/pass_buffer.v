// Stream buffer that cuts the path of ready and adds no clock.
//
// Contract
//   s_ready is a register. m_valid and m_data follow s_* in the same clock; a word that m_* does not take
//   at once is kept aside, and s_ready falls for as long as it waits. One word a clock.
//   m_data is stable while m_valid && !m_ready, if s_data is stable while s_valid && !s_ready.
//   rst drops the word kept aside.
//
// HX8K: 11 LUT4 at 9 bits.
// Proven: pass_buffer.formal.v, by induction.
`default_nettype none

module pass_buffer #(
    parameter WIDTH = 8
) (
    input  wire             clk,
    input  wire             rst,

    input  wire             s_valid,
    output wire             s_ready,
    input  wire [WIDTH-1:0] s_data,

    output wire             m_valid,
    input  wire             m_ready,
    output wire [WIDTH-1:0] m_data
);
    reg             full;
    reg [WIDTH-1:0] aside;

    assign s_ready = !full;
    assign m_valid = full || s_valid;
    assign m_data  = full ? aside : s_data;

    always @(posedge clk) begin
        full <= m_valid && !m_ready && !rst;
        if (!full) aside <= s_data;
    end
`ifdef FORMAL
`include "pass_buffer.formal.v"
`endif
endmodule

`resetall
