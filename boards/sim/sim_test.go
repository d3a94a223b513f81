package sim

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wrapper is the top module of a configuration as it stands, before synthesis.
func wrapper(t *testing.T, c *boards.Config) verilator.Design {
	t.Helper()
	files, order, include, err := c.Verilog()
	check.Fatal(t, err)
	params := check.Must(c.Parameters())(t)
	tree := fstest.MapFS{}
	models := strings.NewReplacer("SB_PLL40_CORE", "lmmc_pll_core", "SB_PLL40_PAD", "lmmc_pll_pad")
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(models.Replace(string(text)))}
	}
	plls := check.Must(cells.ReadDir("cells"))(t)
	for _, f := range plls {
		text := check.Must(cells.ReadFile("cells/" + f.Name()))(t)
		tree[f.Name()] = &fstest.MapFile{Data: text}
		order = append(order, f.Name())
	}
	return verilator.Design{Top: boards.Top, FS: tree, Sources: order, IncludeDirs: []string{include}, Params: params}
}

// The wrapper of each board that can be simulated holds the network interface that its configuration says, whose links reach themselves or each
// other by the pins, or inside.
func TestWrappers(t *testing.T) {
	all := check.Must(boards.All())(t)
	for _, b := range all {
		for _, c := range b.Configs() {
			if b.FPGA.Family != "ice40" {
				continue
			}
			t.Run(c.String(), func(t *testing.T) {
				d := wrapper(t, c)
				found, err := verilator.Lint(t.Context(), d)
				check.Error(t, err)
				for _, warning := range found {
					if warning.Code != "PINMISSING" && warning.Code != "UNUSEDPARAM" { // the PLL has unused pins and parameters
						t.Errorf("lint: %v", warning)
					}
				}
				if c.String() == "icebreaker/one-link" {
					return // TestIceBreaker simulates more of it: its bitstream
				}
				o := options{latency: 3, seed: 1}
				transport := check.Must(o.open(t.Context(), c, d))(t)
				works(t, c, transport)
			})
		}
	}
}

// works checks a network interface at its pins: its parameters, the UART's throughput, each link, and that a loss of power shows as a
// restart.
func works(t *testing.T, c *boards.Config, transport hostdrv.Transport) {
	t.Helper()
	if hz := transport.Timing().TicksPerSecond * 10 * float64(c.Divisor()); hz < 0.999e6*c.MHz || hz > 1.001e6*c.MHz {
		t.Errorf("its clock is %.0f Hz", hz)
	}
	n := check.Must(hostdrv.New(t.Context(), transport, hostdrv.Options{Hash: rtl.Hash(), Seed: 1}))(t)
	defer n.Close()
	id, p := n.Identity(), c.Params()
	if id.Links != p.Links || id.Frames != p.Frames || id.PageBytes != p.PageBytes || id.ReplayBytes != p.ReplayBytes || id.RxBytes != p.RxBytes {
		t.Errorf("%+v", id)
	}
	hostCarries(t, c, n)
	for link := 1; link <= p.Links; link++ {
		exchange(t, n, link)
	}
	check.Fatal(t, transport.(hostdrv.Resetter).Reset())
	check.Fails(t, "after a loss of power", check.Err(n.ReadRegister(t.Context(), linkproto.RegScratch)), hostdrv.ErrReset)
}

// hostCarries fills the receive buffer and reads it, and expects 4/5 of the UART's rate as payload each way, and that to be 3 Mbaud at least.
func hostCarries(t *testing.T, c *boards.Config, n *hostdrv.NI) {
	t.Helper()
	want, have := bytes.Repeat([]byte{0x55}, c.Frames*c.Page), make([]byte, c.Frames*c.Page) // no byte of it is escaped
	start := n.Now()
	check.Fatal(t, n.WriteBuffer(t.Context(), want, 0))
	written := n.Now()
	check.Fatal(t, n.ReadBuffer(t.Context(), have, 0))
	check.Equal(t, "buffer", have, want)
	for what, took := range map[string]time.Duration{"to": written - start, "from": n.Now() - written} {
		bits := 10 * float64(len(want)) / took.Seconds()
		if bits < 0.8*float64(c.Baud) || c.Baud < 3_000_000 {
			t.Errorf("%.2f Mbit/s %s the board, start and stop bits included, at %d baud", bits/1e6, what, c.Baud)
		}
		t.Logf("%.2f Mbit/s %s the board, start and stop bits included, at %d baud", bits/1e6, what, c.Baud)
	}
	if k := n.CableCounters(); k[linkproto.CntReplays]+k[linkproto.CntRxCRC]+k[linkproto.CntBadWord] != 0 {
		t.Errorf("the UART loses bytes: %v", k)
	}
}

// exchange writes over a link and reads the data at the far end of the cable.
func exchange(t *testing.T, n *hostdrv.NI, link int) {
	t.Helper()
	far := (link - 1) ^ 1 + 1
	if far > n.Identity().Links {
		far = link
	}
	page := n.Identity().PageBytes
	check.Fatal(t, n.SetFrame(t.Context(), 0, hostdrv.FrameEntry{Link: far}))
	text := strings.Repeat("over the pins ", 4)
	check.Fatal(t, n.Write(t.Context(), link, page-len(text), []byte(text)))
	check.Fatal(t, n.Sync(t.Context(), link))
	got := make([]byte, len(text))
	check.Fatal(t, n.ReadBuffer(t.Context(), got, page-len(text)))
	check.Equal(t, fmt.Sprint("written over link ", link), string(got), text)
}

func TestBadTargets(t *testing.T) {
	foreign := filepath.Join(t.TempDir(), "foreign.bin")
	check.Fatal(t, os.WriteFile(foreign, []byte("no bitstream"), 0o666))
	for target, want := range map[string]error{
		"gates:": hostdrv.ErrTarget, "gates:?links=1": hostdrv.ErrTarget, "gates:hx8k?colour=1": hostdrv.ErrTarget, "bits:": hostdrv.ErrTarget,
		"gates:nothing": boards.ErrUnknown, "gates:hx8k/nothing": boards.ErrUnknown, "bits:nothing": boards.ErrUnknown,
		"bits:/nowhere/x.bin": os.ErrNotExist, "bits:" + foreign: bitstream.ErrForeign,
	} {
		check.Fails(t, target, check.Err(hostdrv.Dial(t.Context(), target)), want)
	}
}
