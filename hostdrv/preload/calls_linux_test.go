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

// differences are what testdata/calls.c prints over TCP and over connections of the cluster, and datagrams.c over UDP, where that is not the same; doc/sockets.md explains them.
var differences = map[string]map[string]string{"calls": {
	"nonblocking: connect(c, (void *)&to, sizeof to) = 0 ": "nonblocking: connect(c, (void *)&to, sizeof to) = -1 EISCONN",
	"ends: events 0x201d":             "ends: events 0x2015",
	"options: TCP_NODELAY at first 0": "options: TCP_NODELAY at first 1",
}, "datagrams": {
	"watches: shutdown(d, SHUT_RD) < 0 = 1 ":                      "watches: shutdown(d, SHUT_RD) < 0 = 0 ",
	"nobody_once: recv(a, t, 10, MSG_ERRQUEUE) = 1 ":              "nobody_once: recv(a, t, 10, MSG_ERRQUEUE) = -1 EAGAIN",
	"groups: OPTION(s[1], IP_ADD_SOURCE_MEMBERSHIP, source) = 0 ": "groups: OPTION(s[1], IP_ADD_SOURCE_MEMBERSHIP, source) = -1 ENOPROTOOPT",
	"groups: OPTION(s[2], IP_BLOCK_SOURCE, source) = 0 ":          "groups: OPTION(s[2], IP_BLOCK_SOURCE, source) = -1 ENOPROTOOPT",
}}

// TestCalls makes the same calls over TCP and UDP of the kernel and over the cluster: each must return the same.
func TestCalls(t *testing.T) {
	n := begin(t, cluster.Model)
	for name, known := range differences {
		t.Run(name, func(t *testing.T) { compare(t, n, name, known) })
	}
	for n.daemons[0].Users() > 2 { // until only the programs that have joined are left
		time.Sleep(time.Millisecond)
	}
}

func compare(t *testing.T, n *network, name string, known map[string]string) {
	program := n.compile(t, name)
	kernel := strings.Split(string(check.Must(exec.Command(program, "127.0.0.1").Output())(t)), "\n")
	cluster := strings.Split(n.run(t, 0, program, first), "\n")
	found := 0
	for i := range max(len(kernel), len(cluster)) {
		k, c := slices.Concat(kernel, make([]string, len(cluster)))[i], slices.Concat(cluster, make([]string, len(kernel)))[i]
		switch {
		case k == c:
		case known[k] != "" && known[k] == c:
			found++
		default:
			t.Errorf("call %d:\nkernel  %s\ncluster %s", i, k, c)
		}
	}
	check.Equal(t, "differences that are known", found, len(known))
}
