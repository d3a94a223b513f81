package usb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/pipe"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
	_ "github.com/stafflink/lmmc/testbench/modelsim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	anything = wanted{vendor: ftdi, channel: -1, baud: DefaultBaud}
	// slowly is for the simulated board: the slower, the less it matters that the machine is busy.
	slowly = wanted{vendor: ftdi, channel: -1, baud: 230400}
)

// paced is a simulation that takes the time that a board would.
type paced struct {
	hostdrv.Transport
	rate float64 // ticks a second
}

func (p paced) Exchange(x *hostdrv.Exchange) error {
	start := time.Now()
	err := p.Transport.Exchange(x)
	time.Sleep(time.Until(start.Add(time.Duration(float64(x.Ticks) / p.rate * float64(time.Second)))))
	return err
}

// board puts a model of a network interface at the end of a chip's serial line.
func board(t *testing.T, d *fakeDevice, line net.Conn) {
	target := check.Must(hostdrv.Dial(t.Context(), "model:?links=2&frames=8&page=256"))(t)
	ended := check.Go(func() error { return pipe.Bridge(context.Background(), line, paced{target, 23040}) })
	t.Cleanup(func() {
		d.unplug()
		check.Error(t, <-ended)
	})
}

func TestBoard(t *testing.T) {
	for _, c := range []struct {
		release uint16
		packet  int
	}{{0x0700, 512}, {0x0600, 64}} {
		t.Run(fmt.Sprint(c.packet), func(t *testing.T) {
			d, line := plug(c.release, "1-1")
			d.size = c.packet
			board(t, d, line)
			transport := check.Must(openOn(t.Context(), newFakeBus(t, d), slowly, 0))(t)
			n := check.Must(hostdrv.New(t.Context(), transport, hostdrv.Options{}))(t)
			check.Fatal(t, n.SetFrame(t.Context(), 3, hostdrv.FrameEntry{Link: 1}))
			want := bytes.Repeat([]byte{0xDB, 1, 0x60, 0x1C}, 60) // escapes and status among it
			have := make([]byte, len(want))
			for i := range 8 {
				want[i]++
				check.Fatal(t, errors.Join(n.Write(t.Context(), 2, 3*256+5, want), n.Sync(t.Context(), 2)))
				check.Fatal(t, n.ReadBuffer(t.Context(), have, 3*256+5))
			}
			counters := check.Must(n.Counters(t.Context(), 0))(t)
			check.Equal(t, "frames with a bad CRC", counters[linkproto.CntRxCRC]+n.CableCounters()[linkproto.CntRxCRC], 0)
			check.Error(t, n.Close())
			check.Equal(t, "page", have, want)
		})
	}
}

// TestUnplugged takes the board away while calls wait for it.
func TestUnplugged(t *testing.T) {
	for range 5 {
		d, line := plug(0x0700, "1-1")
		board(t, d, line)
		transport := check.Must(openOn(t.Context(), newFakeBus(t, d), slowly, 0))(t)
		n := check.Must(hostdrv.New(t.Context(), transport, hostdrv.Options{}))(t)
		drivertest.Unplugged(t, n, d.unplug)
		check.Error(t, n.Close())
	}
}

// bothWays sends symbols from each of two transports to the other at once, and closes them.
func bothWays(t *testing.T, ends ...hostdrv.Transport) {
	var sent, got [2][]linkproto.Symbol
	rng := rand.New(rand.NewPCG(1, 5))
	for i := range sent {
		for range 30_000 {
			sent[i] = append(sent[i], linkproto.Symbol(rng.IntN(256)))
		}
	}
	var users sync.WaitGroup
	for i, end := range ends {
		users.Go(func() {
			rng := rand.New(rand.NewPCG(2, uint64(i)))
			for out := sent[i]; len(out) > 0 || len(got[i]) < len(sent[1-i]); {
				x := hostdrv.Exchange{Out: out[:min(len(out), 1+rng.IntN(4000))], Wait: 1000}
				if err := end.Exchange(&x); err != nil {
					t.Error(err)
					return
				}
				if x.Taken {
					out = out[len(x.Out):]
				}
				got[i] = append(got[i], x.In...)
			}
		})
	}
	users.Wait()
	for i := range sent {
		check.Equal(t, fmt.Sprintf("what end %d sent", i), got[1-i], sent[i])
	}
	check.Error(t, errors.Join(ends[0].Close(), ends[1].Close()))
}

// TestSymbols has at the board's end somebody with a transport of bytes.
func TestSymbols(t *testing.T) {
	d, line := plug(0x0800, "1-1")
	host := check.Must(openOn(t.Context(), newFakeBus(t, d), anything, 0))(t)
	bothWays(t, host, pipe.New(line, host.Timing()))
}

// TestStuck closes a chip that takes no more bytes.
func TestStuck(t *testing.T) {
	d, line := plug(0x0700, "1-1")
	defer line.Close()
	drivertest.Stuck(t, check.Must(openOn(t.Context(), newFakeBus(t, d), anything, 0))(t))
}

func parsed(t *testing.T, target string) wanted {
	t.Helper()
	return check.Must(parse(check.Must(url.Parse(target))(t)))(t)
}

