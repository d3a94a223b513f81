`default_nettype none
// What link_window.formal.v takes for granted of the lives of an end, of link_split, link_peer and link_state themselves: whatever comes,
// while the link is up the peer's life stands; who leaves UP takes another life before anything else; UP begins with a word that counts;
// and whom this end knows said so, whole, in one INIT.
module link_life_formal (
    input wire        clk,
    input wire        rx_valid,
    input wire [8:0]  rx_sym,
    input wire [31:0] key,
    input wire        give_up,
    input wire        renew,
    input wire        anonymous,
    input wire        tick
);
`include "linkproto.vh"

    reg [1:0] f_clocks = 2'd0;
    wire      f_run = f_clocks == 2'd3;
    wire      rst   = !f_run;
    always @(posedge clk) if (!f_run) f_clocks <= f_clocks + 2'd1;

    wire        sop, eop, data, err, word, init, word_bad, word_lost, word_stop, i_en, init_bad;
    wire [7:0]  byte_q, word_n, i_byte, epoch;
    wire [3:0]  i_at;
    wire [31:0] life;
    wire [15:0] node;
    wire        fits, other, known, up, restart, peer_stop, ack, answer;
    link_split u_split (
        .clk(clk), .rst(rst), .rx_valid(rx_valid), .rx_sym(rx_sym), .key(key), .restart(restart || renew), .sop(sop), .eop(eop),
        .data(data), .err(err), .byte_q(byte_q), .word(word), .init(init), .word_bad(word_bad), .word_lost(word_lost),
        .word_stop(word_stop), .word_n(word_n), .i_en(i_en), .i_at(i_at), .i_byte(i_byte), .init_bad(init_bad)
    );
    link_peer u_peer (
        .clk(clk), .load(!known), .byte_en(i_en), .at(i_at), .byte_q(i_byte), .life(life), .node(node), .fits(fits), .other(other),
        .bad(init_bad)
    );
    link_state #(.SILENCE(3)) u_state (
        .clk(clk), .rst(rst), .tick(tick), .word(word), .init(init), .word_stop(word_stop), .other(other), .fits(fits), .give_up(give_up),
        .renew(renew), .anonymous(anonymous), .known(known), .up(up), .restart(restart), .epoch(epoch), .peer_stop(peer_stop), .ack(ack),
        .answer(answer)
    );

    // What the INIT that comes says, and the last that came.
    localparam [3:0] LIFE = `LP_INIT_LIFE, WORD_BYTES = `LP_WORD_SYMBOLS - 1, INIT_BYTES = `LP_INIT_SYMBOLS - 1;
    reg  [31:0] f_said, f_says, f_takes;        // f_says, f_takes: f_said and life with the byte that is handed over in this clock
    always @* begin
        f_says  = f_said;
        f_takes = life;
        if (i_en && i_at[3:2] == LIFE[3:2]) f_says[8*i_at[1:0] +: 8] = i_byte;
        if (i_en && i_at >= `LP_INIT_NODE && i_at < LIFE + 4'd4) f_takes = {i_byte, life[31:8]};
    end
    always @(posedge clk) f_said <= f_says;

    reg        f_up, f_known, f_ack, f_init;
    reg [31:0] f_life, f_said_q;
    reg [7:0]  f_epoch;
    always @(posedge clk) begin
        {f_up, f_known, f_ack, f_init} <= {up, known, ack, init} & {4{f_run}};
        f_life   <= life;
        f_said_q <= f_said;
        f_epoch  <= epoch;
    end
    always @* if (f_run) begin
        if (up && f_up)       assert (life == f_life && epoch == f_epoch);
        if (known && f_known) assert (life == f_life);
        if (f_up && !up)      assert (epoch != f_epoch && !known);
        if (up && !f_up)      assert (f_ack && epoch == f_epoch);
        if (known && !f_known) assert (f_init && life == f_said_q);
    end

    // Why: an INIT that begins to come while nobody is known, and is not spoilt since, stands in link_peer as far as it has come.
    (* hierconn *) wire \u_split.in_word , \u_split.is_init , \u_split.wrong , \u_split.word_end , \u_split.first ;
    (* hierconn *) wire [3:0] \u_split.at ;
    wire       f_coming = \u_split.in_word && \u_split.is_init && !\u_split.wrong && !restart && !known;
    reg [31:0] f_as_far;
    always @* begin
        f_as_far = 32'hFFFFFFFF;
        if (\u_split.at == LIFE)        f_as_far = 32'd0;
        if (\u_split.at == LIFE + 4'd1) f_as_far = 32'hFF000000;
        if (\u_split.at == LIFE + 4'd2) f_as_far = 32'hFFFF0000;
        if (\u_split.at == LIFE + 4'd3) f_as_far = 32'hFFFFFF00;
    end
    wire [31:0] f_shifted = \u_split.at < LIFE + 4'd4 ? f_says << 8*(4'd4 - \u_split.at [1:0]) : f_says;
    always @* if (f_run) begin
        if (up) assert (known);
        if (\u_split.in_word ) assert (\u_split.first == (\u_split.at == 4'd0));
        if (\u_split.in_word ) assert (\u_split.at < (\u_split.is_init && \u_split.at != 4'd0 ? INIT_BYTES : WORD_BYTES));
        if (i_en) assert (i_at + 4'd1 == \u_split.at );
        if (f_coming && \u_split.at >= LIFE) assert ((f_takes & f_as_far) == (f_shifted & f_as_far));
        if (\u_split.word_end && \u_split.is_init && !\u_split.wrong && !restart && !known) assert (life == f_said);
        if (init && !known && !restart) assert (life == f_said);
    end
endmodule
`resetall
