package serve_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// loud connects a port of a program to another one, and returns what writes to it and waits until it is there.
func loud(t *testing.T, s *served) func(text string) {
	t.Helper()
	there, here := drivertest.Channel(t, s.open(t), s.open(t), 1, "loud")
	return func(text string) {
		t.Helper()
		check.Fatal(t, there.WritePage(t.Context(), []byte(text), 0))
		check.Fatal(t, here.Wait(t.Context(), func(page []byte) bool { return bytes.HasPrefix(page, []byte(text)) }))
	}
}

// A program captures what others do, from when it asks until it closes the capture; a second capture must wait for that.
func TestCapture(t *testing.T) {
	s := begin(t, model, serve.Options{})
	write, node := loud(t, s), s.open(t)
	write("too early")
	c, err := node.Capture(t.Context(), false)
	check.Fatal(t, err)
	check.Fails(t, "a second capture", check.Err(node.Capture(t.Context(), false)), hostdrv.ErrLimit)
	if c.Began.After(time.Now()) || time.Since(c.Began) > time.Hour {
		t.Errorf("the NI was opened at %v", c.Began)
	}
	write("overheard")
	var got []byte
	for block := make([]byte, 4096); !bytes.Contains(got, []byte("overheard")); {
		n := check.Must(c.Read(block))(t)
		got = append(got, block[:n]...)
	}
	if bytes.Contains(got, []byte("too early")) || !bytes.HasPrefix(got, []byte{0x0A, 0x0D, 0x0D, 0x0A}) {
		t.Errorf("captured % x", got[:min(len(got), 40)])
	}
	check.Fatal(t, c.Close())
	for err = hostdrv.ErrLimit; errors.Is(err, hostdrv.ErrLimit); c, err = node.Capture(t.Context(), false) {
		write("the server notices when it writes")
	}
	check.Fatal(t, err)
	write("to the last")
	check.Fatal(t, c.End(t.Context()))
	write("too late")
	rest, err := io.ReadAll(c)
	if err != nil || !bytes.Contains(rest, []byte("to the last")) || bytes.Contains(rest, []byte("too late")) {
		t.Errorf("the end of a capture has %d bytes: %v", len(rest), err)
	}
	blocks(t, rest) // whole ones
	c.Close()
	for err = hostdrv.ErrLimit; errors.Is(err, hostdrv.ErrLimit); {
		c, err = node.Capture(t.Context(), false)
	}
	check.Fatal(t, err)
	s.stop()
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Errorf("the end of the server: %v", err)
	}
	c.Close()
	check.Fails(t, "capture at the server's own node", check.Err(s.node.Capture(t.Context(), false)), nil)
}

// blocks are the kinds of a capture's blocks, and the records that they say were dropped.
func blocks(t *testing.T, file []byte) (kinds []uint32, dropped uint64) {
	t.Helper()
	for len(file) > 0 {
		size := binary.LittleEndian.Uint32(file[4:])
		block := file[:size]
		file = file[size:]
		kinds = append(kinds, binary.LittleEndian.Uint32(block))
		if kinds[len(kinds)-1] != 6 {
			continue
		}
		captured := (binary.LittleEndian.Uint32(block[20:]) + 3) &^ 3
		for options := block[28+captured:]; binary.LittleEndian.Uint16(options) != 0; {
			length := binary.LittleEndian.Uint16(options[2:])
			if binary.LittleEndian.Uint16(options) == 4 {
				dropped += binary.LittleEndian.Uint64(options[4:])
			}
			options = options[4+(length+3)&^3:]
		}
	}
	return kinds, dropped
}

// A program that does not read what it captures holds nobody up, and learns how much it has missed.
func TestCaptureIsDropped(t *testing.T) {
	const page, writes = 4096, 400 // more than the pipe and the server have room for
	s := begin(t, "model:?links=2&page=4096&replay=16384&rx=16384", serve.Options{})
	write, node := loud(t, s), s.open(t)
	c := check.Must(node.Capture(t.Context(), false))(t)
	defer c.Close()
	for i := range writes {
		write(strings.Repeat(string(rune('a'+i%2)), page))
	}
	var got []byte
	block := make([]byte, 1<<16)
	read := func() {
		n := check.Must(c.Read(block))(t)
		got = append(got, block[:n]...)
	}
	for len(got) < 1<<20 {
		read()
	}
	write("the end")
	for !bytes.Contains(got, []byte("the end")) {
		read()
	}
	kinds, dropped := blocks(t, got)
	if kinds[0] != 0x0A0D0D0A || kinds[1] != 1 || slices.Contains(kinds[2:], 1) || dropped == 0 || len(kinds)+int(dropped) < writes {
		t.Errorf("%d blocks, %d dropped", len(kinds), dropped)
	}
}

// The trace buffer records for one program at a time.
func TestTraceBuffer(t *testing.T) {
	s := begin(t, "rtl:?links=2&frames=4&page=128&replay=512&rx=512&trace=256", serve.Options{})
	write, one, other := loud(t, s), s.open(t), s.open(t)
	sent := linkproto.TraceEvent(linkproto.CntTxPackets)
	setup := linkproto.TraceSetup{Events: []linkproto.TraceEvent{sent}, Ports: []int{1}}
	check.Fatal(t, one.StartTrace(t.Context(), setup))
	check.Fails(t, "another program starts it too", other.StartTrace(t.Context(), setup), hostdrv.ErrLimit)
	check.Fails(t, "another program reads it", check.Err(other.ReadTrace(t.Context())), hostdrv.ErrRange)
	for _, text := range []string{"one", "two", "three"} {
		write(text)
	}
	if state, err := one.TraceState(t.Context()); err != nil || !state.Recording || state.Written < 3 {
		t.Errorf("after three writes the buffer is %+v, %v", state, err)
	}
	trace, err := one.ReadTrace(t.Context())
	if err != nil || len(trace.Entries) < 3 || trace.Entries[0].Port != 1 || !slices.Equal(trace.Entries[0].Events, []linkproto.TraceEvent{sent}) {
		t.Errorf("read %+v, %v", trace, err)
	}
	if err := other.StartTrace(t.Context(), setup); err != nil {
		t.Errorf("another program, after the first one has read: %v", err)
	}
	check.Fatal(t, other.Close())
	for err = hostdrv.ErrLimit; errors.Is(err, hostdrv.ErrLimit); {
		err = one.StartTrace(t.Context(), setup)
	}
	if err != nil {
		t.Errorf("after the other one has gone: %v", err)
	}
	check.Fails(t, "trace of port -1", one.StartTrace(t.Context(), linkproto.TraceSetup{Ports: []int{-1}}), nil)
	check.Fails(t, "another program, while the first one's goes on", s.open(t).StartTrace(t.Context(), setup), hostdrv.ErrLimit)

	without := begin(t, model, serve.Options{}).open(t)
	check.Fails(t, "start a model's trace", without.StartTrace(t.Context(), setup), linkproto.ErrNoTrace)
	check.Fails(t, "state of a model's trace", check.Err(without.TraceState(t.Context())), linkproto.ErrNoTrace)
}

// capturesAs says whether a program may see what others do.
func capturesAs(node *hostdrv.Node) string {
	c, err := node.Capture(context.Background(), false)
	if err == nil {
		return errors.Join(errors.New("captures"), c.Close()).Error()
	}
	if err := node.StartTrace(context.Background(), linkproto.TraceSetup{}); !errors.Is(err, fs.ErrPermission) {
		return "traces"
	}
	if errors.Is(err, fs.ErrPermission) {
		return "captures not"
	}
	return err.Error()
}
