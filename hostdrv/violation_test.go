package hostdrv_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

func TestIdentityIsRefused(t *testing.T) {
	for _, c := range []struct {
		reg   linkproto.Reg
		value uint32
		hash  uint64
		text  string
	}{
		{linkproto.RegMagic, 0, 0, "MAGIC        is 0x0, want 0x434d4d4c"},
		{linkproto.RegVersion, 1, 0, "VERSION      is 0x1, want 0x3"},
		{linkproto.RegHashHi, 7, 5, "HASH         is 0x700000000, want 0x5"},
		{linkproto.RegLinks, 0, 0, "LINKS        is 0, want 1 to 7"},
		{linkproto.RegLinks, 1 << 31, 0, "LINKS        is 2147483647, want 1 to 7"},
		{linkproto.RegFrames, 0, 0, "FRAMES       is 0"},
		{linkproto.RegFrames, 70_000, 0, "FRAMES       is 70000"},
		{linkproto.RegPageBytes, 1 << 14, 0, "PAGE_BYTES   is 16384"},
		{linkproto.RegPageBytes, 100, 0, "PAGE_BYTES   is 100, want a power of two"},
		{linkproto.RegReplayBytes, 64, 0, "REPLAY_BYTES is 64, want 136 to"},
		{linkproto.RegWindow, 0, 0, "WINDOW       is 0"},
	} {
		f := newFake(t, nil)
		f.regs[c.reg] = c.value
		_, err := openFake(t.Context(), t, f, hostdrv.Options{Hash: c.hash})
		check.Fails(t, fmt.Sprintf("register %v = %#x", c.reg, c.value), err, hostdrv.ErrIdentity, c.text)
	}
}

// TestTooManyVirtual: a target that says it has more virtual links than there can be is refused before any is asked for.
func TestTooManyVirtual(t *testing.T) {
	asked := 0
	f := newFake(t, func(_ *fake, p linkproto.Packet) bool {
		if p.Reg >= linkproto.VLRegPeer.Reg(0) {
			asked++
		}
		return asked > 0
	})
	f.regs[linkproto.RegFeatures] = linkproto.FeatureVirtual.In(1) | linkproto.FeatureRoutes.In(1) | linkproto.FeatureRouter.In(1)
	f.regs[linkproto.RegVLNumbers] = 1<<linkproto.MaxVLBits + 1
	n := check.Must(openFake(t.Context(), t, f, hostdrv.Options{}))(t)
	ctx, cancel := n.WithTimeout(t.Context(), 1e6) // 1 ms
	defer cancel()
	_, err := hostdrv.Start(ctx, n, hostdrv.NodeOptions{NoPorts: true})
	check.Fails(t, "start", err, hostdrv.ErrIdentity, "VL_NUMBERS   is 2049, want 2048 at most")
	check.Equal(t, "registers of virtual links that were read", asked, 0)
}

// TestProtocolBroken sends what no NI may send: every time all that waits must end with one clear error.
func TestProtocolBroken(t *testing.T) {
	type packet = linkproto.Packet
	for name, c := range map[string]struct {
		send func(f *fake, p packet)
		text string
	}{
		"another's answer":     {func(f *fake, p packet) { f.send(packet{Type: linkproto.TypeDone, Tag: p.Tag + 1}) }, "which is not in use"},
		"another register":     {func(f *fake, p packet) { f.send(packet{Type: linkproto.TypeRegData, Tag: p.Tag, Reg: 3}) }, "register HASH_HI"},
		"another type":         {func(f *fake, p packet) { f.send(packet{Type: linkproto.TypeBufData, Tag: p.Tag}) }, "BUF_DATA"},
		"done without a value": {func(f *fake, p packet) { f.send(packet{Type: linkproto.TypeDone, Tag: p.Tag}) }, "by DONE"},
		"a refusal of nothing": {func(f *fake, p packet) { f.send(packet{Type: linkproto.TypeDone, Tag: 255, Status: 5}) }, "NO_SPACE"},
		"a request":            {func(f *fake, p packet) { f.send(packet{Type: linkproto.TypeRegRead}) }, "sent a REG_READ"},
		"no packet":            {func(f *fake, p packet) { f.raw([]byte{0x1F, 1, 0, 9}) }, "unknown type"},
		"a short packet":       {func(f *fake, p packet) { f.raw([]byte{0x1A, 1, 0, 9}) }, "wrong length"},
		"space of no link":     {func(f *fake, p packet) { f.send(packet{Type: linkproto.TypeSpace, Via: 3}) }, "space of link 3"},
		"space of nothing": {func(f *fake, p packet) {
			f.send(packet{Type: linkproto.TypeSpace, Via: 1, Packets: 200, Bytes: 5000})
		}, "freed 200 packets of 5000 bytes, but only 1 of 8 bytes were sent"},
		"trap of no link": {func(f *fake, p packet) {
			f.send(packet{Type: linkproto.TypeTrap, Via: 5, Data: []byte{2, 6, 0, 0, 0, 1, 0, 0, 0}})
		}, "trap of link 5"},
		"trap at nothing": {func(f *fake, p packet) { f.send(packet{Type: linkproto.TypeTrap, Via: 1}) }, "trapped at"},
		"trap at a write": {func(f *fake, p packet) {
			f.send(packet{Type: linkproto.TypeTrap, Via: 1, Data: []byte{1, 4, 0, 0, 0, 0, 0}})
		}, "trapped at a WRITE"},
		"trap at no frame": {func(f *fake, p packet) {
			f.send(packet{Type: linkproto.TypeTrap, Via: 1, Data: []byte{2, 6, 0, 9, 0, 1, 0, 0, 0}})
		}, "frame 9"},
		"two traps":            {func(f *fake, p packet) { trap(f); trap(f) }, "trapped again"},
		"notify of no frame":   {func(f *fake, p packet) { f.send(packet{Type: linkproto.TypeNotify, Frame: 4}) }, "frame 4"},
		"notify backwards":     {func(f *fake, p packet) { f.send(packet{Type: linkproto.TypeNotify, First: 2, Last: 1}) }, "bytes 2 to 1"},
		"notify past the page": {func(f *fake, p packet) { f.send(packet{Type: linkproto.TypeNotify, Last: 128}) }, "bytes 0 to 128"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, func(f *fake, p packet) bool {
				if p.Reg != linkproto.RegScratch {
					return false
				}
				c.send(f, p)
				return true
			})
			n, err := openFake(t.Context(), t, f, hostdrv.Options{})
			check.Fatal(t, err)
			events := check.Must(n.Events())(t)
			check.Fatal(t, n.Write(t.Context(), 1, 0, []byte{1}))
			_, err = n.ReadRegister(t.Context(), linkproto.RegScratch)
			check.Fails(t, "request", err, hostdrv.ErrProtocol, c.text)
			check.Fails(t, "afterwards", check.Err(n.ReadRegister(t.Context(), 0)), hostdrv.ErrProtocol)
			for err = nil; err == nil; {
				_, err = events.Next(t.Context())
			}
			check.Fails(t, "events", err, hostdrv.ErrProtocol)
		})
	}
}

