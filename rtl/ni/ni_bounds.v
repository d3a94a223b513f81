`default_nettype none
// Where a run of bytes ends in the page that it begins in, and whether it ends there: the check of every access to the receive buffer.
//
// Contract:
//   The run begins at offset `first` and has count + 1 - less bytes, between none and a page: less is one more than what count counts
//   besides them. With `load`, from the next clock on: `last` is the offset of its last byte, modulo the page, one before the first if
//   there is none; `fits`: the run is within the page. `first` is that of the clock of `load`, count that of the clock before.
//
// HX8K: 40 LUT4 and 24 flip-flops with pages of 1,024 bytes.
module ni_bounds #(
    parameter PAGE_BYTES = 1024
) (
    input  wire                          clk,
    input  wire                          load,
    input  wire [$clog2(PAGE_BYTES)-1:0] first,
    input  wire [$clog2(PAGE_BYTES):0]   count,
    input  wire [3:0]                    less,
    output wire [$clog2(PAGE_BYTES)-1:0] last,
    output wire                          fits
);
    localparam PW = $clog2(PAGE_BYTES);
    reg [PW+1:0] most;              // bytes, less one
    reg [PW+1:0] ends;              // where the last one is, on behind the page, or before it
    always @(posedge clk) begin
        most <= {1'b0, count} - {{(PW - 2){1'b0}}, less};
        if (load) ends <= {2'b00, first} + most;
    end
    assign last = ends[PW-1:0];
    assign fits = ends[PW+1:PW] == 2'b00 || ends[PW+1:PW] == 2'b11;
endmodule
`resetall
