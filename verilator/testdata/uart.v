`default_nettype none
// A transmitter on one clock and a receiver on another, for the tests of several clocks.
module uart (
    input  wire       tx_clk,
    input  wire       rx_clk,
    input  wire       rst,
    input  wire       s_valid,
    output wire       s_ready,
    input  wire [7:0] s_data,
    output reg        line,
    output reg        m_valid,
    output reg  [7:0] m_data
);
    localparam DIV = 8;
    reg [9:0] shift;
    reg [3:0] left;
    reg [2:0] tick;
    assign s_ready = left == 0;
    always @(posedge tx_clk) begin
        tick <= tick + 1;
        if (left == 0) begin
            line <= 1;
            tick <= 0;
            if (s_valid) begin
                shift <= {1'b1, s_data, 1'b0};
                left <= 10;
            end
        end else begin
            line <= shift[0];
            if (tick == DIV - 1) begin
                shift <= {1'b1, shift[9:1]};
                left <= left - 1;
            end
        end
        if (rst) begin
            left <= 0;
            line <= 1;
        end
    end

    reg [1:0] sync;
    reg [6:0] wait_for;
    reg [3:0] bits;
    reg       busy;
    always @(posedge rx_clk) begin
        sync <= {sync[0], line};
        m_valid <= 0;
        if (!busy) begin
            if (!sync[1]) begin
                busy <= 1;
                bits <= 0;
                wait_for <= DIV + DIV / 2 - 2;
            end
        end else if (wait_for != 0) begin
            wait_for <= wait_for - 1;
        end else begin
            wait_for <= DIV - 1;
            bits <= bits + 1;
            if (bits == 8) begin
                m_valid <= sync[1];
                busy <= 0;
            end else begin
                m_data <= {sync[1], m_data[7:1]};
            end
        end
        if (rst) begin
            busy <= 0;
            sync <= 2'b11;
            m_valid <= 0;
        end
    end
endmodule
`resetall
