// Stream register that cuts every path between its two sides, ready included.
//
// Contract
//   s_ready, m_valid and m_data are registers. One word a clock; 1 clock from s to m.
//   s_ready falls one clock after m_ready did; the word that came meanwhile is kept aside.
//   Two words fit. m_data is stable while m_valid && !m_ready.
//
// HX8K: 12 LUT4, 256 to 287 MHz at 8 bits.
// Proven: skid_buffer.formal.v, by induction.
`default_nettype none

module skid_buffer #(
    parameter WIDTH = 8
) (
    input  wire             clk,
    input  wire             rst,

    input  wire             s_valid,
    output reg              s_ready,
    input  wire [WIDTH-1:0] s_data,

    output reg              m_valid,
    input  wire             m_ready,
    output reg  [WIDTH-1:0] m_data
`ifdef FORMAL
    ,                                   // proofs look at the word kept aside
    output wire [WIDTH-1:0] f_aside
`endif
);
    reg [WIDTH-1:0] aside;              // holds a word exactly while s_ready is low

    wire move = m_ready || !m_valid;    // the output register takes a new word

    always @(posedge clk)
        if (rst) begin
            s_ready <= 1'b1;
            m_valid <= 1'b0;
        end else begin
            s_ready <= move || (s_ready && !s_valid);
            if (move) m_valid <= s_valid || !s_ready;
        end

    always @(posedge clk) begin
        if (s_ready) aside <= s_data;
        if (move)    m_data <= s_ready ? s_data : aside;
    end
`ifdef FORMAL
    assign f_aside = aside;
`include "skid_buffer.formal.v"
`endif
endmodule

`resetall
