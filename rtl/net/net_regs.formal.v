// Properties of net_regs, included in it: each access is answered once, here or by what stands behind; an entry of the table is written
// once for each write of it, and only then, and holds only ports that there are; what is read of a port is its state in the clock before.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// The caller's side: an access stands until it is answered. The table answers reads, and what stands behind only what it is asked.
reg        f_waits, f_rst;
reg [48:0] f_access;
always @(posedge clk) begin
    f_rst    <= rst;
    f_waits  <= reg_en && !reg_done && !rst;
    f_access <= {reg_write, reg_addr, reg_wdata};
end
always @* begin
    if (f_waits) assume (reg_en && {reg_write, reg_addr, reg_wdata} == f_access);
    if (m_done)  assume (m_en && f_waits);
    if (table_done) assume (table_read);
    if (!rst && !f_waits) assume (!reg_done || !reg_en);
end

// Where registers stand, by doc/protocol.md.
wire f_route   = reg_addr >= `LP_REG_ROUTE_TABLE && reg_addr < `LP_REG_ROUTE_TABLE + NODES;
wire f_group   = reg_addr >= `LP_REG_GROUP_TABLE && reg_addr < `LP_REG_GROUP_TABLE + GROUPS;
wire f_status  = reg_addr >= `LP_REG_PORT_STATUS && reg_addr < `LP_REG_PORT_STATUS + N;
wire f_peer    = reg_addr >= `LP_REG_PORT_PEER && reg_addr < `LP_REG_PORT_PEER + N;
wire f_counts  = (reg_addr >= `LP_REG_PORT_COUNTERS && reg_addr < `LP_REG_PORT_COUNTERS + `LP_COUNTER_STRIDE * N)
    || (reg_addr >= `LP_REG_ROUTER_COUNTERS && reg_addr < `LP_REG_ROUTER_COUNTERS + `LP_ROUTER_STRIDE * N);
wire f_mine    = f_route || f_group || f_status || f_peer || f_counts;

reg        f_own, f_wrote;                      // an access of ours stands; its entry was written
reg [2:0]  f_for;                               // clocks since it began, or since the table may be written
reg [16*N-1:0] f_status_was;
reg [8*N-1:0]  f_lanes_was;
reg [18*N-1:0] f_peer_was;
reg [31:0] f_table_was, f_want;
reg        f_table_did;
integer f_p;
always @* begin
    f_want = 32'd0;
    for (f_p = 0; f_p < N; f_p = f_p + 1) begin
        if (reg_addr == `LP_REG_PORT_STATUS + f_p) f_want = {8'd0, f_lanes_was[8*f_p +: 8], f_status_was[16*f_p +: 16]};
        if (reg_addr == `LP_REG_PORT_PEER + f_p)   f_want = {f_peer_was[18*f_p+16 +: 2], 14'd0, f_peer_was[18*f_p +: 16]};
    end
end
always @(posedge clk) begin
    f_own   <= reg_en && f_mine && !reg_done && !rst;
    f_wrote <= reg_en && !reg_done && !rst && (f_wrote || table_write);
    f_for   <= reg_en && !reg_done && !rst && !clearing ? f_for + {2'd0, f_for != 7} : 3'd0;
    {f_status_was, f_lanes_was, f_peer_was} <= {status, lanes, peer};
    {f_table_did, f_table_was} <= {table_done, table_value};
end
wire [7:0] f_low = reg_wdata[7:0], f_high = reg_wdata[23:16];
always @* if (f_run && !rst) begin
    assert (m_en == (reg_en && !f_mine));
    if (table_write) begin
        assert (f_own && reg_write && !clearing && !f_wrote && (f_route || f_group));
        assert (table_group == f_group && table_addr == (f_group ? reg_addr - `LP_REG_GROUP_TABLE : reg_addr - `LP_REG_ROUTE_TABLE));
        if (f_group) assert (table_wdata == (reg_wdata & ((1 << N) - 1)));
        else         assert (table_wdata == {8'd0, f_high < N ? f_high : 8'd0, 8'd0, f_low < N ? f_low : 8'd0});
    end
    if (table_read) assert (f_own && !reg_write && !clearing && (f_route || f_group) && table_group == f_group);
    // The answer.
    if (reg_done && reg_en && f_mine) begin
        assert (f_own && reg_ok == (f_route || f_group || !reg_write));
        assert (f_wrote == (reg_write && (f_route || f_group)));
        if (!reg_write && (f_status || f_peer)) assert (reg_value == f_want);
        if (!reg_write && (f_route || f_group)) assert (f_table_did && reg_value == f_table_was);
    end
    if (reg_done && reg_en && !f_mine) assert (m_done && reg_ok == m_ok && reg_value == m_value);
    if (f_own && (f_status || f_peer || reg_write)) assert (f_for < 4);
end

// What ties the registers together; induction needs it.
always @* if (f_run && !rst) begin
    assert (mine == f_own && f_own == (f_waits && f_mine));
    if (f_own && (f_status || f_peer || reg_write)) assert (f_for <= (done ? 2 : 1));
    if (done) assert (mine);
    if (mine) begin
        assert ({table_q, group, counts, known} == {f_route || f_group, f_group, f_counts, f_route || f_group || !reg_write});
        assert (bank[0] == (f_counts && reg_addr[15:7] == ROUTER_AT[15:7]));
        for (f_p = 0; f_p < N; f_p = f_p + 1)
            assert (of_status[f_p] == (reg_addr == `LP_REG_PORT_STATUS + f_p) && of_peer[f_p] == (reg_addr == `LP_REG_PORT_PEER + f_p));
        if (!done) assert (plain == (reg_write ? !f_route && !f_group : f_status || f_peer));
        if (plain) assert (!done && !f_route && !f_group && (reg_write || f_status || f_peer));
        if (f_wrote) assert (done && reg_write && (f_route || f_group));
        if (done && table_q && reg_write) assert (f_wrote);
    end
    if (!mine) assert (!plain && !f_wrote);
end
