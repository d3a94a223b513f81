package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
	"github.com/stafflink/lmmc/testbench/model"
	"github.com/stafflink/lmmc/testbench/modelsim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestPackets records sessions over cables of all kinds and holds what Packets finds against what the network interface got.
func TestPackets(t *testing.T) {
	restarts := 0
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 21))
			var got [][]byte
			network := check.Must(modelsim.New(modelsim.Loop(model.Config{Links: 2, Frames: 4, PageBytes: 256, RxBytes: 4096,
				Observe: func(o model.Observation) {
					if o.Outcome == model.Answered || o.Outcome == model.Forwarded {
						got = append(got, bytes.Clone(o.Packet))
					}
				}})))(t)
			host := check.Must(network.Sole())(t)
			cable := &drivertest.Cable{Transport: host, RNG: rand.New(rand.NewPCG(seed, 22)), Calm: 5_000}
			if seed > 2 {
				cable.Rate = 1e-4
			}
			if seed > 5 {
				cable.CutEvery = 3_000
			}
			var file bytes.Buffer
			recorder := record.New(&file)
			n := check.Must(hostdrv.New(t.Context(), cable, recorder.Options(hostdrv.Options{Seed: 1 + seed})))(t)
			work(t, n, rng)
			received := n.CableCounters()[linkproto.CntRxPackets]
			check.Fatal(t, errors.Join(n.Close(), recorder.Close()))
			sessions, err := record.Read(&file)
			if err != nil || len(sessions) != 1 || !sessions[0].Ended || sessions[0].Reason != "" || sessions[0].Seed != 1+seed {
				t.Fatalf("read %d sessions, %v", len(sessions), err)
			}
			packets, again := sessions[0].Packets()
			restarts += again
			var sent [][]byte
			heard := uint32(0)
			for _, p := range packets {
				if p.ToNI {
					sent = append(sent, p.Raw)
				} else {
					heard++
				}
			}
			if len(sent) > len(got) && len(sent) < len(got)+200 { // the last ones were underway when it was closed
				sent = sent[:len(got)]
			}
			check.Equal(t, fmt.Sprintf("%d restarts: what the recording says, and what the network interface got", again), sent, got)
			if heard < received {
				t.Errorf("%d packets received, at least %d were", heard, received)
			}
		})
	}
	if restarts < 5 {
		t.Errorf("the links started again %d times, want more", restarts)
	}
}

// TestTakenBack: a frame that its sender takes back is no packet, and the packet that comes with its number begins behind it.
func TestTakenBack(t *testing.T) {
	host, peer := linkproto.LifeOf(0, 0, 5), linkproto.LifeOf(0, 0, 9)
	raw := check.Must((&linkproto.Packet{Type: linkproto.TypeDone, Tag: 3}).Append(nil))(t)
	says := func(to, from linkproto.Life) []byte {
		key := linkproto.KeyOf(to, from)
		word, frame := linkproto.AppendWord(nil, key, linkproto.Word{}), linkproto.AppendFrame(nil, key, 0, raw)
		return linkproto.AppendStuffed(nil, slices.Concat(word, frame[:5], []linkproto.Symbol{linkproto.SymAbort}, frame))
	}
	hello := func(life linkproto.Life) []byte {
		return linkproto.AppendStuffed(nil, linkproto.AppendInit(nil, linkproto.Init{Version: linkproto.Version, Life: life, Page: 10, Lanes: 1}))
	}
	s := record.Session{Exchanges: []record.Exchange{
		{Out: hello(host), In: hello(peer), Ticks: 100},
		{Out: says(peer, host), In: says(host, peer), Ticks: 100},
	}}
	packets, restarts := s.Packets()
	check.Equal(t, "restarts", restarts, 0)
	const before = linkproto.WordSymbols + 5 + 1
	begin, end := uint64(100+before), uint64(100+before+len(raw)+linkproto.FrameOverhead)
	check.Equal(t, "packets", packets, []record.Packet{{ToNI: true, Start: begin, End: end, Raw: raw}, {Start: 200, End: 200, Raw: raw}})
}

// work does a bit of everything that goes on in spite of a bad cable.
func work(t *testing.T, n *hostdrv.NI, rng *rand.Rand) {
	t.Helper()
	ctx := t.Context()
	goOn := func(err error) {
		t.Helper()
		if errors.Is(err, hostdrv.ErrUncertain) {
			t.Skip(err, n.Close()) // the cable was cut again too soon: nobody knows what has arrived
		}
		if !drivertest.IsLoss(err) {
			check.Fatal(t, drivertest.NoRestart(err))
		}
	}
	for frame := range 4 {
		goOn(n.SetFrame(ctx, frame, hostdrv.FrameEntry{Link: 1 + frame%2}))
	}
	for range 150 {
		data := drivertest.Random(rng, make([]byte, 1+rng.IntN(256)))
		switch rng.IntN(5) {
		case 0:
			goOn(n.WriteRegister(ctx, linkproto.RegScratch, rng.Uint32()))
		case 1:
			goOn(n.ReadBuffer(ctx, data, rng.IntN(4*256-len(data))))
		case 2:
			goOn(n.Sync(ctx, 1+rng.IntN(2)))
		case 3:
			goOn(check.Err(n.Counters(ctx, 0)))
		default:
			goOn(n.Write(ctx, 1+rng.IntN(2), rng.IntN(4*256-len(data)), data))
		}
	}
}

// recording is a file of one short session.
func recording(t testing.TB) []byte {
	var file bytes.Buffer
	recorder := record.New(&file)
	n := check.Must(hostdrv.Open(t.Context(), "model:", recorder.Options(hostdrv.Options{Seed: 4})))(t)
	check.Fatal(t, errors.Join(n.WriteRegister(t.Context(), linkproto.RegScratch, 0xDB), n.Close(), recorder.Close()))
	return file.Bytes()
}

