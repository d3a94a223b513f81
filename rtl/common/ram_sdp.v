// Simple dual-port memory: one write port, one synchronous read port, one clock.
//
// Contract
//   A word is WORD_BYTES lanes of WIDTH/WORD_BYTES bits; wr_en has one bit a lane.
//   rd_data changes one clock after rd_en and holds while rd_en is low.
//   A lane that is written in the clock in which its word is read comes out undefined: the caller
//   must not use it. Simulations and proofs return the complement of the new data there, so that a
//   design which relies on either the old or the new value fails.
//   Contents are not reset. The first FIRST words, if any, hold INIT from configuration on. On iCE40 nothing may be written, and nothing
//   read is meaningful, in the first 36 clocks after configuration (reset_sync holds reset longer than that).
//
// HX8K: block RAM only, no LUT with one lane or with lanes of 8 bits; 266 to 280 MHz at 1024x32.
// Source: Lattice TN1250 (memory usage guide for iCE40), the write mask of SB_RAM40_4K.
`default_nettype none

module ram_sdp #(
    parameter WIDTH      = 8,
    parameter DEPTH      = 512,
    parameter WORD_BYTES = 1,
    parameter FIRST      = 0,
    parameter [(FIRST > 0 ? FIRST : 1)*WIDTH-1:0] INIT = 0
`ifdef FORMAL
    , parameter PROBES   = 1            // words that proofs look into
`endif
) (
    input  wire                     clk,
    input  wire [WORD_BYTES-1:0]    wr_en,
    input  wire [$clog2(DEPTH)-1:0] wr_addr,
    input  wire [WIDTH-1:0]         wr_data,
    input  wire                     rd_en,
    input  wire [$clog2(DEPTH)-1:0] rd_addr,
    output reg  [WIDTH-1:0]         rd_data
`ifdef FORMAL
    ,
    input  wire [PROBES*$clog2(DEPTH)-1:0] f_addr,
    output wire [PROBES*WIDTH-1:0]         f_word
`endif
);
    localparam LANE = WIDTH / WORD_BYTES;

    generate
        if (DEPTH < 2)                  error_depth_must_be_at_least_two u_check_depth ();
        if (LANE * WORD_BYTES != WIDTH) error_width_must_be_whole_lanes u_check_lanes ();
    endgenerate

    (* no_rw_check *) reg [WIDTH-1:0] mem [0:DEPTH-1];

    integer i;
    generate
        if (FIRST > 0) begin : g_init
            integer k;
            initial for (k = 0; k < FIRST; k = k + 1) mem[k] = INIT[WIDTH*k +: WIDTH];
        end
    endgenerate
    always @(posedge clk) begin
        for (i = 0; i < WORD_BYTES; i = i + 1)
            if (wr_en[i]) mem[wr_addr][i*LANE +: LANE] <= wr_data[i*LANE +: LANE];
        if (rd_en) rd_data <= mem[rd_addr];
`ifndef SYNTHESIS
        for (i = 0; i < WORD_BYTES; i = i + 1)
            if (rd_en && wr_en[i] && rd_addr == wr_addr)
                rd_data[i*LANE +: LANE] <= ~wr_data[i*LANE +: LANE];
`endif
    end

`ifdef FORMAL
    genvar f;
    generate
        for (f = 0; f < PROBES; f = f + 1) begin : g_probe
            assign f_word[WIDTH*f +: WIDTH] = mem[f_addr[$clog2(DEPTH)*f +: $clog2(DEPTH)]];
        end
    endgenerate
`endif
endmodule

`resetall
