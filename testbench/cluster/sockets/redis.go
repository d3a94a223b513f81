package sockets

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/hostdrv/ip"
	"github.com/stafflink/lmmc/internal/try"
)

// Redis is what redis-benchmark has measured of one redis-server, both unchanged, each on a node of its own.
type Redis struct {
	Ours, TCP Requests
	Runs      int // of redis-benchmark, each way
}

// Requests are medians, a second of real time.
type Requests struct{ Set, Get float64 }

// Each is the time that a SET and a GET take together.
func (r Requests) Each() float64 { return 1/r.Set + 1/r.Get }

const (
	redisClients  = 50
	redisRequests = 1000 // of each kind in a run
	redisPatience = time.Minute
	redisReady    = "Ready to accept connections" // is in its log
)

// MeasureRedis runs redis-benchmark by sockets (lmmc run) and by the kernel's TCP (lmmc ip), in turn, over the same two network interfaces. ErrNamespace says that it is not root's.
func MeasureRedis(ctx context.Context, o Options) (r Redis, err error) {
	err = try.Run(func() {
		server, client := program("redis-server"), program("redis-benchmark")
		network, _, end := up(ctx, o)
		defer try.Finally(end)
		_, targets := network.Targets()
		dir := try.Get(os.MkdirTemp("", "lmmc"))
		defer try.Finally(func() error { return os.RemoveAll(dir) })
		address := try.Get(ip.Address(network.Number(1), prefix)).Addr()
		ways := map[Way][]string{Ours: {"run", "--addr", prefix.String()}, TCP: {"ip", "up", "--lo", "--addr", prefix.String()}}
		for _, way := range []Way{Ours, TCP} {
			args := append(slices.Clone(ways[way]), targets[1], "--", server, "--bind", address.String(), "--port", "6379", "--save", "", "--protected-mode", "no", "--dir", dir)
			defer try.Get(background(ctx, o.Lmmc, way, filepath.Join(dir, string(way)), args))()
		}
		sets, gets := map[Way][]float64{}, map[Way][]float64{}
		for round := range o.Rounds + 1 {
			o.Progress(fmt.Sprintf("redis, round %d of %d", max(round, 1), o.Rounds))
			for _, way := range []Way{Ours, TCP} {
				args := append(slices.Clone(ways[way]), targets[0], "--", client, "-h", address.String(), "-t", "set,get", "-n", strconv.Itoa(redisRequests), "-c", strconv.Itoa(redisClients), "--csv")
				set, get := redisRun(ctx, o.Lmmc, way, args)
				if round > 0 { // the first one has the server's windows grow
					sets[way], gets[way] = append(sets[way], set), append(gets[way], get)
				}
			}
		}
		r = Redis{Requests{median(sets[Ours]), median(gets[Ours])}, Requests{median(sets[TCP]), median(gets[TCP])}, o.Rounds}
	})
	return r, err
}

// program is the path of one that is to be there.
func program(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		try.OK(fmt.Errorf("%w: %w; apt-get install redis", ErrNoRedis, err))
	}
	return path
}

// ErrNoRedis says that there is nothing to measure with.
var ErrNoRedis = errors.New("the figure takes redis-server and redis-benchmark")

// hosted is a command of lmmc on one processor, for TCP in a network namespace of its own.
func hosted(ctx context.Context, lmmc string, way Way, args []string) *exec.Cmd {
	c := exec.CommandContext(ctx, lmmc, args...)
	if way == TCP {
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	}
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(os.Interrupt) }, 10*time.Second
	return c
}

// background starts redis-server, and returns when it listens. It writes to log until stop is called.
func background(ctx context.Context, lmmc string, way Way, log string, args []string) (stop func(), err error) {
	during, cancel := context.WithCancel(ctx)
	c := hosted(during, lmmc, way, args)
	out, err := os.Create(log)
	if err == nil {
		c.Stdout, c.Stderr = out, out
		err = c.Start()
	}
	if err != nil {
		cancel()
		if errors.Is(err, syscall.EPERM) {
			err = fmt.Errorf("%w: %w", ErrNamespace, err)
		}
		return nil, errors.Join(err, out.Close())
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	stop = func() {
		cancel()
		<-ended // by the signal
		out.Close()
	}
	for tick, began := time.NewTicker(10*time.Millisecond), time.Now(); ; {
		said, _ := os.ReadFile(log)
		switch {
		case strings.Contains(string(said), redisReady):
			return stop, nil
		case len(ended) > 0 || ctx.Err() != nil || time.Since(began) > redisPatience:
			stop()
			return nil, fmt.Errorf("redis-server by %s does not listen: %s", way, said)
		}
		<-tick.C
	}
}

// redisRun runs redis-benchmark once, and returns the requests a second of each kind.
func redisRun(ctx context.Context, lmmc string, way Way, args []string) (set, get float64) {
	ctx, cancel := context.WithTimeout(ctx, redisPatience) // one whose connections fail waits for ever
	defer cancel()
	c := hosted(ctx, lmmc, way, args)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err == nil {
		set, get, err = redisRates(strings.NewReader(string(out)))
	}
	if err != nil {
		try.OK(fmt.Errorf("redis-benchmark by %s: %w: %s%s", way, err, out, &said))
	}
	return set, get
}

// redisRates reads the requests a second out of what redis-benchmark --csv prints.
func redisRates(from io.Reader) (set, get float64, err error) {
	r := csv.NewReader(from)
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		return 0, 0, err
	}
	for _, row := range rows {
		kind := map[string]*float64{"SET": &set, "GET": &get}[row[0]]
		if kind == nil || len(row) < 2 {
			continue
		}
		if *kind, err = strconv.ParseFloat(row[1], 64); err != nil {
			return 0, 0, err
		}
	}
	if set <= 0 || get <= 0 {
		return 0, 0, errors.New("it printed no rates of SET and GET")
	}
	return set, get, nil
}
