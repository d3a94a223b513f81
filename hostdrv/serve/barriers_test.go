package serve_test

import (
	"encoding/json"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	models "github.com/stafflink/lmmc/testbench/model"
)

// TestBarrierKilled: a group ends at the network interface too if its program is killed while it closes it.
func TestBarrierKilled(t *testing.T) {
	s, far := pair(t, models.Config{Routes: true, Router: 2, Barriers: true}, nil)
	ctx, g, r := t.Context(), hostdrv.BarrierGroup{Ports: 3}, s.greeted(t)
	other := check.Must(far.OpenBarrier(ctx, g))(t)
	g.Make = true // so Close lets others hear of the last barrier first
	group := r.done(r.ask(sharing.Message{Op: sharing.OpBarrier, Data: check.Must(json.Marshal(g))(t)})).Port
	r.done(r.ask(sharing.Message{Op: sharing.OpBarrierEnter, Port: group}))
	check.Fatal(t, other.Enter(ctx))
	r.done(r.ask(sharing.Message{Op: sharing.OpBarrierWait, Port: group}))
	check.Fatal(t, other.Wait(ctx))
	r.say(sharing.Message{Op: sharing.OpBarrierClose, Port: group})
	check.Fatal(t, r.Close())
	s.expect(t, "came", "went")
	members := check.Must(s.node.ReadRegister(ctx, linkproto.BarrierRegMembers.Reg(0)))(t)
	check.Equal(t, "ports of the group", linkproto.BarrierPorts.Of(members), 0)
}
