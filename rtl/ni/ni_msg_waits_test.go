package ni_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestWaits: a link that has been refused is woken once, when its context has a receive or the link itself has changed; links may be refused while others are woken.
func TestWaits(t *testing.T) {
	for _, size := range []struct{ contexts, virtual int }{{2, 4}, {3, 2}} {
		t.Run(fmt.Sprintf("%d contexts, %d links", 1<<size.contexts, 1<<size.virtual), func(t *testing.T) { testWaits(t, size.contexts, size.virtual) })
	}
}

func testWaits(t *testing.T, contexts, virtual int) {
	var p struct {
		Put, Wake, Woken, ToldValid, ToldReady, Ask, Asked         *bool  `port:"*"`
		PutVl, PutContext, WakeContext, ToldVl, ToldContext, AskVl *uint8 `port:"*"`
	}
	b := moduletest.Open(t, "ni_msg_waits", params{"CONTEXTS": contexts, "VIRTUAL": virtual}, &p)
	b.Step(1 << max(contexts, virtual)) // its tables are cleared
	r := b.Rand("others")
	const forever = 1 << 30
	type refusal struct {
		context uint8
		at      int // clock
	}
	waiting := map[uint8]refusal{} // by link
	var woken []uint8              // since the last end of a request, all of context `of`
	var of uint8
	last, lastVl := refusal{at: -5}, uint8(0)
	puts, asking, since, asks := 0.0, false, [2]int{}, [2]int{}
	wakeAt, toldAt := forever, forever
	for now := range 16_000 {
		if now%400 == 0 {
			puts = testbench.Pick(r, 0, 0.02, 0.2, 1)
		}
		if *p.Put = now >= last.at+5 && r.Chance(puts); *p.Put {
			*p.PutVl, *p.PutContext = uint8(r.IntN(1<<virtual)), uint8(r.IntN(1<<contexts))
		}
		if !*p.Wake && r.Chance(0.05) {
			*p.Wake, *p.WakeContext, wakeAt = true, testbench.Pick(r, last.context, uint8(r.IntN(1<<contexts))), now
		}
		if !*p.ToldValid && r.Chance(0.03) {
			*p.ToldValid, *p.ToldVl, *p.ToldContext, toldAt = true, testbench.Pick(r, lastVl, uint8(r.IntN(1<<virtual))), uint8(r.IntN(1<<contexts)), now
		}
		*p.Asked = false
		settle(t, b)
		if *p.Ask && !asking {
			was, ok := waiting[*p.AskVl]
			if !ok || was.at > now-2 || len(woken) > 0 && was.context != of {
				t.Fatalf("clock %d: link %d is woken, of %v, after %v of context %d", now, *p.AskVl, waiting, woken, of)
			}
			of = was.context
			woken = append(woken, *p.AskVl)
			delete(waiting, *p.AskVl)
			if last.at == now-1 && lastVl == *p.AskVl { // it had been taken then
				waiting[lastVl] = last
			}
		} else if *p.Ask && *p.AskVl != woken[len(woken)-1] || asking && !*p.Ask {
			t.Fatalf("clock %d: who asks has changed", now)
		}
		*p.Asked = *p.Ask && r.Chance(0.3)
		settle(t, b)
		asking = *p.Ask && !*p.Asked
		none := func(context uint8, before int) {
			for link, w := range waiting {
				if w.context == context && w.at <= before {
					t.Fatalf("clock %d: link %d, refused by context %d in clock %d, has not been woken", now, link, context, w.at)
				}
			}
		}
		end := func(kind int, valid bool) {
			if !valid || *p.Ask {
				t.Fatalf("clock %d: the end of what was not asked for, or goes on", now)
			}
			asks[kind] += len(woken)
			woken = nil
		}
		if *p.Woken {
			if len(woken) > 0 && of != *p.WakeContext {
				t.Fatalf("clock %d: %v of context %d are woken for context %d", now, woken, of, *p.WakeContext)
			}
			none(*p.WakeContext, wakeAt)
			end(0, *p.Wake)
		}
		if *p.ToldReady {
			if len(woken) > 0 && of == *p.ToldContext {
				t.Fatalf("clock %d: %v of context %d are woken, but link %d is of that", now, woken, of, *p.ToldVl)
			}
			if w, ok := waiting[*p.ToldVl]; ok && w.context != *p.ToldContext && w.at <= toldAt {
				t.Fatalf("clock %d: link %d waits for context %d, and is of %d now", now, *p.ToldVl, w.context, *p.ToldContext)
			}
			if len(woken) > 0 {
				none(of, toldAt)
			}
			end(1, *p.ToldValid)
		}
		for i, stands := range []bool{*p.Wake && !*p.Woken, *p.ToldValid && !*p.ToldReady} {
			if since[i]++; !stands {
				since[i] = 0
			} else if since[i] > 1500 {
				t.Fatalf("clock %d: request %d does not end", now, i)
			}
		}
		if *p.Put {
			last, lastVl = refusal{*p.PutContext, now}, *p.PutVl
			if _, ok := waiting[lastVl]; !ok {
				waiting[lastVl] = last
			}
		}
		ends, told := *p.Woken, *p.ToldReady
		b.Step(1)
		if ends {
			*p.Wake = false
		}
		if told {
			*p.ToldValid = false
		}
	}
	t.Logf("links that were woken by wake and by told: %v", asks)
	if asks[0] < 100 || asks[1] < 20 {
		t.Errorf("%v links have been woken: too few", asks)
	}
}
