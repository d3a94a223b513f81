// Properties of ni_trace, included in it. What happens at a port and in a clock that the solver likes is followed into the ring.

reg f_run = 1'b0;
always @(posedge clk) f_run <= 1'b1;
always @* if (!f_run) assume (rst);

// What happens at the port, as the protocol says it.
(* anyconst *) wire [PW-1:0] f_p;
always @* assume (f_p < PORTS);
wire [15:0] f_counted = counted[16*f_p +: 16];
wire [15:0] f_status  = status[16*f_p +: 16];
wire [4:0]  f_levels  = {f_status[`LP_LINK_STATUS_UP_BIT], f_status[`LP_LINK_STATUS_PEER_STOP_BIT], f_status[`LP_LINK_STATUS_OWN_STOP_BIT],
                         f_status[`LP_LINK_STATUS_TRAPPED_BIT], f_status[`LP_LINK_STATUS_MISSING_BIT]};
reg  [4:0]  f_was;
wire [4:0]  f_rise = f_levels & ~f_was, f_fall = ~f_levels & f_was;
wire [27:0] f_raw  = {3'd0, injected[f_p], f_fall[1], f_rise[1], f_fall[0], f_rise[0], f_fall[2], f_fall[3], f_rise[3], f_rise[4],
    f_counted};

// Taken or lost.
reg  [27:0] f_seen;
reg         f_due, f_lost, f_ev_lost;
wire        f_room = !valid[f_p] || take[f_p];
always @(posedge clk) begin
    f_was     <= f_levels;
    f_seen    <= running && ports[f_p] ? f_raw & mask : 28'd0;
    f_ev_lost <= f_seen != 0 && !f_room;
    if (f_room && (f_seen != 0 || f_due)) f_lost <= 1'b0;
    else if (f_seen != 0)                 f_lost <= 1'b1;
    if (f_room) f_due <= 1'b0;
    if (running && zero && f_p == 0) f_due <= 1'b1;
    if (start || rst) begin
        f_seen <= 28'd0;
        {f_due, f_lost, f_ev_lost} <= 3'd0;
    end
    if (rst) f_was <= 5'd0;
end
always @* if (f_run && !rst) begin
    assert (ev_lost[f_p] == f_ev_lost);
    assert (f_state[35*f_p +: 35] == {f_was, f_lost, f_due, f_seen});
end

// One that is taken, whichever, on its way: held, chosen, ready, and in the ring until it is overwritten.
localparam [2:0] F_NONE = 0, F_HELD = 1, F_CHOSEN = 2, F_READY = 3, F_THERE = 4, F_OVER = 5;
(* anyseq *) wire f_pick;
reg  [2:0]  f_stage;
reg  [27:0] f_events;
reg  [31:0] f_time, f_number;
reg         f_gap, f_fits, f_first;
reg  [3:0]  f_waited;
wire [PW:0] f_turns = f_p >= turn ? f_p - turn : f_p + PORTS - turn;
assign f_at = f_number[AW-1:0];
always @(posedge clk) begin
    case (f_stage)
        F_NONE: if (f_pick && f_room && (f_seen != 0 || f_due)) begin
            f_stage  <= F_HELD;
            f_events <= f_seen | f_due << `LP_EV_ZERO;
            f_time   <= now - 1;
            f_gap    <= f_lost;
            f_waited <= 0;
        end
        F_HELD: begin
            f_waited <= f_waited + 1;
            if (take[f_p]) f_stage <= F_CHOSEN;
        end
        F_CHOSEN: begin
            f_stage <= F_READY;
            f_fits  <= (f_events & trigger) != 0 && trigger_ports[f_p];
        end
        F_READY: begin
            f_stage  <= running ? F_THERE : F_NONE;
            f_number <= count;
            f_first  <= f_fits && !triggered;
        end
        F_THERE: if (write && count == f_number + DEPTH) f_stage <= F_OVER;
        default: ;
    endcase
    if (rst || start) f_stage <= F_NONE;
end
always @* if (f_run && !rst) begin
    assert (f_stage <= F_OVER);
    if (f_stage == F_HELD) begin
        assert (valid[f_p] && events[28*f_p +: 28] == f_events && gap[f_p] == f_gap && stamp[4*f_p +: 4] == f_time[3:0]);
        assert (now - f_time == f_waited + 2 && f_waited + f_turns < PORTS);
    end
    if (f_stage == F_CHOSEN) begin
        assert (chosen && port == f_p && chosen_gap == f_gap && chosen_events == f_events && chosen_stamp == f_time[3:0]);
        assert (now - f_time >= 3 && now - f_time <= PORTS + 2);
    end
    if (f_stage == F_READY) assert (ready && record == {{3-PW{1'b0}}, f_p, f_gap, f_events, f_time} && fits == f_fits);
    if (f_stage == F_THERE) begin
        assert (f_word == {{3-PW{1'b0}}, f_p, f_gap, f_events, f_time});
        assert (count - f_number >= 1 && count - f_number <= DEPTH);
        // The first that fits triggers, and MARK names it.
        if (f_first) assert (triggered && mark == f_number);
    end
    assert (turn < PORTS);
end

// What is in the ring was taken: nothing is chosen or ready but what was held.
reg f_chosen, f_ready;
always @(posedge clk) begin
    f_chosen <= valid != 0 && !start && !rst;
    f_ready  <= f_chosen && !start && !rst;
end
always @* if (f_run && !rst) begin
    assert (chosen == f_chosen && ready == f_ready);
    assert ((take & ~valid) == 0 && (take & (take - 1'b1)) == 0 && (take != 0) == (valid != 0));
end

// POST is written before recording begins, and seen a clock later.
always @* if (f_run && (running || start)) assume (!(wr_en && wr_reg == `LP_TRACE_POST));
always @* if (f_run && !rst && running) assert (at_once == (post == 16'd0));

// Only a record that is written triggers, or the host, at once. POST records follow, and no more are written. MARK is the record's number,
// or how many were written before.
reg [31:0] f_goal;
reg        f_stopped, f_fires;
always @(posedge clk) begin
    if (running && hit) {f_fires, f_goal} <= {write && fits, count + write + post};
    if (stop) f_stopped <= 1'b1;
    if (rst || start) f_stopped <= 1'b0;
end
always @* if (f_run && !rst && running) begin
    if (hit) assert ((write && fits) || ask);
    if (ask) assert (triggered || hit);
    if (triggered) assert (mark + f_fires + post == f_goal);
end
always @* if (f_run && !rst && triggered) begin
    assert (!write || count != f_goal);
    if (running)         assert (left != 0 && f_goal - count == left);
    else if (!f_stopped) assert (count == f_goal);
end
