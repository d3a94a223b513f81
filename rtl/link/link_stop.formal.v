`default_nettype none
// STOP and GO between two ends that are up, over phy_direct: what one end's link_rx decides, its link_mux says, the other's link_split and
// link_state take, and its link_mux does. The sender may have anything to send, and both ends may have any other reason to send words; the
// timers are short, so that theirs fall at any time too. Nothing is lost or damaged on the way.
//
// STOP: when it has stood for SILENT clocks no frame symbol comes to link_rx any more: the ROUND of link_rx_stop, for a cable without
// delay.
// GO: what waits to be sent waits for RESUMED clocks at most while the sender has no reason for a word of its own but the timer.
module link_stop_formal #(
    parameter SILENT     = 20,
    parameter RESUMED    = 22,
    parameter ACK_DELAY  = 8,
    parameter WORD_TIMER = 16
) (
    input wire       clk,
    input wire       r_up,
    input wire       stop,
    input wire [7:0] expected,
    input wire       lost,
    input wire       answer,
    input wire       peer_stop,
    input wire       f_valid,
    input wire [8:0] f_sym,
    input wire [7:0] s_expected,
    input wire       s_lost,
    input wire       s_stop,
    input wire       s_answer,
    input wire       s_f_valid,
    input wire [8:0] s_f_sym
);
`include "linkproto.vh"

    // A reset of some clocks, then none.
    reg [2:0] f_clocks = 3'd0;
    wire      f_run = f_clocks == 3'd6;
    wire      rst   = !f_run;
    always @(posedge clk) if (!f_run) f_clocks <= f_clocks + 3'd1;

    // The end that receives.
    wire [8:0] r_sym, r_line, s_sym, s_line, to_s, to_r;
    (* anyconst *) wire [7:0] r_epoch;
    wire [7:0] epoch;                       // the sender's
    wire       r_take, r_ready, r_valid;
    link_mux #(.ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER)) u_r_mux (
        .clk(clk), .rst(rst), .tick(1'b1), .up(r_up), .epoch(r_epoch), .peer_epoch(epoch), .expected(expected), .lost(lost),
        .stop(stop), .answer(answer), .peer_stop(peer_stop), .f_valid(f_valid), .f_sym(f_sym), .f_take(r_take),
        .tx_sym(r_sym), .tx_ready(r_ready)
    );
    phy_direct u_r_phy (
        .clk(clk), .rst(rst), .tx_sym(r_sym), .tx_ready(r_ready), .rx_sym(to_r), .rx_valid(r_valid), .line_tx(r_line), .line_rx(s_line)
    );
    wire       sop, eop, data, err, r_word, r_bad, r_stop;
    wire [1:0] r_kind;
    wire [7:0] r_byte, r_n, r_echo;
    link_split u_r_split (
        .clk(clk), .rst(rst), .rx_valid(r_valid), .rx_sym(to_r), .sop(sop), .eop(eop), .data(data), .err(err), .byte_q(r_byte),
        .word(r_word), .word_bad(r_bad), .word_kind(r_kind), .word_stop(r_stop), .word_n(r_n), .word_echo(r_echo)
    );

    // The end that sends.
    wire       s_valid, s_ready, s_take;
    phy_direct u_s_phy (
        .clk(clk), .rst(rst), .tx_sym(s_sym), .tx_ready(s_ready), .rx_sym(to_s), .rx_valid(s_valid), .line_tx(s_line), .line_rx(r_line)
    );
    wire       s_sop, s_eop, s_data, s_err, word, word_bad, word_stop;
    wire [1:0] word_kind;
    wire [7:0] s_byte, word_n, word_echo;
    link_split u_s_split (
        .clk(clk), .rst(rst), .rx_valid(s_valid), .rx_sym(to_s), .sop(s_sop), .eop(s_eop), .data(s_data), .err(s_err), .byte_q(s_byte),
        .word(word), .word_bad(word_bad), .word_kind(word_kind), .word_stop(word_stop), .word_n(word_n), .word_echo(word_echo)
    );
    wire       up, restart, s_peer_stop, ack, ack_lost, state_answer, ev_stale;
    wire [7:0] peer_epoch;
    link_state u_s_state (
        .clk(clk), .rst(rst), .word(word), .word_kind(word_kind), .word_stop(word_stop), .word_n(word_n), .word_echo(word_echo),
        .give_up(1'b0), .up(up), .restart(restart), .epoch(epoch), .peer_epoch(peer_epoch), .peer_stop(s_peer_stop),
        .ack(ack), .ack_lost(ack_lost), .answer(state_answer), .ev_stale(ev_stale)
    );
    link_mux #(.ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER)) u_s_mux (
        .clk(clk), .rst(rst), .tick(1'b1), .up(up), .epoch(epoch), .peer_epoch(peer_epoch), .expected(s_expected), .lost(s_lost),
        .stop(s_stop), .answer(s_answer), .peer_stop(s_peer_stop), .f_valid(s_f_valid), .f_sym(s_f_sym), .f_take(s_take),
        .tx_sym(s_sym), .tx_ready(s_ready)
    );

    // Up, from some time on. Frame symbols are none of those that are not.
    always @* assume (f_sym != `LP_SYM_LSW && f_sym != `LP_SYM_IDLE && s_f_sym != `LP_SYM_LSW && s_f_sym != `LP_SYM_IDLE);
    reg f_up = 1'b0;
    always @(posedge clk) f_up <= f_up || (up && r_up);
    always @* if (f_up) assume (up && r_up && !restart);

    // Registers of the instances, by the names that flattening gives them.
    (* hierconn *) wire \u_r_mux.starting , \u_r_mux.said_stop ;
    (* hierconn *) wire [$clog2(WORD_TIMER+1)-1:0] \u_r_mux.age , \u_s_mux.age ;

    // How long ago the word on its way to the sender, or the last that was, began.
    reg [3:0] f_age;
    always @(posedge clk) f_age <= rst || \u_r_mux.starting ? 4'd0 : f_age == 4'd12 ? f_age : f_age + 4'd1;

    // For how long STOP has stood, and for how long what waits has waited in spite of GO.
    reg [5:0] f_stopped, f_waits;
    reg [7:0] f_n;
    reg [1:0] f_is;
    wire f_calm = f_n == s_expected && f_is == {s_lost, s_stop} && !s_answer;
    always @(posedge clk) begin
        f_n  <= s_expected;
        f_is <= {s_lost, s_stop};
        f_stopped <= rst || !stop || !f_up ? 6'd0 : f_stopped == SILENT ? f_stopped : f_stopped + 6'd1;
        f_waits   <= rst || stop || !f_up || !f_calm || !s_f_valid || s_take ? 6'd0 : f_waits + 6'd1;
    end
    always @* if (f_run) begin
        if (f_stopped == SILENT) assert (!sop && !eop && !data && !err);
        assert (f_waits <= RESUMED);
    end

    // What ties the registers together; induction needs it.
    always @* if (f_run) begin
        assert (f_stopped <= SILENT && f_age <= 12);
        assert (\u_r_mux.age <= WORD_TIMER && \u_s_mux.age <= WORD_TIMER);
        if (up) assert (peer_epoch != `LP_EPOCH_NONE);
        if (f_up && f_age == 4'd12) assert (s_peer_stop == \u_r_mux.said_stop );
    end
endmodule
`resetall
