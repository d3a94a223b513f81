// A queue of eight items for the tests of the kit. PLANTED builds a bug in: after 3000 items, one that arrives while
// seven others wait and one of them leaves is not stored, so what was in its place before comes out once more. RUDE
// makes the output withdraw items that are not taken at once, and SHAKY makes it change them.
module queue #(
    parameter PLANTED = 0,
    parameter RUDE = 0,
    parameter SHAKY = 0
) (
    input  wire        clk,
    input  wire        rst,
    input  wire [15:0] s_data,
    input  wire        s_valid,
    output wire        s_ready,
    input  wire        s_last,
    output wire [15:0] m_data,
    output wire        m_valid,
    input  wire        m_ready,
    output wire        m_last
);
    reg [16:0] store[0:7];
    reg [3:0] head, tail, age;
    reg [11:0] taken;
    wire [3:0] used = head - tail;
    wire take = s_valid && s_ready;
    wire give = m_valid && m_ready;
    wire lost = PLANTED != 0 && used == 7 && give && taken == 3000;

    assign s_ready = used != 8;
    assign m_valid = used != 0 && !(RUDE != 0 && age == 9);
    assign {m_last, m_data} = store[tail[2:0]] ^ (SHAKY != 0 && age == 9 ? 17'd4 : 17'd0);

    always @(posedge clk) begin
        if (take && !lost) store[head[2:0]] <= {s_last, s_data};
        if (rst) begin
            head <= 0;
            taken <= 0;
            tail <= 0;
            age <= 0;
        end else begin
            head <= head + {3'd0, take};
            if (take && taken != 3000) taken <= taken + 1;
            tail <= tail + {3'd0, give};
            age <= m_valid && !m_ready ? age + 1 : 0;
        end
    end
endmodule
