package serve_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/try"
)

// roles are what this program does as another one that has opened the target: steps, which errors end.
var roles = map[string]func(context.Context, *hostdrv.Node){"ping": ping, "echo": echo, "hammer": hammer, "look": look, "chat": chat}

const rounds = 30

// ping sends numbers and wants them back, reading its page as memory.
func ping(ctx context.Context, node *hostdrv.Node) {
	there := try.Get(connected(ctx, node, hostdrv.Send, "ping"))
	page := try.Get(try.Get(connected(ctx, node, hostdrv.Receive, "pong")).Bytes())
	answer := (*uint32)(unsafe.Pointer(&page[8]))
	for i := uint32(1); i <= rounds; i++ {
		try.OK(there.StoreUint32(ctx, 4, i))
		for atomic.LoadUint32(answer) != i {
			runtime.Gosched()
		}
	}
	fmt.Println(rounds, "rounds")
	try.OK(node.Close())
}

func connected(ctx context.Context, node *hostdrv.Node, d hostdrv.Direction, name string) (*hostdrv.Window, error) {
	p, err := node.Dial(ctx, 1, d, []byte(name))
	if err != nil {
		return nil, err
	}
	return p.Window()
}

// echo sends back what it receives, until the sender has gone. It ends without closing anything.
func echo(ctx context.Context, node *hostdrv.Node) {
	from, to := try.Get(accepted(ctx, node, "ping")), try.Get(accepted(ctx, node, "pong"))
	for last := uint32(0); ; {
		var v uint32
		err := from.Wait(ctx, func(page []byte) bool {
			v = *(*uint32)(unsafe.Pointer(&page[4]))
			return v != last
		})
		if errors.Is(err, hostdrv.ErrPortClosed) {
			fmt.Println("echoed", last)
			return
		}
		try.OK(err)
		last = v
		if err := to.StoreUint32(ctx, 8, v); !errors.Is(err, hostdrv.ErrPortClosed) {
			try.OK(err)
		}
	}
}

func accepted(ctx context.Context, node *hostdrv.Node, name string) (w *hostdrv.Window, err error) {
	err = try.Run(func() { w = try.Get(try.Get(try.Get(node.AcceptPrefix(ctx, []byte(name))).Accept()).Window()) })
	return w, err
}

// hammer writes to many ports until it is killed.
func hammer(ctx context.Context, node *hostdrv.Node) {
	var windows []*hostdrv.Window
	for range hammers {
		windows = append(windows, try.Get(connected(ctx, node, hostdrv.Send, "nail")))
	}
	failed := make(chan error)
	for i, w := range windows {
		go func() {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for {
				if err := w.WritePage(ctx, make([]byte, 1+rng.IntN(64)), rng.IntN(64)); err != nil {
					failed <- err
				}
			}
		}()
	}
	fmt.Println("hammering")
	try.OK(<-failed)
}

const hammers = 40 // many times the frames

// look says how opening the target went.
func look(_ context.Context, node *hostdrv.Node) {
	fmt.Println("in,", capturesAs(node))
	try.OK(node.Close())
}

// TestProcesses has two programs talk to each other, both by the one NI, and looks that nothing is left of them.
func TestProcesses(t *testing.T) {
	onEach(t, func(t *testing.T, target string) {
		s := begin(t, target, serve.Options{})
		echo, ping := start(t, s.command(t, "echo")), start(t, s.command(t, "ping"))
		ping.says(t, fmt.Sprint(rounds, " rounds"))
		echo.says(t, fmt.Sprint("echoed ", rounds))
		s.expect(t, "came", "came", "went", "went")
		s.clean(t)
	})
}

// clean wants no ports, and all frames free.
func (s *served) clean(t *testing.T) {
	t.Helper()
	tables := s.node.Tables()
	if len(tables.Ports) > 0 {
		t.Errorf("ports are left: %+v", tables.Ports)
	}
	for _, f := range tables.Send {
		check.Equal(t, fmt.Sprintf("port of %+v", f), f.Port, 0)
	}
}

// TestKilled kills a program in the middle of its writes: its ports end at the other node, their frames are free, and the next program
// finds all as if it were the first.
func TestKilled(t *testing.T) {
	onEach(t, func(t *testing.T, target string) {
		s := begin(t, target, serve.Options{})
		for range 3 {
			var windows []*hostdrv.Window
			victim := start(t, s.command(t, "hammer"))
			for range hammers {
				windows = append(windows, check.Must(accepted(t.Context(), s.node, "nail"))(t))
			}
			victim.says(t, "hammering")
			before := s.node.Stats().PageOuts
			for s.node.Stats().PageOuts < before+100 { // it is in the middle
				check.Fatal(t, windows[0].ReadPage(t.Context(), nil, 0))
			}
			check.Fatal(t, victim.Process.Signal(syscall.SIGKILL))
			for i, w := range windows {
				check.Fails(t, fmt.Sprintf("end of port %d", i), w.Wait(t.Context(), func([]byte) bool { return false }), hostdrv.ErrPortClosed)
			}
			s.expect(t, "came", "went")
			s.clean(t)
		}
	})
}

// TestOtherUsers lets in who may come, and says why to who may not.
func TestOtherUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	const nobody, somebody, group = 65534, 65533, 65532
	for _, c := range []struct {
		name  string
		user  syscall.Credential
		group string
		want  string
	}{
		{"same", syscall.Credential{}, "", "in, captures\n"},
		{"other", syscall.Credential{Uid: nobody, Gid: nobody}, "", "is of user 65534, the server of user 0"},
		{"first group", syscall.Credential{Uid: nobody, Gid: group}, fmt.Sprint(group), "in, captures not\n"},
		{"further group", syscall.Credential{Uid: nobody, Gid: nobody, Groups: []uint32{7, group}}, fmt.Sprint(group), "in, captures not\n"},
		{"no group", syscall.Credential{Uid: nobody, Gid: nobody, Groups: []uint32{somebody}}, fmt.Sprint(group), "lmmc serve --group"},
	} {
		t.Run(c.name, func(t *testing.T) { otherUser(t, c.user, c.group, c.want) })
	}
}

func otherUser(t *testing.T, user syscall.Credential, group, want string) {
	s := begin(t, model, serve.Options{}, group)
	path := strings.TrimPrefix(s.target, "unix:")
	cmd := s.command(t, "look")
	program := filepath.Join(filepath.Dir(path), "program") // where others may read it
	text, err := os.ReadFile(cmd.Path)
	if err == nil {
		err = errors.Join(os.WriteFile(program, text, 0o755), os.Chmod(filepath.Dir(path), 0o755))
	}
	check.Fatal(t, err)
	defer os.Remove(program)
	cmd.Path, cmd.Dir = program, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &user}
	// The socket's own permissions keep others out before the server does; so they are taken away.
	info := check.Must(os.Stat(path))(t)
	if mode := info.Mode().Perm(); group == "" && mode != 0o600 || group != "" && (mode != 0o660 || fmt.Sprint(info.Sys().(*syscall.Stat_t).Gid) != group) {
		t.Errorf("the socket has mode %v, owner %+v", mode, info.Sys())
	}
	check.Fatal(t, os.Chmod(path, 0o777))
	out, _ := cmd.Output()
	check.Contains(t, "output", string(out), want)
}
