package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/hostdrv/replay"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

func run(t *testing.T, s *record.Session, target string) replay.Result {
	t.Helper()
	to := check.Must(hostdrv.Dial(t.Context(), target))(t)
	defer to.Close()
	return check.Must(replay.Run(t.Context(), s, to))(t)
}

// what is in words what a replay has found; "" for nothing.
func what(d *replay.Divergence) string {
	if d == nil {
		return ""
	}
	return d.What
}

// TestAgree holds that what was recorded with the model is found again in the RTL, and the other way round.
func TestAgree(t *testing.T) {
	for seed := range uint64(2) {
		for name, program := range map[string]func(*testing.T, *hostdrv.NI){"pages": pages(seed), "requests": requests(seed)} {
			for _, from := range []string{model(), rtl()} {
				s := recorded(t, from, nil, program)
				for _, to := range []string{model(), rtl()} {
					r := run(t, s, to)
					if r.Divergence != nil {
						t.Errorf("%s, seed %d, from %s to %s: %+v", name, seed, from, to, r.Divergence)
					}
					if r.Compared < 60 || r.Unsure > r.Compared/4 {
						t.Errorf("%s, seed %d, from %s to %s: %d compared, %d of them not sure", name, seed, from, to, r.Compared, r.Unsure)
					}
				}
			}
		}
	}
}

// TestAgreeAfterFaults replays sessions in which the host's cable failed: on one that does not.
func TestAgreeAfterFaults(t *testing.T) {
	restarts, retold := 0, 0
	for seed := uint64(0); seed < 4 || (seed < 40 && (restarts == 0 || retold == 0)); seed++ { // what meets depends on the scheduler
		for name, program := range map[string]func(*testing.T, *hostdrv.NI){"pages": pages(seed), "requests": requests(seed)} {
			s := recorded(t, model(), func(_ string, t hostdrv.Transport) hostdrv.Transport {
				return &drivertest.Cable{Transport: t, RNG: rand.New(rand.NewPCG(seed, 8)), Rate: 5e-5, CutEvery: 20_000, Calm: 4 * linkproto.DefaultRetry}
			}, program)
			packets, again := s.Packets()
			restarts += again
			for _, p := range packets {
				var q linkproto.Packet
				if q.Decode(p.Raw) == nil && q.Type == linkproto.TypeRetrap {
					retold++
				}
			}
			for _, to := range []string{model(), rtl()} {
				if r := run(t, s, to); r.Divergence != nil || r.Compared < 60 {
					t.Errorf("%s, seed %d, to %s, with %d restarts: %d compared, %+v", name, seed, to, again, r.Compared, r.Divergence)
				}
			}
		}
	}
	if restarts == 0 || retold == 0 {
		t.Errorf("links started %d times again, and %d traps were told again", restarts, retold)
	}
}

// TestBroken replays on targets with a fault each.
func TestBroken(t *testing.T) {
	session := recorded(t, model(), nil, pages(9))
	reads, done, lost := 0, 0, 0
	for name, c := range map[string]struct {
		change func(toNI bool, p *linkproto.Packet) bool
		want   string
	}{
		"a wrong byte": {func(toNI bool, p *linkproto.Packet) bool {
			if p.Type == linkproto.TypeBufData {
				if reads++; reads == 20 {
					p.Data = bytes.Clone(p.Data)
					p.Data[len(p.Data)/2] ^= 0x10
				}
			}
			return true
		}, "of the receive buffer was"},
		"a lost answer": {func(_ bool, p *linkproto.Packet) bool {
			if p.Type == linkproto.TypeDone {
				lost++
			}
			return lost != 91
		}, "answer"},
		"no traps":  {func(_ bool, p *linkproto.Packet) bool { return p.Type != linkproto.TypeTrap }, "does not trap"},
		"no resume": {func(_ bool, p *linkproto.Packet) bool { return p.Type != linkproto.TypeResume }, "does not answer"},
		"no notify": {func(_ bool, p *linkproto.Packet) bool { return p.Type != linkproto.TypeNotify }, "does not tell that frame"},
		"no space":  {func(_ bool, p *linkproto.Packet) bool { return p.Type != linkproto.TypeSpace }, "has got rid of 0 packets of"},
		"a wrong status": {func(_ bool, p *linkproto.Packet) bool {
			if p.Type == linkproto.TypeDone {
				if done++; done == 100 {
					p.Status = linkproto.StatusBadLength
				}
			}
			return true
		}, "status of the answer was OK, and is BAD_LENGTH"},
		"another port": {func(toNI bool, p *linkproto.Packet) bool {
			if p.Type == linkproto.TypePage {
				p.Port++
			}
			return true
		}, "trapped at something else"},
		"lost writes": {func(toNI bool, p *linkproto.Packet) bool {
			return !toNI || p.Type != linkproto.TypeWrite || len(p.Data) != 9
		}, "has got rid of"},
	} {
		t.Run(name, func(t *testing.T) {
			result := check.Must(replay.Run(t.Context(), session, broken(t, model(), c.change)))(t)
			check.Contains(t, "divergence", what(result.Divergence), c.want)
		})
	}
}

