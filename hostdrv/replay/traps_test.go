package replay_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/replay"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// TestToldAgain replays a session whose cable has lost a TRAP at a PAGE and one at a CONNECT, on targets which tell them again, and on others.
func TestToldAgain(t *testing.T) {
	dropped := map[linkproto.Type]bool{}
	program := func(t *testing.T, n *hostdrv.NI) {
		ctx, events := t.Context(), check.Must(n.Events())(t)
		for _, p := range []linkproto.Packet{{Type: linkproto.TypePage, Frame: 1, Port: 4}, {Type: linkproto.TypeConnect, Port: 5, Data: []byte("hello")},
			{Type: linkproto.TypePage, Frame: 1, Port: 6}} {
			check.Fatal(t, n.Send(ctx, 1, p))
			for trapped := false; !trapped; {
				_, trapped = check.Must(events.Next(ctx))(t).(*hostdrv.Trap)
			}
			check.Fatal(t, n.Resume(ctx, 2))
		}
	}
	// The first TRAP of each kind does not come; soon the cable's link starts again.
	s := recorded(t, model(), func(_ string, t hostdrv.Transport) hostdrv.Transport {
		b := newBetween(t, nil)
		b.change = func(toNI bool, p *linkproto.Packet) bool {
			var at linkproto.Packet
			if toNI || p.Type != linkproto.TypeTrap || at.Decode(p.Data) != nil || dropped[at.Type] {
				return true
			}
			dropped[at.Type] = true
			b.near.Restart()
			return false
		}
		return b
	}, program)
	if len(dropped) != 2 {
		t.Fatalf("dropped %v", dropped)
	}
	for _, to := range []string{model(), rtl()} {
		check.Equal(t, "divergence on "+to, run(t, s, to).Divergence, nil)
	}
	for name, c := range map[string]struct {
		change func(traps int, p *linkproto.Packet) bool
		want   string
	}{
		"not again": {func(traps int, _ *linkproto.Packet) bool { return traps != 2 }, "link 2 of the target does not tell its trap again"},
		"another": {func(traps int, p *linkproto.Packet) bool {
			if traps == 2 {
				p.Data = bytes.Clone(p.Data)
				p.Data[len(p.Data)-1]++
			}
			return true
		}, "link 2 of the target told another trap than before"},
		"with params": {func(traps int, p *linkproto.Packet) bool {
			if traps == 4 {
				at := linkproto.Packet{Type: linkproto.TypeConnect, Via: 2, Port: 5, Data: []byte("hello")}
				p.Data, _ = at.Append(nil)
			}
			return true
		}, "link 2 of the target told another trap than before"},
		"another at first": {func(traps int, p *linkproto.Packet) bool {
			if traps == 3 {
				p.Data = bytes.Clone(p.Data)
				p.Data[4]++ // the port
			}
			return true
		}, "link 2 trapped at something else"},
		"never": {func(traps int, _ *linkproto.Packet) bool { return traps != 1 }, "link 2 of the target does not trap"},
	} {
		t.Run(name, func(t *testing.T) {
			traps := 0
			result := check.Must(replay.Run(t.Context(), s, broken(t, model(), func(toNI bool, p *linkproto.Packet) bool {
				if p.Type != linkproto.TypeTrap {
					return true
				}
				traps++
				return c.change(traps, p)
			})))(t)
			check.Equal(t, "divergence", what(result.Divergence), c.want)
		})
	}
}

// TestHeldBack replays a session in which a write stood behind a trap that was told only long after, on a target which carries it out sooner or
// later than the recorded one behind RESUME.
func TestHeldBack(t *testing.T) {
	const at = 128
	reads := 0
	program := func(t *testing.T, n *hostdrv.NI) {
		ctx, events := t.Context(), check.Must(n.Events())(t)
		read := func() error { reads++; return n.ReadBuffer(ctx, []byte{0}, at) }
		check.Fatal(t, errors.Join(n.SetFrame(ctx, 1, hostdrv.FrameEntry{Link: 2}), n.WriteBuffer(ctx, []byte{0}, at),
			n.Send(ctx, 1, linkproto.Packet{Type: linkproto.TypePage, Frame: 1, Port: 4}), n.Write(ctx, 1, at, []byte{9}), n.Sync(ctx, 1), read()))
		for range 200 { // until the write has had all the time that it needs
			check.Must(n.ReadRegister(ctx, linkproto.RegScratch))(t)
		}
		check.Fatal(t, read())
		check.Fatal(t, drivertest.NoRestart(n.WriteRegister(ctx, linkproto.RegScratch, 0xBAD)))
		check.Must(events.Next(ctx))(t) // the restart
		check.Must(events.Next(ctx))(t)
		b := n.Batch()
		b.Resume(2)
		reads++
		b.ReadBuffer([]byte{0}, at)
		check.Fatal(t, b.Run(ctx))
	}
	s := recorded(t, model(), func(_ string, t hostdrv.Transport) hostdrv.Transport {
		b := newBetween(t, nil)
		dropped := false
		b.change = func(toNI bool, p *linkproto.Packet) bool {
			if p.Type == linkproto.TypeRegWrite && p.Value == 0xBAD {
				b.near.Restart()
			}
			drop := p.Type == linkproto.TypeTrap && !dropped
			dropped = dropped || drop
			return !drop
		}
		return b
	}, program)
	heard := 0
	result, err := replay.Run(t.Context(), s, broken(t, model(), func(toNI bool, p *linkproto.Packet) bool {
		if p.Type == linkproto.TypeBufData {
			if heard++; heard == reads {
				p.Data = []byte{9 - p.Data[0]}
			}
		}
		return true
	}))
	if err != nil || result.Divergence != nil || heard != reads {
		t.Errorf("%d of %d reads, %+v, %v", heard, reads, result.Divergence, err)
	}
}