func trap(f *fake) {
	f.send(linkproto.Packet{Type: linkproto.TypeTrap, Via: 1, Data: []byte{2, 6, 0, 0, 0, 1, 0, 0, 0}})
}

// TestSilence holds that nobody waits for ever on an NI that does not answer, in the target's time.
func TestSilence(t *testing.T) {
	mute := newFake(t, func(_ *fake, p linkproto.Packet) bool {
		return p.Reg == linkproto.RegScratch || p.Type == linkproto.TypeResume
	})
	n := check.Must(openFake(t.Context(), t, mute, hostdrv.Options{}))(t)
	ctx, cancel := n.WithTimeout(t.Context(), 10e9) // 10 s, beyond the patience
	defer cancel()
	check.Fails(t, "ReadRegister", check.Err(n.ReadRegister(ctx, linkproto.RegScratch)), hostdrv.ErrSilent)
	never := newFake(t, func(*fake, linkproto.Packet) bool { return true })
	check.Fails(t, "openFake", check.Err(openFake(t.Context(), t, never, hostdrv.Options{})), hostdrv.ErrSilent)
}

func TestTimeoutIsOfTheTarget(t *testing.T) {
	mute := newFake(t, func(_ *fake, p linkproto.Packet) bool { return p.Reg == linkproto.RegScratch })
	n := check.Must(openFake(t.Context(), t, mute, hostdrv.Options{}))(t)
	before := n.Now()
	ctx, cancel := n.WithTimeout(t.Context(), 5e6) // 5 ms
	defer cancel()
	check.Fails(t, "ReadRegister", check.Err(n.ReadRegister(ctx, linkproto.RegScratch)), context.DeadlineExceeded)
	if passed := n.Now() - before; passed < 5e6 || passed > 5.2e6 {
		t.Errorf("%v of the target's time passed, want 5 ms", passed)
	}
	if err := ctx.Err(); err != context.DeadlineExceeded {
		t.Errorf("the context says %v", err)
	}
	// The answer to what nobody waits for any more does no harm.
	mute.send(linkproto.Packet{Type: linkproto.TypeDone, Tag: 0xFE})
	if _, err := n.ReadRegister(t.Context(), 0); err != nil && !errors.Is(err, hostdrv.ErrProtocol) {
		t.Error(err)
	}
}

// FuzzReceive lets a hostile board say anything, as bytes of a pipe, in the middle of a session.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{0xDB, 0x1C, 0, 1, 2, 3, 0xDB, 0x7C}, uint64(1))
	f.Add([]byte{0xDB, 0x1C, 0, 1, 2, 3, 0xDB, 0x5C, 0xDB, 0x5C}, uint64(2))
	f.Fuzz(func(t *testing.T, given []byte, seed uint64) {
		bytes := slices.Clone(given)
		var stuff linkproto.Unstuffer
		noise := stuff.Append(nil, bytes)
		board := newFake(t, nil)
		rng := rand.New(rand.NewPCG(seed, 0))
		packets := 0
		board.answer = func(f *fake, p linkproto.Packet) bool {
			if packets++; packets == 23 && len(bytes) >= linkproto.MinPacket {
				bytes[1], bytes[2] = byte(len(bytes)-3), byte((len(bytes)-3)>>8)
				if len(bytes) <= 1<<12 {
					f.raw(bytes) // above a sound link layer
				}
			}
			return false
		}
		n := check.Must(openFake(t.Context(), t, board, hostdrv.Options{Seed: 3}))(t)
		defer n.Close()
		if rng.IntN(2) == 0 {
			board.link.Feed(noise)
		}
		check.Must(n.Events())(t)
		for range 10 {
			if _, err := n.ReadRegister(t.Context(), linkproto.RegMagic); err != nil && !errors.Is(err, hostdrv.ErrProtocol) {
				t.Fatal(err)
			}
		}
	})
}