// TestBrokenRecording replays the session of an interface that does not carry out some writes on one that is right.
func TestBrokenRecording(t *testing.T) {
	program := func(t *testing.T, n *hostdrv.NI) {
		ctx := t.Context()
		check.Fatal(t, n.SetFrame(ctx, 0, hostdrv.FrameEntry{Link: 1}))
		for i := range 20 {
			check.Fatal(t, errors.Join(n.Write(ctx, 2, 0, []byte{1, byte(i)}), n.Sync(ctx, 2)))
			for range 2 { // time passes, after which the write has been carried out for certain
				check.Must(n.LinkStatus(ctx, 2))(t)
			}
			check.Fatal(t, n.ReadBuffer(ctx, make([]byte, 8), 0))
		}
	}
	for _, to := range []string{model(), rtl()} {
		s := recorded(t, model(), func(_ string, t hostdrv.Transport) hostdrv.Transport {
			return newBetween(t, func(toNI bool, p *linkproto.Packet) bool {
				if toNI && p.Type == linkproto.TypeWrite && p.Data[1] == 13 {
					p.Addr += 4
				}
				return true
			})
		}, program)
		check.Equal(t, "divergence on "+to, what(run(t, s, to).Divergence), "byte 0x1 of the receive buffer was 0x0c, and is 0x0d")
	}
}

func TestAnotherShape(t *testing.T) {
	d := run(t, recorded(t, model(), nil, requests(1)), "model:?links=3&frames=8&page=128").Divergence
	check.Equal(t, "divergence", what(d), "register LINKS was 0x2, and is 0x3")
}

// TestTrapTooMany replays a session in which a PAGE trapped nobody.
func TestTrapTooMany(t *testing.T) {
	program := func(t *testing.T, n *hostdrv.NI) {
		check.Fatal(t, n.Send(t.Context(), 1, linkproto.Packet{Type: linkproto.TypePage, Frame: 1, Port: 4}))
		for start := n.Now(); n.Now()-start < 3*time.Millisecond; {
			check.Must(n.ReadRegister(t.Context(), linkproto.RegScratch))(t)
		}
	}
	s := recorded(t, model(), func(_ string, t hostdrv.Transport) hostdrv.Transport {
		return newBetween(t, func(_ bool, p *linkproto.Packet) bool { return p.Type != linkproto.TypeTrap })
	}, program)
	check.Equal(t, "divergence", what(run(t, s, model()).Divergence), "link 2 of the target trapped, and the recorded one did not")
}

// TestShrink looks for the two packets that matter among hundreds.
func TestShrink(t *testing.T) {
	s := recorded(t, model(), nil, func(t *testing.T, n *hostdrv.NI) {
		requests(3)(t, n)
		check.Fatal(t, n.WriteRegister(t.Context(), linkproto.RegScratch, 0xBAD))
		requests(4)(t, n)
		check.Fatal(t, n.ReadBuffer(t.Context(), make([]byte, 77), 128))
		requests(5)(t, n)
	})
	fault := func() func(toNI bool, p *linkproto.Packet) bool {
		armed := false
		return func(toNI bool, p *linkproto.Packet) bool {
			armed = armed || p.Type == linkproto.TypeRegWrite && p.Value == 0xBAD
			if armed && p.Type == linkproto.TypeBufData && len(p.Data) == 77 {
				p.Data = bytes.Clone(p.Data)
				p.Data[76]++
			}
			return true
		}
	}
	dial := func(target string) replay.Opener {
		return func(ctx context.Context) (hostdrv.Transport, error) { return hostdrv.Dial(ctx, target) }
	}
	last := 0
	shrinker := replay.Shrinker{
		Target:    func(context.Context) (hostdrv.Transport, error) { return broken(t, model(), fault()), nil },
		Reference: dial(model()), Name: model(), Progress: func(packets, attempts int) { last = packets },
	}
	file, result, err := shrinker.Shrink(t.Context(), s)
	check.Fatal(t, err)
	if last != 2 || result.Divergence == nil {
		t.Errorf("shrunk to %d packets, %+v", last, result.Divergence)
	}
	sessions, err := record.Read(bytes.NewReader(file))
	if err != nil || len(sessions) != 1 {
		t.Fatal(err)
	}
	packets, _ := sessions[0].Packets()
	var sent []linkproto.Packet
	for _, p := range packets {
		var q linkproto.Packet
		check.Fatal(t, q.Decode(p.Raw))
		if p.ToNI {
			sent = append(sent, q)
		}
	}
	if len(sent) != 2 || sent[0].Value != 0xBAD || sent[1].Count != 77 {
		t.Errorf("it sends %+v", sent)
	}
	check.Equal(t, "divergence of the shrunk session where nothing is wrong", run(t, sessions[0], rtl()).Divergence, nil)
	shrinker.Target = dial(rtl())
	_, _, err = shrinker.Shrink(t.Context(), s)
	check.Fails(t, "nothing to shrink", err, replay.ErrAgree)
}

