// Source of an AXI4-Stream that breaks one rule of the protocol, or none: for tests of what checks them.
`default_nettype none

module axis_rogue (
    // 0 none, 1 withdraws TVALID, 2 changes TDATA, 3 TLAST, 4 TKEEP, 5 TUSER, 6 TID, 7 TDEST, 8 TSTRB while a transfer waits,
    // 9 TSTRB without TKEEP, 10 TVALID in reset, 11 TVALID at the first edge after reset, 12 null bytes inside a frame
    input  wire [3:0]  rule,
    input  wire        clk,
    input  wire        rst,
    output wire [15:0] m_axis_tdata,
    output wire [1:0]  m_axis_tkeep,
    output wire [1:0]  m_axis_tstrb,
    output wire [1:0]  m_axis_tid,
    output wire [1:0]  m_axis_tdest,
    output wire        m_axis_tuser,
    output wire        m_axis_tlast,
    output wire        m_axis_tvalid,
    input  wire        m_axis_tready
);
    reg [7:0] count;                    // transfers that were taken
    reg [1:0] waited;                   // cycles that the present one has waited
    reg       valid, earlier;            // earlier: rst at the edge earlier

    // The 20th transfer breaks the rule, once it has waited if that is what the rule is about.
    wire turn = count[4:0] == 5'd19;
    wire bad  = turn && waited == 2'd2;

    assign m_axis_tvalid = rule == 10 && rst && earlier ? 1'b1 : rule == 11 && !rst && earlier ? 1'b1 : valid && !(rule == 1 && bad);
    assign m_axis_tdata  = {8'h5A, count} ^ {15'd0, rule == 2 && bad};
    assign m_axis_tlast  = (count[1:0] == 2'd3) ^ (rule == 3 && bad);
    assign m_axis_tkeep  = {!(rule == 4 && bad), !((rule == 9 || rule == 12) && turn)};
    assign m_axis_tstrb  = {1'b1, !(rule == 8 && bad) && !(rule == 12 && turn)};
    assign m_axis_tuser  = rule == 5 && bad;
    assign m_axis_tid    = {1'b0, rule == 6 && bad};
    assign m_axis_tdest  = {rule == 7 && bad, 1'b0};

    always @(posedge clk) begin
        earlier <= rst;
        if (rst) begin
            count  <= 8'd0;
            waited <= 2'd0;
            valid  <= 1'b0;
        end else begin
            valid <= 1'b1;
            if (m_axis_tvalid && m_axis_tready) begin
                count  <= count + 8'd1;
                waited <= 2'd0;
            end else if (m_axis_tvalid && waited != 2'd3) waited <= waited + 2'd1;
        end
    end
endmodule

`resetall
