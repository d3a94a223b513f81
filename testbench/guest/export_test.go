package guest

import (
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/try"
)

// WithGrace is a Config whose command gets little time to quit.
func (c Config) WithGrace(d time.Duration) Config {
	c.grace = d
	return c
}

// WithBootDeadline is a Config whose guest's console may be silent for so long.
func (c Config) WithBootDeadline(d time.Duration) Config {
	c.bootDeadline = d
	return c
}

var (
	CompareVersions = compareVersions
	Payload         = payload
	Unpack          = unpack
)

// Order loads the kernel that guests run and returns what it would load for a module.
func Order(names ...string) (files []string, err error) {
	err = try.Run(func() { files = try.Get(findKernel()).order(names) })
	return files, err
}

// KernelRoot returns the folder of the kernel that guests run.
func KernelRoot(t *testing.T) string {
	k := check.Must(findKernel())(t)
	return filepath.Dir(filepath.Dir(k.image))
}

// Arguments are those of QEMU.
func Arguments(c Config) []string {
	c.setDefaults()
	return c.arguments("image")
}

// WatchBoot watches a machine that boots, of which the test is the console, until it ends the machine or ctx ends.
func WatchBoot(ctx context.Context, most time.Duration, waited func() time.Duration) (console io.Writer, of context.Context) {
	m := &machine{waited: waited}
	m.ctx, m.kill = context.WithCancelCause(ctx)
	m.console.at = time.Now()
	go m.watchBoot(m.ctx, most)
	return &m.console, m.ctx
}
