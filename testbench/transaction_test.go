package testbench_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
)

// fstTexts reads the texts of an FST file, or with a second argument the names of its signals, with the library that Verilator has for it.
func fstTexts(t *testing.T, arguments ...string) string {
	t.Helper()
	root := strings.TrimSpace(string(check.Must(exec.Command("verilator", "--getenv", "VERILATOR_ROOT").Output())(t)))
	include := filepath.Join(root, "include", "gtkwave")
	program := filepath.Join(t.TempDir(), "fst_texts")
	compile := exec.Command("cc", "-w", "-O0", "-D_GNU_SOURCE", "-DFST_CONFIG_INCLUDE=\"fst_config.h\"", "-I", include, "-o", program,
		"testdata/fst_texts.c", filepath.Join(include, "fstapi.c"), filepath.Join(include, "fastlz.c"), filepath.Join(include, "lz4.c"), "-lz")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(check.Must(exec.Command(program, arguments...).Output())(t))
}

func TestTransactionsAreInTheWaveAndTheTranscripts(t *testing.T) {
	t.Setenv("LMMC_WAVES", "")
	b := check.Must(testbench.Open(t.Context(), adder, testbench.Config{Wave: testbench.WaveAlways, WaveDir: t.TempDir(), WaveCycles: 30}))(t)
	var text, lines strings.Builder
	b.Transcribe(&text, testbench.Text)
	b.Transcribe(&lines, testbench.JSON)
	writes, reads := b.Transactions("bus write"), b.Transactions("read")
	check.Equal(t, "same name", b.Transactions("read"), reads)
	b.Go("driver", func(c *testbench.Task) {
		for i := range 300 { // far more than the wave shows
			old := reads.Begin("old", "i", i)
			c.Cycles(2)
			old.End()
		}
		first := writes.Begin("burst", "addr", testbench.Hex(64), "len", 4)
		c.Cycles(3)
		second := writes.Begin("single")
		c.Cycles(2)
		first.Add("resp", "OK")
		c.Cycles(1)
		first.End()
		first.End()
		second.End()
		third := writes.Begin("third", "stray")
		c.Cycles(4)
		third.End()
	})
	check.Fatal(t, b.Run(1000))
	check.Fatal(t, b.Close())
	all := fstTexts(t, b.Waves()[0])
	var got []string
	for line := range strings.Lines(all) {
		if strings.Contains(line, "bus_write") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	want := []string{
		"6000 transactions.bus_write burst addr=0x40 len=4",
		"6030 transactions.bus_write#2 single",
		"6050 transactions.bus_write burst addr=0x40 len=4 resp=OK",
		"6060 transactions.bus_write third !=stray",
		"6060 transactions.bus_write#2",
		"6100 transactions.bus_write",
	}
	check.Equal(t, "texts", strings.Join(got[len(got)-len(want):], "\n"), strings.Join(want, "\n"))
	check.Contains(t, "wave", all, "transactions.read old i=299")
	if strings.Contains(all, "i=200\n") {
		t.Error("the wave shows what was long before it")
	}
	check.Contains(t, "transcript", text.String(), "time 6000 to 6060, cycles 600 to 606: bus write: burst addr=0x40 len=4 resp=OK\n")
	var last testbench.Record
	all = strings.TrimSpace(lines.String())
	check.Fatal(t, json.Unmarshal([]byte(all[strings.LastIndexByte(all, '\n')+1:]), &last))
	check.Equal(t, "last line", last, testbench.Record{Lane: "bus write", Name: "third", Begin: testbench.Instant{Time: 6060, Cycle: 606},
		End: testbench.Instant{Time: 6100, Cycle: 610}, Fields: []testbench.Attribute{{Key: "!", Value: "stray"}}})
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestATranscriptThatCannotBeWrittenFailsTheBench(t *testing.T) {
	b, _ := openAdder(t, testbench.Config{})
	b.Transcribe(full{}, testbench.Text)
	b.Go("driver", func(c *testbench.Task) {
		defer b.Transactions("x").Begin("y").End()
		c.Cycles(1)
	})
	check.Fails(t, "Run", b.Run(10), nil, "disk full")
}

// Transactions of a bus, written down as text. A wave of the same bench shows them beside the signals.
func ExampleInstance_Transactions() {
	b, err := testbench.Open(context.Background(), adder, testbench.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	b.Transcribe(os.Stdout, testbench.Text)
	b.Go("master", func(c *testbench.Task) {
		write := b.Transactions("bus").Begin("write", "addr", testbench.Hex(0x40), "data", 7)
		c.Cycles(3)
		write.Add("response", "OK")
		write.End()
	})
	if err := b.Run(100); err != nil {
		fmt.Println(err)
	}
	// Output: time 0 to 30, cycles 0 to 3: bus: write addr=0x40 data=7 response=OK
}
