package hostdrv_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/capture"
	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/hostdrv/ip"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/netmgmt"
	"github.com/stafflink/lmmc/hostdrv/preload"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/hostdrv/replay"
	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/serve"
	sockets "github.com/stafflink/lmmc/hostdrv/socket"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/hostdrv/transport/pipe"
	"github.com/stafflink/lmmc/hostdrv/transport/tcp"
	"github.com/stafflink/lmmc/internal/check"
)

// zeroes are zero values, and values out of range, of all exported types with methods.
var zeroes = []any{
	new(hostdrv.Barrier), new(hostdrv.Batch), new(hostdrv.Capture), new(hostdrv.Datagrams), new(hostdrv.Events), new(hostdrv.IdentityError), new(hostdrv.IncompatibleError), new(hostdrv.LossError),
	new(hostdrv.NI), new(hostdrv.Node), new(hostdrv.PeerError), new(hostdrv.Port), new(hostdrv.RefusedError), new(hostdrv.RefusedPortError),
	new(hostdrv.Request), new(hostdrv.RestartError), new(hostdrv.Window),
	hostdrv.Direction(7), hostdrv.Policy(7), hostdrv.Identity{}, hostdrv.RefusedError{Status: 255}, hostdrv.NewClock(0), hostdrv.NewClock(-1),
	collective.Algorithm{}, new(collective.Group), new(collective.MemberError), new(capture.Cable), new(ip.Interface), new(capture.Clock), new(capture.Tap), new(capture.Writer), new(record.Recorder), new(record.Session),
	new(message.Context), netmgmt.Entry{}, new(preload.Daemon), new(preload.Program), new(netmgmt.Plan), new(netmgmt.Setup), new(replay.Bytes), new(replay.Shrinker), new(routing.Report), new(routing.Step), new(routing.Tables), new(serve.Listener),
	sockets.Addr{}, new(sockets.Conn), new(sockets.Listener), new(sockets.PacketConn), new(sockets.Stack),
	new(topology.Error), topology.Kind(7), new(topology.Topology), new(lockstep.Host), new(lockstep.World), new(pipe.Pipe), new(tcp.Listener),
}

// TestZeroValues calls every method of zero values, with zero arguments: none panics, and none waits for ever.
func TestZeroValues(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, zero := range zeroes {
		v := reflect.ValueOf(zero)
		for i := range v.NumMethod() {
			name := v.Type().String() + "." + v.Type().Method(i).Name
			done := make(chan any)
			go func() {
				defer func() { done <- recover() }()
				in := zeroArguments(ctx, v.Method(i).Type())
				if cancel, ok := last(v.Method(i).Call(in)).(context.CancelFunc); ok {
					cancel()
				}
			}()
			select {
			case p := <-done:
				if p != nil {
					t.Errorf("%s: panic: %v", name, p)
				}
			case <-ctx.Done():
				t.Fatalf("%s does not return", name)
			}
		}
	}
	check.Equal(t, "texts", hostdrv.Direction(7).String()+", "+hostdrv.Policy(7).String(), "direction 7, policy 7")
}

func last(out []reflect.Value) any {
	if len(out) == 0 {
		return nil
	}
	return out[len(out)-1].Interface()
}

// zeroArguments are those of a method, but for a context.
func zeroArguments(ctx context.Context, method reflect.Type) (in []reflect.Value) {
	n := method.NumIn()
	if method.IsVariadic() {
		n--
	}
	for i := range n {
		switch p := method.In(i); {
		case p == reflect.TypeFor[context.Context]():
			in = append(in, reflect.ValueOf(ctx))
		case p == reflect.TypeFor[io.Writer]():
			in = append(in, reflect.ValueOf(io.Discard))
		case p == reflect.TypeFor[hostdrv.Transport]():
			in = append(in, reflect.ValueOf(new(lockstep.Host)))
		case p.Kind() == reflect.Pointer:
			in = append(in, reflect.New(p.Elem()))
		case p.Kind() == reflect.Func:
			in = append(in, reflect.MakeFunc(p, func([]reflect.Value) (out []reflect.Value) {
				for i := range p.NumOut() {
					out = append(out, reflect.Zero(p.Out(i)))
				}
				return out
			}))
		default:
			in = append(in, reflect.Zero(p))
		}
	}
	return in
}

// TestZeroesAreAll holds that no exported type with methods is missing among zeroes. Package usb needs libraries of C.
func TestZeroesAreAll(t *testing.T) {
	have := map[string]bool{}
	for _, zero := range zeroes {
		have[strings.TrimPrefix(reflect.TypeOf(zero).String(), "*")] = true
	}
	files, err := filepath.Glob("*.go")
	more, err2 := filepath.Glob("*/*.go")
	most, err3 := filepath.Glob("transport/*/*.go")
	if err != nil || err2 != nil || err3 != nil || len(most) == 0 {
		t.Fatal(err, err2, err3, most)
	}
	for _, path := range append(append(files, more...), most...) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file := check.Must(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !f.Name.IsExported() {
				continue
			}
			receiver := f.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			if name, ok := receiver.(*ast.Ident); ok && name.IsExported() && !have[file.Name.Name+"."+name.Name] {
				t.Errorf("%s: %s.%s is not among zeroes", path, file.Name.Name, name.Name)
			}
		}
	}
}
