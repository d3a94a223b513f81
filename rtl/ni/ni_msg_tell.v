`default_nettype none
// Tells the host how many descriptors of contexts are complete: COMPLETED, of each context in turn the latest count.
//
// Contract: q_*: contexts of which there are more; u_*, e_completions: as of ni_msg_table. m_*: as ni_compose takes packets.
module ni_msg_tell #(
    parameter CONTEXTS = 8
) (
    input  wire                clk,
    input  wire                rst,
    input  wire                q_valid,
    input  wire [CONTEXTS-1:0] q_context,
    output wire                q_take,
    output wire                u_valid,
    output reg  [CONTEXTS-1:0] ctx,
    input  wire                u_done,
    input  wire [15:0]         e_completions,
    output wire                m_valid,
    input  wire                m_ready,
    output wire [7:0]          m_kind,
    output wire [15:0]         m_length,
    output wire [7:0]          m_data,
    output wire                m_last
);
`include "linkproto.vh"
    localparam [1:0] IDLE = 2'd0, HEAD = 2'd1, ASK = 2'd2, BYTES = 2'd3;
    reg  [1:0]  state, place;
    reg  [31:0] bytes;
    assign q_take   = state == IDLE && q_valid;
    assign u_valid  = state == ASK;
    assign m_valid  = state == HEAD || state == BYTES;
    assign m_kind   = {3'd0, `LP_TYPE_COMPLETED};
    assign m_length = `LP_COMPLETED_MIN_LENGTH;
    assign m_data   = bytes[7:0];
    assign m_last   = state == BYTES && place == 2'd3;
    always @(posedge clk) begin
        case (state)
            IDLE: begin
                ctx <= q_context;
                place   <= 2'd0;
                if (q_valid) state <= HEAD;
            end
            HEAD: if (m_ready) state <= ASK;        // the count is that of when its turn has come
            ASK: begin
                bytes <= {e_completions, {16-CONTEXTS{1'b0}}, ctx};
                if (u_done) state <= BYTES;
            end
            default: if (m_ready) begin
                bytes <= bytes >> 8;
                place <= place + 2'd1;
                if (m_last) state <= IDLE;
            end
        endcase
        if (rst) state <= IDLE;
    end
endmodule
`resetall
