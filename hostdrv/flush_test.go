package hostdrv_test

import (
	"errors"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/internal/check"
)

// TestFlushHearsOfTick: a Flush fails of which a write has failed, also if FlushEvery was told of that while the Flush waited. The next one sends it again.
func TestFlushHearsOfTick(t *testing.T) {
	var tick, flush uint32 // calls
	ticking, flushing, written, page := make(chan bool), make(chan bool), make(chan bool), make(chan string, 1)
	content := []byte("        ")
	node := openFakeServer(t, func(m sharing.Message, say func(sharing.Message)) {
		done := func(call uint32) { say(sharing.Message{Op: sharing.OpDone, Call: call, Port: 1}) }
		switch {
		case m.Op == sharing.OpWrite:
			for rest := m.Data; len(rest) > 0; {
				var w sharing.Write
				w, rest, _ = sharing.NextWrite(rest)
				copy(content[w.Offset:], w.Data)
			}
		case m.Op == sharing.OpFlush && flush == 0: // it fails, and FlushEvery goes on
			flush = m.Call
			flushing <- true
			<-written
			copy(content, "        ")
			say(sharing.Message{Op: sharing.OpWriteFailed, Port: 1, Data: failed(t, hostdrv.ErrUncertain)})
			done(tick)
		case m.Op == sharing.OpSleep && flush == 0:
			tick = m.Call
			ticking <- true
		case m.Op == sharing.OpSleep:
			done(flush)
		case m.Op == sharing.OpFlush:
			page <- string(content)
			done(m.Call)
		default:
			done(m.Call)
		}
	})
	ctx := t.Context()
	p := check.Must(node.CreatePort(1, hostdrv.Send))(t)
	check.Fatal(t, errors.Join(p.Connect(ctx, nil), p.SetWritePolicy(hostdrv.Late)))
	w := check.Must(p.Window())(t)
	check.Fatal(t, errors.Join(w.WritePage(ctx, []byte("ab"), 0), p.FlushEvery(1)))
	<-ticking
	first := check.Go(func() error { return w.Flush(ctx) })
	<-flushing
	check.Fatal(t, w.WritePage(ctx, []byte("cd"), 4))
	written <- true
	check.Fails(t, "Flush", <-first, hostdrv.ErrUncertain)
	check.Fatal(t, w.Flush(ctx))
	check.Equal(t, "sent again", <-page, "ab  cd  ")
}
