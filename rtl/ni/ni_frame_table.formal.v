// Properties of ni_frame_table, included in it. The entry of one frame number, of all 65536 the one that the solver likes, is kept
// beside it.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

(* anyconst *) wire [15:0] f_frame;
reg       f_valid;
reg [2:0] f_link;
reg [VW-1:0] f_vl;
always @(posedge clk) begin
    if (wr_en && wr_frame == f_frame && f_frame < FRAMES) {f_valid, f_link, f_vl} <= {wr_valid, wr_link, wr_vl};
    if (rst) {f_valid, f_link, f_vl} <= {4 + VW{1'b0}};
end

integer i;
always @* if (f_run) begin
    for (i = 0; i < LINKS; i = i + 1)
        if (look_frame[16*i +: 16] == f_frame) assert (allowed[i] == (f_valid && f_link == i + 1 && (VIRTUAL == 0 || f_vl == 0)));
    if (rd_frame == f_frame) assert ({rd_valid, rd_link} == {f_valid, f_link});
    if (virtual_frame == f_frame) assert (virtual_allowed == (VIRTUAL != 0 && f_valid && virtual_vl != 0 && f_vl == virtual_vl));
    if (rd_frame == f_frame && VIRTUAL != 0) assert (rd_vl == f_vl);
    // Induction needs it.
    if (f_frame < FRAMES) assert (entries[4*f_frame[FW-1:0] +: 4] == {f_valid, f_link});
    else                  assert ({f_valid, f_link} == 4'd0);
end
generate
    if (VIRTUAL != 0) begin : g_f
        always @* if (f_run) begin
            if (f_frame < FRAMES) assert (vls[VW*f_frame[FW-1:0] +: VW] == f_vl);
            else                  assert (f_vl == 0);
        end
    end
endgenerate
