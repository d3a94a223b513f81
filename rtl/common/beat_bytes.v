`default_nettype none
// Beats to bytes: shows a packet's beats byte by byte, for who looks at few of them closely.
//
// Contract:
//   data, keep, last: a beat, as beat_pack makes them, which stands until it goes.
//   byte_q is the next byte of it, and byte_last says that it is the packet's last; `step` (pulse) goes on to the next. `done`: it is the
//   beat's last, so that with `step` the beat goes. `leave` (pulse): the rest of the beat goes unseen, or it is void.
module beat_bytes #(
    parameter WIDTH = 4                 // 1, or a power of two
) (
    input  wire               clk,
    input  wire               leave,
    input  wire [8*WIDTH-1:0] data,
    input  wire [WIDTH-1:0]   keep,
    input  wire               last,
    input  wire               step,
    output wire [7:0]         byte_q,
    output wire               byte_last,
    output wire               done
`ifdef FORMAL
    , output wire [3:0]       f_lane
`endif
);
    generate
        if (WIDTH == 1) begin : g_byte
            assign {byte_q, byte_last, done} = {data, last, 1'b1};
`ifdef FORMAL
            assign f_lane = 4'd0;
`endif
            wire unused = |{clk, leave, keep, step};
        end else begin : g_beat
            localparam LW = $clog2(WIDTH);
            reg  [LW-1:0]    lane;
            wire [LW-1:0]    next = lane + {{LW-1{1'b0}}, 1'b1};
            assign byte_q    = data[8*lane +: 8];
            assign done      = &lane || !keep[next];
            assign byte_last = last && done;
`ifdef FORMAL
            assign f_lane = {{4-LW{1'b0}}, lane};
`endif
            always @(posedge clk)
                if (leave || (step && done)) lane <= {LW{1'b0}};
                else if (step)               lane <= next;
        end
    endgenerate
endmodule
`resetall
