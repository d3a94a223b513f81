`default_nettype none
// STOP and GO between two ends that are up, over phy_direct: what one end's link_rx decides, its link_mux says, the other's link_split and
// link_state take, and its link_mux does. The sender may have anything to send, and both ends may have any other reason to send words; the
// timers are short, so that theirs fall at any time too. Nothing is lost or damaged on the way. It begins when both have been up for so
// long that no INIT is on its way any more: what each is called, and seals to, stays.
//
// STOP: when it has stood for SILENT clocks no frame symbol comes to link_rx any more: the ROUND of link_rx_stop, for a cable without
// delay.
// GO: what waits to be sent waits for RESUMED clocks at most while the sender has no reason for a word of its own but the timer.
module link_stop_formal #(
    parameter SILENT     = 22,
    parameter RESUMED    = 25,
    parameter ACK_DELAY  = 8,
    parameter WORD_TIMER = 16
) (
    input wire       clk,
    input wire       r_up,
    input wire       r_known,
    input wire       stop,
    input wire [7:0] expected,
    input wire       lost,
    input wire       answer,
    input wire       soon,
    input wire       peer_stop,
    input wire       f_valid,
    input wire [8:0] f_sym,
    input wire [7:0] s_expected,
    input wire       s_lost,
    input wire       s_stop,
    input wire       s_answer,
    input wire       s_soon,
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
    localparam [31:0] r_life = 32'h5A3C0F01, s_life = 32'hC0961E02;     // any two
    wire [15:0] unused_node = 16'd0;
    wire       r_take, r_ready, r_valid;
    link_mux #(.ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .EARLY(1)) u_r_mux (
        .clk(clk), .rst(rst), .tick(1'b1), .up(r_up), .own(r_life), .node(unused_node), .known(r_known), .key(s_life), .expected(expected),
        .lost(lost), .stop(stop), .answer(answer), .soon(soon), .peer_stop(peer_stop), .f_valid(f_valid), .f_sym(f_sym), .f_take(r_take),
        .tx_sym(r_sym), .tx_ready(r_ready)
    );
    phy_direct u_r_phy (
        .clk(clk), .rst(rst), .tx_sym(r_sym), .tx_ready(r_ready), .rx_sym(to_r), .rx_valid(r_valid), .line_tx(r_line), .line_rx(s_line)
    );
    wire       sop, eop, data, err, r_word, r_init, r_bad, r_lost, r_stop, r_i_en;
    wire [7:0] r_byte, r_n, r_i_byte;
    wire [3:0] r_i_at;
    link_split u_r_split (
        .clk(clk), .rst(rst), .rx_valid(r_valid), .rx_sym(to_r), .key(r_life), .restart(1'b0), .sop(sop), .eop(eop), .data(data), .err(err),
        .byte_q(r_byte), .word(r_word), .init(r_init), .word_bad(r_bad), .word_lost(r_lost), .word_stop(r_stop), .word_n(r_n),
        .i_en(r_i_en), .i_at(r_i_at), .i_byte(r_i_byte), .init_bad(1'b0)
    );

    // The end that sends.
    wire       restart;
    wire       s_valid, s_ready, s_take;
    phy_direct u_s_phy (
        .clk(clk), .rst(rst), .tx_sym(s_sym), .tx_ready(s_ready), .rx_sym(to_s), .rx_valid(s_valid), .line_tx(s_line), .line_rx(r_line)
    );
    wire       s_sop, s_eop, s_data, s_err, word, init, word_bad, word_lost, word_stop, s_i_en;
    wire [7:0] s_byte, word_n, s_i_byte;
    wire [3:0] s_i_at;
    link_split u_s_split (
        .clk(clk), .rst(rst), .rx_valid(s_valid), .rx_sym(to_s), .key(s_life), .restart(restart), .sop(s_sop), .eop(s_eop), .data(s_data),
        .err(s_err), .byte_q(s_byte), .word(word), .init(init), .word_bad(word_bad), .word_lost(word_lost), .word_stop(word_stop),
        .word_n(word_n), .i_en(s_i_en), .i_at(s_i_at), .i_byte(s_i_byte), .init_bad(1'b0)
    );
    wire       known, up, s_peer_stop, ack, state_answer;
    wire [7:0] unused_epoch;
    link_state #(.SILENCE(0)) u_s_state (
        .clk(clk), .rst(rst), .tick(1'b1), .word(word), .init(init), .word_stop(word_stop), .other(1'b0), .fits(1'b1),
        .give_up(1'b0), .renew(1'b0), .anonymous(1'b0), .known(known), .up(up), .restart(restart), .epoch(unused_epoch),
        .peer_stop(s_peer_stop), .ack(ack), .answer(state_answer)
    );
    link_mux #(.ACK_DELAY(ACK_DELAY), .WORD_TIMER(WORD_TIMER), .EARLY(1)) u_s_mux (
        .clk(clk), .rst(rst), .tick(1'b1), .up(up), .own(s_life), .node(unused_node), .known(known), .key(r_life), .expected(s_expected),
        .lost(s_lost), .stop(s_stop), .answer(s_answer), .soon(s_soon),
        .peer_stop(s_peer_stop), .f_valid(s_f_valid), .f_sym(s_f_sym), .f_take(s_take),
        .tx_sym(s_sym), .tx_ready(s_ready)
    );

    // Up, from some time on. Frame symbols are none of those that are not.
    always @* assume (f_sym != `LP_SYM_LSW && f_sym != `LP_SYM_IDLE && s_f_sym != `LP_SYM_LSW && s_f_sym != `LP_SYM_IDLE);
    localparam [4:0] SETTLED = `LP_INIT_SYMBOLS + 8;
    reg [4:0] f_both = 5'd0;
    wire      f_up   = f_both == SETTLED;
    always @(posedge clk) if (f_both != 5'd0 || (up && r_up)) f_both <= f_both + {4'd0, !f_up};
    always @* if (f_both != 5'd0) assume (up && r_up && !restart);

    // Registers of the instances, by the names that flattening gives them.
    (* hierconn *) wire \u_r_mux.starting , \u_r_mux.said_stop ;
    (* hierconn *) wire [1:0] \u_r_mux.said_kind , \u_s_mux.said_kind ;
    (* hierconn *) wire [$clog2(WORD_TIMER+1)-1:0] \u_r_mux.age , \u_s_mux.age ;

    // How long ago the word on its way to the sender, or the last that was, began.
    reg [3:0] f_age;
    always @(posedge clk) f_age <= rst || \u_r_mux.starting ? 4'd0 : f_age == 4'd13 ? f_age : f_age + 4'd1;

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
        assert (f_stopped <= SILENT && f_age <= 13);
        assert (\u_r_mux.age <= WORD_TIMER && \u_s_mux.age <= WORD_TIMER);
        if (up) assert (known);
        assert (f_both <= SETTLED);
        if (f_up) assert (\u_r_mux.said_kind != `LP_KIND_INIT && \u_s_mux.said_kind != `LP_KIND_INIT);
        if (f_up && f_age == 4'd13) assert (s_peer_stop == \u_r_mux.said_stop );
    end
endmodule
`resetall
