// Properties of net_ident, included in it: each access is answered once, in the next clock, and with what the register held when it began;
// NODE_ID and SCRATCH hold what was last written to them, and nothing else writes anything.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// A request stands until it is answered.
reg        f_asks, f_was, f_write;
reg [15:0] f_addr, f_node, f_node_q;
reg [31:0] f_wdata, f_scratch, f_scratch_q, f_nonce;
always @* if (f_run && f_asks && !rst) assume (reg_en && reg_write == f_write && reg_addr == f_addr && reg_wdata == f_wdata);

wire f_begins = reg_en && !f_asks;      // an access, one clock before its answer
always @(posedge clk) begin
    f_asks <= f_begins && !rst;
    f_was  <= !rst;
    {f_write, f_addr, f_wdata, f_nonce} <= {reg_write, reg_addr, reg_wdata, nonce};
    {f_node_q, f_scratch_q} <= {f_node, f_scratch};
    if (f_begins && reg_write && reg_addr == `LP_REG_NODE_ID) f_node    <= reg_wdata[15:0];
    if (f_begins && reg_write && reg_addr == `LP_REG_SCRATCH) f_scratch <= reg_wdata;
    if (rst) {f_node, f_scratch} <= 0;
end
always @* if (f_run) begin
    assert (reg_done == f_asks);
    assert (node == f_node && scratch == f_scratch);
    if (reg_done) case (f_addr)
        `LP_REG_NODE_ID:  assert (reg_ok && (f_write || reg_value == {16'd0, f_node_q}));
        `LP_REG_SCRATCH:  assert (reg_ok && (f_write || reg_value == f_scratch_q));
        `LP_REG_NONCE:    assert (reg_ok == !f_write && reg_value == f_nonce);
        `LP_REG_MAGIC:    assert (reg_ok == !f_write && reg_value == `LP_MAGIC);
        `LP_REG_VERSION:  assert (reg_ok == !f_write && reg_value == `LP_VERSION);
        `LP_REG_HASH_LO:  assert (reg_ok == !f_write && reg_value == SOURCE_HASH[31:0]);
        `LP_REG_HASH_HI:  assert (reg_ok == !f_write && reg_value == SOURCE_HASH[63:32]);
        `LP_REG_LINKS:    assert (reg_ok == !f_write && reg_value == PORTS);
        `LP_REG_FEATURES: assert (reg_ok == !f_write && reg_value[`LP_FEATURE_BARRIERS_BIT] == (BARRIER != 0));
        default:          assert (!reg_ok);
    endcase
end
