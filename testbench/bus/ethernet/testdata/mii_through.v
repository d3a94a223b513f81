// GMII, MII, RGMII and XGMII through registers, for the tests of sources and sinks. It counts GMII frames by whether the remainder of their CRC is
// right (IEEE 802.3, 3.2.9). Broken chooses a violation of the rules.
module mii_through (
    input  wire        clk,
    input  wire        rst,
    input  wire [3:0]  broken,

    input  wire [7:0]  g_rxd,
    input  wire        g_rx_dv,
    input  wire        g_rx_er,
    output reg  [7:0]  g_txd,
    output reg         g_tx_en,
    output reg         g_tx_er,
    output reg  [15:0] good,
    output reg  [15:0] bad,

    input  wire [3:0]  m_rxd,
    input  wire        m_rx_dv,
    output reg  [3:0]  m_txd,
    output reg         m_tx_en,

    input  wire [3:0]  r_rxd,
    input  wire        r_rx_ctl,
    output wire [3:0]  r_txd,
    output wire        r_tx_ctl,

    // RGMII below 1 Gbit/s, whose clocks are slower than clk
    input  wire        s_rxc,
    input  wire [3:0]  s_rxd,
    input  wire        s_rx_ctl,
    output reg         s_txc,
    output reg  [3:0]  s_txd,
    output reg         s_tx_ctl,

    input  wire [31:0] x_rxd,
    input  wire [3:0]  x_rxc,
    output reg  [31:0] x_txd,
    output reg  [3:0]  x_txc,
    input  wire [63:0] y_rxd,
    input  wire [7:0]  y_rxc,
    output reg  [63:0] y_txd,
    output reg  [7:0]  y_txc
);
    reg  [31:0] crc;
    reg         in_frame, extra;
    reg         ahead;      // of frames behind the first, which come a clock later
    reg  [4:0]  m_was;
    reg  [31:0] next;
    integer i;
    always @* begin
        next = crc;
        for (i = 0; i < 8; i = i + 1) next = next[0] ^ g_rxd[i] ? {1'b0, next[31:1]} ^ 32'hEDB88320 : {1'b0, next[31:1]};
    end
    always @(posedge clk) begin
        g_txd   <= broken == 4'd1 && g_rxd == 8'hD5 ? 8'h00 : g_rxd;
        g_tx_en <= g_rx_dv;
        g_tx_er <= g_rx_er || (broken == 4'd2 && !g_rx_dv);
        in_frame  <= g_rx_dv && (in_frame || g_rxd == 8'hD5);
        crc     <= in_frame ? next : 32'hFFFFFFFF;
        if (in_frame && !g_rx_dv) begin
            if (crc == 32'hDEBB20E3) good <= good + 16'd1;
            else bad <= bad + 16'd1;
        end
        extra   <= m_rx_dv;
        m_was   <= {m_rx_dv, m_rxd};
        if (m_was[4] && !m_rx_dv) ahead <= 1'b1;
        {m_tx_en, m_txd} <= broken == 4'd12 && !ahead ? m_was : {m_rx_dv || (broken == 4'd3 && extra), m_rxd};
        if (rst) {in_frame, good, bad, ahead} <= 34'd0;
    end

    // RGMII, octet by octet
    reg  [4:0] low, high, low_out, high_out;
    always @(posedge clk) low <= {r_rx_ctl, r_rxd};
    always @(negedge clk) high <= {r_rx_ctl, r_rxd};
    always @(posedge clk) {high_out, low_out} <= {high, low};
    assign {r_tx_ctl, r_txd} = clk ? low_out : high_out;

    reg [3:0] spoilt;   // rising edges of s_rxc in a frame
    reg [4:0] s_hold;   // data changes a clock after s_txc, so that it holds when that has changed
    always @(posedge clk) begin
        {s_txc, s_hold, s_txd, s_tx_ctl} <= {s_rxc, s_rxd, s_rx_ctl, s_hold};
        if (!s_rx_ctl) spoilt <= 4'd0;
        else if (s_rxc && !s_txc && spoilt != 4'd15) spoilt <= spoilt + 4'd1;
        if (broken == 4'd8 && spoilt == 4'd15) s_tx_ctl <= 1'b0;
    end

    wire stop = x_rxc[0] && x_rxd[7:0] == 8'hFD;
    always @(posedge clk) begin
        {x_txc, x_txd} <= {x_rxc, x_rxd};
        if (broken == 4'd4 && x_rxc[0] && x_rxd[7:0] == 8'hFB) {x_txc, x_txd} <= {4'h3, x_rxd[31:16], 8'hFB, 8'h07};
        if (broken == 4'd5 && stop) x_txd[7:0] <= 8'h07;
        if (broken == 4'd6 && stop) x_txd[7:0] <= 8'h77;
        if (broken == 4'd7 && &x_rxc) {x_txc, x_txd} <= 36'd0;
        if (broken == 4'd9 && stop) x_txc <= 4'h1;
        if (broken == 4'd10 && &x_rxc) x_txd[15:8] <= 8'h9C;
        if (broken == 4'd11 && &x_rxc) {x_txc, x_txd} <= {4'h1, 32'h0100009C}; // none: a local fault
        if (broken == 4'd13 && &x_rxc && x_rxd[7:0] == 8'h07) x_txd[7:0] <= 8'hFD;
        {y_txc, y_txd} <= {y_rxc, y_rxd};
    end
endmodule