func TestParse(t *testing.T) {
	for target, want := range map[string]wanted{
		"usb:":          anything,
		"usb:0403:6010": {ftdi, 0x6010, "", "", -1, DefaultBaud},
		"usb:15BA:002b?serial=FT12AB&interface=b&baud=115200": {0x15BA, 0x2B, "FT12AB", "", 1, 115200},
		"usb:?port=1-2.3&interface=D":                         {ftdi, 0, "", "1-2.3", 3, DefaultBaud},
	} {
		check.Equal(t, target, parsed(t, target), want)
	}
	for _, target := range []string{
		"usb:0403", "usb:0403:", "usb:0403:6010:1", "usb:0403:16010", "usb:/dev/ttyUSB1", "usb:0x403:0x6010",
		"usb:?interface=E", "usb:?interface=AB", "usb:?interface=", "usb:?baud=300", "usb:?baud=13000000", "usb:?baud=fast", "usb:?speed=9600",
		"usb:?serial=1&serial=2", "usb:?baud=%zz",
	} {
		check.Fails(t, target, check.Err(hostdrv.Dial(t.Context(), target)), hostdrv.ErrTarget)
	}
}

func TestErrors(t *testing.T) {
	first, _ := plug(0x0700, "1-1")
	second, _ := plug(0x0700, "1-2.4")
	first.number, second.number = "FT1", "FT2"
	denied, _ := plug(0x0700, "1-3")
	denied.denied, denied.vendor = ErrPermission, 0x15BA
	busy, _ := plug(0x0700, "1-4")
	busy.taken = ErrBusy
	old, _ := plug(0x0200, "1-5")
	slow, _ := plug(0x0600, "1-6")
	stalled, _ := plug(0x0700, "1-7")
	stalled.isStalling, stalled.stalled = true, requestLatency
	odd, _ := plug(0x0700, "1-8")
	odd.size = 2

	for _, c := range []struct {
		target  string
		plugged []*fakeDevice
		want    error
		says    string
	}{
		{"usb:", nil, ErrNoDevice, "any of vendor 0403"},
		{"usb:0403:6014", []*fakeDevice{first}, ErrNoDevice, "0403:6014"},
		{"usb:?serial=FT3", []*fakeDevice{first, second}, ErrNoDevice, "FT3"},
		{"usb:?interface=C", []*fakeDevice{first}, ErrNoDevice, "the last is B"},
		{"usb:", []*fakeDevice{second, first}, ErrSeveral, "port 1-1, serial number FT1\n  0403:6010 at port 1-2.4, serial number FT2"},
		{"usb:15ba:6010", []*fakeDevice{first, denied}, ErrPermission, "lmmc udev --vendor 15ba"},
		{"usb:", []*fakeDevice{busy}, ErrBusy, "interface B: 0403:6010 at port 1-4"},
		{"usb:", []*fakeDevice{old}, ErrChip, "0200"},
		{"usb:?baud=12000000", []*fakeDevice{slow}, ErrBaud, "the nearest rate of FT232R is 3000000"},
		{"usb:", []*fakeDevice{stalled}, errStalled, "latency timer"},
		{"usb:", []*fakeDevice{odd}, ErrChip, "packets of 2 bytes"},
	} {
		check.Fails(t, c.target, check.Err(openOn(t.Context(), newFakeBus(t, c.plugged...), parsed(t, c.target), 0)), c.want, c.says)
	}

	failing := newFakeBus(t)
	failing.failure = errors.New("no memory")
	check.Fails(t, "openOn", check.Err(openOn(t.Context(), failing, anything, 0)), failing.failure)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	check.Fails(t, "openOn", check.Err(openOn(ended, newFakeBus(t, first), anything, 0)), context.Canceled)
}

// TestChoice finds one among several, also when others cannot be looked at.
func TestChoice(t *testing.T) {
	for _, target := range []string{"usb:?serial=FT2", "usb:?port=1-2.4", "usb:0403:6011"} {
		first, _ := plug(0x0700, "1-1")
		first.denied = ErrPermission
		second, line := plug(0x0800, "1-2.4")
		second.number, second.product = "FT2", 0x6011
		n := check.Must(openOn(t.Context(), newFakeBus(t, first, second), parsed(t, target), 0))(t)
		check.Equal(t, target+": interface", second.claimed, 2)
		check.Error(t, n.Close())
		line.Close()
	}
}

// FuzzHostileChip opens a network interface behind a chip that sends anything, in packets that no chip makes.
func FuzzHostileChip(f *testing.F) {
	f.Add([]byte{1, 0x60, 0xDB, 0xDC})
	f.Add(bytes.Repeat([]byte{0xFF}, 3000))
	f.Fuzz(func(t *testing.T, sent []byte) {
		d, line := plug(0x0700, "1-1")
		d.size = 8
		var writer sync.WaitGroup
		writer.Go(func() {
			_, _ = line.Write(sent)
			_, _ = line.Read(make([]byte, 100))
			line.Close()
		})
		transport := check.Must(openOn(t.Context(), newFakeBus(t, d), anything, 0))(t)
		if n, err := hostdrv.New(t.Context(), transport, hostdrv.Options{}); err == nil {
			t.Error("that was no network interface")
			n.Close()
		}
		writer.Wait()
	})
}
