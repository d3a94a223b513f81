// Properties of net_table, included in it. One destination, of all 65536 the one that the solver likes, has its entry kept beside it.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// What was last written for it since reset.
(* anyconst *) wire [15:0] f_dest;
wire f_node  = f_dest >> AW == 0;
wire f_group = f_dest >= `LP_MULTICAST_BASE && f_dest[11:0] >> GW == 0;
reg  [NW-1:0] f_port, f_other;
reg  [N-1:0]  f_mask;
always @(posedge clk) begin
    if (wr_en && !wr_group && f_node && wr_addr == f_dest)              {f_other, f_port} <= {wr_data[16 +: NW], wr_data[0 +: NW]};
    if (wr_en && wr_group && f_group && wr_addr[11:0] == f_dest[11:0]) f_mask <= wr_data[N-1:0];
    if (rst) {f_other, f_port, f_mask} <= {2 * NW + N{1'b0}};
end

// What was asked a clock ago, and stood in the table. Who asks goes on until he is answered; nothing is written while it is cleared.
reg  [N:0]      f_asked, f_waits;
reg  [16*N-1:0] f_dests;
reg  [15:0]     f_self, f_entry_at;
reg             f_clearing;
reg  [NW-1:0]   f_port_q, f_other_q;
reg  [N-1:0]    f_mask_q;
always @(posedge clk) begin
    f_asked <= {rd_en, look} & {N+1{!wr_en && !rst}};
    f_waits <= {rd_en, look} & ~served & {N+1{!rst}};
    {f_dests, f_self, f_entry_at, f_clearing} <= {dest, self, entry_at, clearing};
    {f_other_q, f_port_q, f_mask_q} <= {f_other, f_port, f_mask};
end
always @* if (f_run) assume (({rd_en, look} & f_waits) == f_waits && !(clearing && wr_en));

function [N-1:0] f_way(input [NW-1:0] port);
    f_way = port != 0 && port < N && alive[port] ? 1 << port : 0;
endfunction
reg  [N-1:0] f_back, f_want;
integer k;
always @* begin
    {f_back, f_want} = 0;
    if (f_run && !rst) assert ((served & (served - 1'b1)) == 0 && (served & ~f_asked) == 0);
    for (k = 0; k < N; k = k + 1)
        if (f_run && !rst && looked[k] && f_dests[16*k +: 16] == f_dest) begin
            f_back = k == 0 ? f_way(back) : 0;
            if (f_self == 0 ? k != 0 : f_dest == f_self) f_want = 1;
            else if (f_group && !f_clearing) f_want = f_mask_q & (alive | 1) & ~(1 << k);
            else if (f_node && !f_clearing)
                f_want = f_way(f_port_q) != 0 ? f_way(f_port_q) : f_way(f_other_q) != 0 ? f_way(f_other_q) : f_back;
            else f_want = f_back;
            assert (ways == f_want);
        end
    if (f_run && !rst && rd_done && f_entry_at == f_dest)
        assert (rd_value ==
            (f_clearing ? 0 : f_group ? f_mask_q : !f_node ? 0 : {{(16 - NW){1'b0}}, f_other_q, {(16 - NW){1'b0}}, f_port_q}));
end

// Whoever asks is served within N + 1 clocks in which nothing is written.
(* anyconst *) wire [NW:0] f_me;
always @* assume (f_me <= N);
wire [N:0] f_all = {rd_en, look};
reg  [3:0] f_clocks;
wire [N:0] f_not_behind = ~behind;
always @(posedge clk) f_clocks <= f_all[f_me] && !served[f_me] && !wr_en && !rst ? f_clocks + 1'b1 : 4'd0;
always @* if (f_run) begin
    assert (f_clocks <= N + 1);
    assert ((f_not_behind & (f_not_behind + 1'b1)) == 0);       // those behind are the upper ones
end

// For induction: the memories hold what is kept here, from when it has been cleared.
assign {f_route_at, f_mask_at} = {f_dest[AW-1:0], f_dest[GW-1:0]};
always @* if (f_run && !rst) begin
    if (f_node && cleared > f_dest[AW-1:0])  assert (f_route == {f_other, f_port});
    if (f_group && cleared > f_dest[GW-1:0]) assert (f_masks == f_mask);
    if (clearing) assert ({f_other, f_port, f_mask} == 0);
    assert (cleared <= 1 << AW);
end
