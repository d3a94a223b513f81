`default_nettype none
// What the two halves of a sender promise each other, and both promise the link, of sequence numbers. The proofs of link_replay and
// link_framer each assert their part; link_window.formal.v proves of any sender that keeps both that the link delivers in order and once.
//
// Contract, from the first clock with `begins` (reset or restart) on, in which all numbers become 0:
//   replay_ok: `load` counts up by one; at most WINDOW packets are held; `base` moves only towards the number named last, over packets
//   sent.
//   framer_ok: `sent` counts up by one, over whole packets, and never more than WINDOW-1 are sent and not acknowledged; a frame that
//   `leaves`, with number `seq`, is one of the WINDOW before `sent`.
// Each depends on the other's keeping its part in clocks before, framer_ok also on replay_ok in the same clock: so neither rests on itself.
module link_window_rules #(
    parameter SEQ    = 8,               // bits of a sequence number
    parameter WINDOW = 128
) (
    input  wire           clk,
    input  wire           begins,
    input  wire [SEQ-1:0] base,
    input  wire [SEQ-1:0] sent,
    input  wire [SEQ-1:0] load,
    input  wire           ack,          // with the peer's next expected number
    input  wire [SEQ-1:0] ack_n,
    input  wire           leaves,
    input  wire [SEQ-1:0] seq,
    output reg  [SEQ-1:0] named,        // the number named last that is possible: from the one before to `sent`
    output wire           replay_ok,
    output wire           framer_ok
);
    reg           fresh;
    reg [SEQ-1:0] base_q, sent_q, load_q;
    wire [SEQ-1:0] names     = ack_n - named, possible = sent - named;
    always @(posedge clk) begin
        fresh <= begins;
        {base_q, sent_q, load_q} <= {base, sent, load};
        if (begins)   named <= 0;
        else if (ack && names <= possible) named <= ack_n;
    end

    wire [SEQ-1:0] held      = load - base;
    wire [SEQ-1:0] underway  = sent - base;
    wire [SEQ-1:0] moved     = base - base_q;
    wire [SEQ-1:0] freeable  = named - base_q;
    wire [SEQ-1:0] coverable = sent_q - base_q;
    wire [SEQ-1:0] loaded    = load - load_q;
    wire [SEQ-1:0] completed = sent - sent_q;
    wire [SEQ-1:0] back      = sent - seq;

    wire base_ok = moved == 0 || (moved <= freeable && moved <= coverable);
    wire load_ok = loaded <= 1 && held <= WINDOW;
    wire sent_ok = completed <= 1 && underway <= held && underway < WINDOW;
    wire seq_ok  = !leaves || (back != 0 && back <= WINDOW);
    assign replay_ok = begins || (fresh ? base == 0 && load == 0 : base_ok && load_ok);
    assign framer_ok = begins || (fresh ? sent == 0 && !leaves : sent_ok && seq_ok);
endmodule
`resetall
