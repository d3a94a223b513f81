package verilator_test

import (
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

func TestLCOV(t *testing.T) {
	points := verilator.Points{
		{File: "a.v", Line: 3, Kind: "line", What: "block", Lines: "3,5-6", Count: 9},
		{File: "a.v", Line: 5, Column: 2, Kind: "branch", What: "if", Lines: "5-6", Count: 4},
		{File: "a.v", Line: 5, Column: 2, Kind: "branch", What: "else", Lines: "8", Count: 0},
		{File: "a.v", Line: 5, Column: 9, Kind: "branch", What: "if", Count: 2},
		{File: "a.v", Line: 7, Kind: "toggle", What: "q[0]", Count: 5},
		{File: "b.v", Line: 2, Kind: "line", What: "block", Lines: "2", Count: 0},
	}
	var got strings.Builder
	check.Fatal(t, points.WriteLCOV(&got))
	check.Equal(t, "text", got.String(), `TN:
SF:a.v
BRDA:5,0,0,4
BRDA:5,0,1,0
BRDA:5,1,0,2
BRF:3
BRH:2
DA:3,9
DA:5,9
DA:6,9
DA:8,0
LF:4
LH:3
end_of_record
TN:
SF:b.v
BRF:0
BRH:0
DA:2,0
LF:1
LH:0
end_of_record
`)
}
