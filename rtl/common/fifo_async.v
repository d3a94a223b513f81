// Stream FIFO between two clocks that have nothing to do with each other.
//
// Contract
//   DEPTH words fit. s_ready, m_valid are registers; m_data is the memory's output register.
//   One word a clock on each side. A word put into an empty FIFO shows at the third m_clk edge
//   after the s_clk edge that took it; a place that was read is free at the third s_clk edge after.
//   s_rst and m_rst come from one reset, each synchronised to its clock (reset_sync), and overlap:
//   at least 4 clocks of each; one side alone must not be reset while the other runs. What is inside is lost.
//
// HX8K: 35 LUT4, 173 MHz at 16x9; 66 LUT4, 136 to 146 MHz at 512x9.
// Proven: fifo_async.formal.v, by induction.
// Source: C. Cummings, "Simulation and Synthesis Techniques for Asynchronous FIFO Design", SNUG 2002
// (Gray-coded pointers through two-flop synchronisers).
`default_nettype none

module fifo_async #(
    parameter WIDTH = 9,
    parameter DEPTH = 16                // power of two
) (
    input  wire             s_clk,
    input  wire             s_rst,
    input  wire             s_valid,
    output reg              s_ready,
    input  wire [WIDTH-1:0] s_data,

    input  wire             m_clk,
    input  wire             m_rst,
    output reg              m_valid,
    input  wire             m_ready,
    output wire [WIDTH-1:0] m_data
);
    localparam AW = $clog2(DEPTH);

    generate
        if (DEPTH != 1 << AW || DEPTH < 4) error_depth_must_be_a_power_of_two_from_four u_check_depth ();
    endgenerate

    function [AW:0] gray(input [AW:0] x);
        gray = x ^ {1'b0, x[AW:1]};
    endfunction

    // Writer: its pointer in binary and in Gray code, and the reader's as it was some clocks ago.
    reg  [AW:0] wp, wp_gray;
    wire [AW:0] rp_seen;
    wire        push = s_valid && s_ready;
    wire [AW:0] wp_n = wp + {{AW{1'b0}}, push};
    // A full memory: the Gray codes differ in their two upper bits only.
    wire [AW:0] wp_full = rp_seen ^ {2'b11, {AW-1{1'b0}}};

    always @(posedge s_clk)
        if (s_rst) begin
            wp      <= 0;
            wp_gray <= 0;
            s_ready <= 1'b0;
        end else begin
            wp      <= wp_n;
            wp_gray <= gray(wp_n);
            s_ready <= gray(wp_n) != wp_full;
        end

    // Reader: the memory is read every clock at the word that is the oldest unread one afterwards;
    // that word shows if it is known to be written.
    reg  [AW:0] rp, rp_gray;
    wire [AW:0] wp_seen;
    wire        pop  = m_valid && m_ready;
    wire [AW:0] rp_n = rp + {{AW{1'b0}}, pop};

    always @(posedge m_clk)
        if (m_rst) begin
            rp      <= 0;
            rp_gray <= 0;
            m_valid <= 1'b0;
        end else begin
            rp      <= rp_n;
            rp_gray <= gray(rp_n);
            m_valid <= gray(rp_n) != wp_seen;
        end

`ifdef FORMAL
    wire [AW:0]      f_wp_first, f_rp_first, f_me;
    wire [WIDTH-1:0] f_word;
`endif
    genvar i;
    generate
        for (i = 0; i <= AW; i = i + 1) begin : seen
            sync_bit u_wp (
                .clk(m_clk), .d(wp_gray[i]), .q(wp_seen[i])
`ifdef FORMAL
                , .f_first(f_wp_first[i])
`endif
            );
            sync_bit u_rp (
                .clk(s_clk), .d(rp_gray[i]), .q(rp_seen[i])
`ifdef FORMAL
                , .f_first(f_rp_first[i])
`endif
            );
        end
    endgenerate

    ram_2clk #(.WIDTH(WIDTH), .DEPTH(DEPTH)) u_ram (
        .wr_clk(s_clk), .wr_en(push), .wr_addr(wp[AW-1:0]), .wr_data(s_data),
        .rd_clk(m_clk), .rd_en(1'b1), .rd_addr(rp_n[AW-1:0]), .rd_data(m_data)
`ifdef FORMAL
        , .f_addr(f_me[AW-1:0]), .f_word(f_word)
`endif
    );
`ifdef FORMAL
`include "fifo_async.formal.v"
`endif
endmodule

`resetall
