package preload_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// differences are what testdata/calls.c prints over TCP and over connections of the cluster, where that is not the same; doc/sockets.md explains them.
var differences = map[string]string{
	"nonblocking: connect(c, (void *)&to, sizeof to) = 0 ": "nonblocking: connect(c, (void *)&to, sizeof to) = -1 EISCONN",
	"ends: events 0x201d":             "ends: events 0x2015",
	"options: TCP_NODELAY at first 0": "options: TCP_NODELAY at first 1",
}

// TestCalls makes the same calls over TCP of the kernel and over connections of the cluster: each must return the same.
func TestCalls(t *testing.T) {
	n := begin(t, cluster.Model)
	program := n.compile(t, "calls")
	kernel := strings.Split(string(check.Must(exec.Command(program, "127.0.0.1").Output())(t)), "\n")
	cluster := strings.Split(n.run(t, 0, program, first), "\n")
	found := 0
	for i := range max(len(kernel), len(cluster)) {
		k, c := slices.Concat(kernel, make([]string, len(cluster)))[i], slices.Concat(cluster, make([]string, len(kernel)))[i]
		switch {
		case k == c:
		case differences[k] == c:
			found++
		default:
			t.Errorf("call %d:\nTCP     %s\ncluster %s", i, k, c)
		}
	}
	check.Equal(t, "differences that are known", found, len(differences))
	for n.daemons[0].Users() > 1 { // until only the program that has joined is left
		time.Sleep(time.Millisecond)
	}
}
