`default_nettype none
// Sends each good Ethernet frame back to where it came from: the addresses change places. GMII, one clock for both directions.
// A frame with an error or a wrong check sequence is dropped, and so is one that comes while another goes out.
// Source: IEEE 802.3, clauses 3 and 35.
module reflector (
    input  wire       clk,
    input  wire       rst,
    input  wire [7:0] g_rxd,
    input  wire       g_rx_dv,
    input  wire       g_rx_er,
    output reg  [7:0] g_txd,
    output reg        g_tx_en,
    output wire       g_tx_er
);
    localparam [1:0] IDLE = 2'd0, PREAMBLE = 2'd1, DATA = 2'd2, FCS = 2'd3;
    localparam [31:0] RESIDUE = 32'hDEBB20E3;

    function [31:0] crc_byte(input [31:0] crc, input [7:0] data);
        integer k;
        begin
            crc_byte = crc ^ {24'd0, data};
            for (k = 0; k < 8; k = k + 1) crc_byte = crc_byte[0] ? {1'b0, crc_byte[31:1]} ^ 32'hEDB88320 : {1'b0, crc_byte[31:1]};
        end
    endfunction

    reg [7:0]  store [0:2047];
    reg [10:0] length;                  // bytes stored, with the check sequence
    reg        framed, bad;
    reg [31:0] rx_crc;

    reg [1:0]  state;
    reg [10:0] count;                   // in this state
    reg [7:0]  q;
    reg [31:0] tx_crc;
    wire       quiet = state == IDLE;

    always @(posedge clk) begin
        if (!g_rx_dv) framed <= 1'b0;
        else if (!framed && g_rxd == 8'hD5 && quiet) begin
            framed <= 1'b1;
            bad    <= 1'b0;
            length <= 11'd0;
            rx_crc <= 32'hFFFFFFFF;
        end
        if (framed && g_rx_dv) begin
            store[length] <= g_rxd;
            length <= length + 11'd1;
            rx_crc <= crc_byte(rx_crc, g_rxd);
            if (g_rx_er || &length) bad <= 1'b1;
        end
        if (rst) framed <= 1'b0;
    end

    // The byte that goes out in the next clock: the addresses, six bytes each, have changed places.
    wire [10:0] next = state == DATA ? count + 11'd1 : 11'd0;
    wire [10:0] from = next < 11'd6 ? next + 11'd6 : next < 11'd12 ? next - 11'd6 : next;
    always @(posedge clk) q <= store[from];

    assign g_tx_er = 1'b0;
    always @(posedge clk) begin
        count   <= count + 11'd1;
        g_tx_en <= !quiet;
        case (state)
            IDLE: begin
                count <= 11'd0;
                if (framed && !g_rx_dv && !bad && rx_crc == RESIDUE && length >= 11'd64) state <= PREAMBLE;
            end
            PREAMBLE: begin
                g_txd  <= count == 11'd7 ? 8'hD5 : 8'h55;
                tx_crc <= 32'hFFFFFFFF;
                if (count == 11'd7) {state, count} <= {DATA, 11'd0};
            end
            DATA: begin
                g_txd  <= q;
                tx_crc <= crc_byte(tx_crc, q);
                if (count == length - 11'd5) {state, count} <= {FCS, 11'd0};
            end
            FCS: begin
                g_txd  <= ~tx_crc[7:0];
                tx_crc <= {8'd0, tx_crc[31:8]};
                if (count == 11'd3) state <= IDLE;
            end
        endcase
        if (rst) {state, g_tx_en} <= {IDLE, 1'b0};
    end
endmodule
`resetall