func TestTwoTargets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two")
	recorder := check.Must(record.Create(path))(t)
	check.Fails(t, "created twice", check.Err(record.Create(path)), os.ErrExist)
	var open []*hostdrv.NI
	for _, target := range []string{"model:", "model:?links=2"} {
		open = append(open, check.Must(hostdrv.Open(t.Context(), target, recorder.Options(hostdrv.Options{})))(t))
	}
	for i, n := range open {
		check.Error(t, n.WriteRegister(t.Context(), linkproto.RegScratch, uint32(i)))
	}
	check.Error(t, errors.Join(open[0].Close(), recorder.Close(), open[1].Close()))
	sessions, err := record.ReadFile(path)
	if err != nil || len(sessions) != 2 {
		t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	if !sessions[0].Ended || sessions[1].Ended || sessions[1].Target != "model:?links=2" || sessions[1].TicksPerSecond != 125e6 {
		t.Errorf("sessions %+v, %+v", sessions[0].Header, sessions[1].Header)
	}
	for i, s := range sessions {
		packets, _ := s.Packets()
		var last linkproto.Packet
		for _, p := range packets {
			if p.ToNI {
				check.Error(t, last.Decode(p.Raw))
			}
		}
		if last.Type != linkproto.TypeRegWrite || last.Value != uint32(i) {
			t.Errorf("session %d ends with %+v", i, last)
		}
	}
}

// gone is a transport whose target goes away.
type gone struct{ hostdrv.Transport }

func (gone) Exchange(*hostdrv.Exchange) error { return errors.New("pulled out") }

func TestEndTellsWhy(t *testing.T) {
	target := check.Must(hostdrv.Dial(t.Context(), "model:"))(t)
	var file bytes.Buffer
	recorder := record.New(&file)
	check.Fails(t, "New behind a target that is gone", check.Err(hostdrv.New(t.Context(), gone{target}, recorder.Options(hostdrv.Options{}))), hostdrv.ErrGone)
	check.Error(t, recorder.Close())
	sessions, err := record.Read(&file)
	if err != nil || len(sessions) != 1 || sessions[0].Reason != "pulled out" {
		t.Errorf("%+v, %v", sessions, err)
	}
}

// full is a disk that takes so many bytes.
type full int

func (f *full) Write(p []byte) (int, error) {
	if *f -= full(len(p)); *f < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestDiskFull(t *testing.T) {
	disk := full(300)
	recorder := record.New(&disk)
	n := check.Must(hostdrv.Open(t.Context(), "model:", recorder.Options(hostdrv.Options{})))(t)
	if err := errors.Join(n.WriteRegister(t.Context(), linkproto.RegScratch, 1), n.Close()); err != nil {
		t.Errorf("the session suffers: %v", err)
	}
	check.Fails(t, "Close", recorder.Close(), nil)
}

func TestReadErrors(t *testing.T) {
	good := recording(t)
	check.Must(record.Read(bytes.NewReader(good)))(t)
	for length := range good {
		sessions, err := record.Read(bytes.NewReader(good[:length]))
		want := record.ErrTruncated
		if length < 8 {
			want = record.ErrForeign
		}
		if !errors.Is(err, want) || want == record.ErrTruncated && length > 200 && len(sessions) != 1 {
			t.Errorf("cut off at %d of %d: %d sessions, %v", length, len(good), len(sessions), err)
		}
	}
	for _, c := range []struct {
		file string
		want error
	}{
		{"", record.ErrForeign},
		{"\x7fELF and so on", record.ErrForeign},
		{"LMMCREC\x01", record.ErrVersion},
		{"LMMCREC\x02\x09\x00", record.ErrDamaged},                                         // a kind that there is not
		{"LMMCREC\x02\x02\x01\x00", record.ErrDamaged},                                     // no session yet
		{"LMMCREC\x02\x01\x03abc", record.ErrDamaged},                                      // no JSON
		{"LMMCREC\x02\x01\x02{}\x02\x03\x00\x01\x09", record.ErrDamaged},                   // more sent than there is
		{"LMMCREC\x02\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", record.ErrDamaged}, // a length of more than 64 bits
		{"LMMCREC\x02\x01\xff\xff\xff\xff\x7f", record.ErrDamaged},                         // absurd
		{"LMMCREC\x02\x01\x80\x80\x80\x04", record.ErrTruncated},                           // long, and not there
	} {
		check.Fails(t, fmt.Sprintf("%q", c.file), check.Err(record.Read(bytes.NewReader([]byte(c.file)))), c.want)
	}
	check.Fails(t, "ReadFile of no file", check.Err(record.ReadFile(filepath.Join(t.TempDir(), "none"))), os.ErrNotExist)
}

// FuzzRead reads anything, and follows what it finds.
func FuzzRead(f *testing.F) {
	f.Add(recording(f))
	f.Add([]byte("LMMCREC\x02\x01\x02{}\x02\x05\x00\x01\x01\xDB\x1C\x04\x00"))
	f.Fuzz(func(t *testing.T, file []byte) {
		sessions, err := record.Read(bytes.NewReader(file))
		if err != nil && !errors.Is(err, record.ErrForeign) && !errors.Is(err, record.ErrVersion) &&
			!errors.Is(err, record.ErrTruncated) && !errors.Is(err, record.ErrDamaged) {
			t.Fatal(err)
		}
		symbols := 0
		for _, s := range sessions {
			for _, x := range s.Exchanges {
				symbols += len(x.Out) + len(x.In)
			}
			packets, _ := s.Packets()
			if len(packets)*linkproto.FrameOverhead > symbols {
				t.Fatalf("%d packets of %d symbols", len(packets), symbols)
			}
		}
	})
}