func TestCancelled(t *testing.T) {
	s := recorded(t, model(), nil, requests(1))
	ctx, cancel := context.WithCancelCause(t.Context())
	why := fmt.Errorf("enough")
	to := broken(t, model(), func(_ bool, p *linkproto.Packet) bool {
		if p.Type == linkproto.TypeBufData {
			cancel(why)
		}
		return true
	})
	check.Fails(t, "Run", check.Err(replay.Run(ctx, s, to)), why)
}

// FuzzRun replays sessions of hosts that send anything to interfaces that say anything.
func FuzzRun(f *testing.F) {
	packet := func(p linkproto.Packet) []byte {
		raw := check.Must(p.Append(nil))(f)
		return append([]byte{byte(len(raw))}, raw...)
	}
	f.Add(packet(linkproto.Packet{Type: linkproto.TypeBufRead, Tag: 1, Count: 4}), packet(linkproto.Packet{Type: linkproto.TypeBufData, Tag: 1, Data: []byte{1, 2, 3, 4}}))
	f.Add(packet(linkproto.Packet{Type: linkproto.TypePage, Via: 1, Frame: 1, Port: 3}), packet(linkproto.Packet{Type: linkproto.TypeTrap, Via: 2, Data: []byte{2, 6, 0, 1, 0, 3, 0, 0, 0}}))
	f.Add(packet(linkproto.Packet{Type: linkproto.TypeWrite, Via: 2, Data: []byte{7}}), packet(linkproto.Packet{Type: linkproto.TypeSpace, Via: 2, Packets: 200, Bytes: 9}))
	f.Fuzz(func(t *testing.T, sent, received []byte) {
		s := &record.Session{Exchanges: []record.Exchange{
			{Ticks: 10, Out: hello(host), In: hello(board)},
			{Ticks: 10, Out: ack(board), In: ack(host)},
		}}
		out, in := frames(board, sent), frames(host, received)
		for i := range max(len(out), len(in)) {
			x := record.Exchange{Ticks: 100}
			if i < len(out) {
				x.Out = out[i]
			}
			if i < len(in) {
				x.In = in[i]
			}
			s.Exchanges = append(s.Exchanges, x)
		}
		if packets, _ := s.Packets(); len(packets) != len(out)+len(in) {
			t.Fatalf("%d packets of %d and %d", len(packets), len(out), len(in))
		}
		to := check.Must(hostdrv.Dial(t.Context(), model()))(t)
		defer to.Close()
		if r, err := replay.Run(t.Context(), s, to); err == nil && r.Divergence == nil && r.Packets != len(out) {
			t.Errorf("%+v", r)
		} else if errors.Is(err, hostdrv.ErrGone) {
			t.Error(err)
		}
	})
}

// The lives of the two ends of the cable.
const (
	host  linkproto.Life = 5 << linkproto.LifeEpochShift
	board linkproto.Life = 9 << linkproto.LifeEpochShift
)

func hello(of linkproto.Life) []byte {
	return linkproto.AppendStuffed(nil, linkproto.AppendInit(nil, linkproto.Init{Version: linkproto.Version, Life: of, Page: 10, Lanes: 1}))
}

// key is that of what is sent to one of them.
func key(to linkproto.Life) linkproto.Key { return linkproto.KeyOf(to, host^board^to) }

func ack(to linkproto.Life) []byte {
	return linkproto.AppendStuffed(nil, linkproto.AppendWord(nil, key(to), linkproto.Word{Kind: linkproto.KindAck}))
}

// frames makes frames of packets to a life, each after its length, whose length field is made right.
func frames(to linkproto.Life, of []byte) (list [][]byte) {
	for len(of) > 1 {
		n := min(max(int(of[0]), linkproto.MinPacket), 200)
		packet := append(bytes.Clone(of[1:min(1+n, len(of))]), make([]byte, linkproto.MinPacket)...)[:max(min(n, len(of)-1), linkproto.MinPacket)]
		of = of[min(1+n, len(of)):]
		packet[1], packet[2] = byte(len(packet)-linkproto.HeaderBytes), 0
		list = append(list, linkproto.AppendStuffed(nil, linkproto.AppendFrame(nil, key(to), uint8(len(list)), packet)))
	}
	return list
}
