package hostdrv

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// SharedScheme is that of targets which are NIs of other processes, as in "unix:/run/lmmc.sock".
const SharedScheme = "unix"

// DefaultSocket is where an NI is shared unless said otherwise: the target "unix:".
func DefaultSocket() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "lmmc.sock")
	}
	return filepath.Join(os.TempDir(), "lmmc-"+strconv.Itoa(os.Getuid())+".sock")
}

// OpenNode opens a target and makes a Node of it, which Node.Close closes. With target "unix:PATH" the NI is that of another process, which
// serves it at a socket (package serve), and the node has the ports that it creates or accepts itself; there o may be left as it is but for
// NodeOptions.Spin. With any other target it is Open and Start.
func OpenNode(ctx context.Context, target string, o Options, no NodeOptions) (*Node, error) {
	if u, err := url.Parse(target); err == nil && u.Scheme == SharedScheme {
		return openShared(ctx, target, u, o, no)
	}
	n, err := Open(ctx, target, o)
	if err != nil {
		return nil, err
	}
	node, err := Start(ctx, n, no)
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return node, nil
}

func openShared(ctx context.Context, target string, u *url.URL, o Options, no NodeOptions) (*Node, error) {
	if u.Host != "" || u.RawQuery != "" {
		return nil, fmt.Errorf("%w %q: want unix: and the path of a socket", ErrTarget, target)
	}
	if no.Frames != nil || no.Replacement != nil {
		return nil, fmt.Errorf("%w: frames and their replacement are up to the server of %s", ErrRange, target)
	}
	path := u.Path
	if path == "" {
		path = u.Opaque
	}
	if path == "" {
		path = DefaultSocket()
	}
	c, err := dialServer(ctx, path, o.Hash)
	if err != nil {
		return nil, err
	}
	if no.Spin == 0 {
		no.Spin = defaultSpin
	}
	return &Node{client: c, spinTime: no.Spin}, nil
}

// Close ends the node and its NI, or the use of another process's NI: its ports are deleted then.
func (node *Node) Close() error {
	if node.client != nil {
		return node.client.close()
	}
	return node.ni.Close()
}

// WithTimeout is NI.WithTimeout, also for a node whose NI is another process's.
func (node *Node) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	c := node.client
	if c == nil {
		return node.ni.WithTimeout(ctx, d)
	}
	inner, cancel := context.WithCancelCause(ctx)
	c.work.Go(func() {
		if c.sleep(inner, d) == nil {
			cancel(context.DeadlineExceeded)
		}
	})
	return timeoutContext{inner}, func() { cancel(context.Canceled) }
}
