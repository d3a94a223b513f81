package preload_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// programs are what people run, unchanged, with the server at the second node.
var programs = []struct {
	name string
	rtl  bool // also there
	run  func(t *testing.T, n *network)
}{{"names", false, testNames}, {"curl", true, testCurl}, {"iperf3", true, testIperf}, {"redis", true, testRedis}, {"all of redis-benchmark", false, testRedisAll}, {"nginx", true, testNginx}, {"ssh", true, testSSH}, {"datagrams", false, testEcho}, {"multicast", true, testMulticast}}

// TestPrograms runs them on RTL, and on models while cables are cut and routes change: they go on.
func TestPrograms(t *testing.T) {
	for _, rung := range []string{cluster.Model, cluster.RTL} {
		t.Run(rung, func(t *testing.T) {
			var n *network
			if rung == cluster.RTL {
				n = begin(t, rung)
			} else {
				n = beginOn(t, rung, check.Must(topology.Generate("line", []int{2}, 2))(t))
				n.disturb(t)
			}
			for _, p := range programs {
				if rung == cluster.Model || p.rtl {
					t.Run(p.name, func(t *testing.T) { p.run(t, n) })
				}
			}
		})
	}
}

// TestOwnNodes runs servers at once, each at a node of its own and with its clients at the next one.
func TestOwnNodes(t *testing.T) {
	servers := map[string]func(*testing.T, *network){"curl": testCurl, "iperf3": testIperf, "redis": testRedis, "nginx": testNginx, "ssh": testSSH}
	n := beginOn(t, cluster.Model, check.Must(topology.Generate("star", []int{len(servers)}, 1))(t))
	var work sync.WaitGroup
	for i, name := range slices.Sorted(maps.Keys(servers)) {
		own := *n
		own.rung, own.at = "", [2]int{(i + 1) % len(servers), i}
		work.Go(func() { t.Run(name, func(t *testing.T) { servers[name](t, &own) }) })
	}
	work.Wait()
}

// write makes a file.
func write(t *testing.T, path string, data []byte) {
	t.Helper()
	check.Fatal(t, os.WriteFile(path, data, 0o600))
}

// testNames asks for addresses of nodes. 10.0.0.255 would be all nodes'.
func testNames(t *testing.T, n *network) {
	check.Equal(t, "names", n.run(t, 0, python, "-c", `import socket as s
print(s.getaddrinfo("node2", 80, type=s.SOCK_STREAM, flags=s.AI_CANONNAME)[0][3:], s.getaddrinfo("node2.cluster", 80, s.AF_INET6, s.SOCK_STREAM, flags=s.AI_V4MAPPED)[0][4])
print(s.gethostbyname("node1.cluster"), s.gethostbyname_ex("node254"))
for name in "node2", "node255", "node0", "node", "node2x", "node02.other":
    try: print(s.getaddrinfo(name, 80, s.AF_INET6 if name == "node2" else s.AF_INET))
    except s.gaierror as e: print(e.errno == s.EAI_NONAME or e.errno == s.EAI_ADDRFAMILY or e.errno == s.EAI_AGAIN)`),
		"('node2', ('10.0.0.2', 80)) ('::ffff:10.0.0.2', 80, 0, 0)\n10.0.0.1 ('10.0.0.254', [], ['10.0.0.254'])\n"+strings.Repeat("True\n", 6))
}

func testCurl(t *testing.T, n *network) {
	dir, server := t.TempDir(), n.address(1)
	data := testbench.NewRand(1).Bytes(100_000)
	write(t, filepath.Join(dir, "file"), data)
	for what, args := range map[string][]string{"threads": {"-m", "http.server", "--bind", server, "--directory", dir, "8000"}, "processes": {"-c", forkingHTTP, server, dir}} {
		_, end := n.serve(t, 1, 8000, python, args...)
		name := strings.Replace(server, "10.0.0.", "node", 1)
		for _, host := range []string{server, name, name + ".cluster"} {
			if have := n.run(t, 0, "curl", "-sS", "http://"+host+":8000/file"); have != string(data) {
				t.Errorf("%s: %d bytes come, or others; want %d", what, len(have), len(data))
			}
		}
		end()
	}
	c := n.start(t, 0, "curl", "-sS", "http://"+server+":8000/file")
	check.Fails(t, "nobody listens", c.Wait(), nil, "exit status 7")
}

// forkingHTTP is http.server with a process for each connection.
const forkingHTTP = `import functools, http.server, socketserver, sys
class Server(socketserver.ForkingMixIn, http.server.HTTPServer): pass
Server((sys.argv[1], 8000), functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[2])).serve_forever()`

func testIperf(t *testing.T, n *network) {
	ways := [][]string{{"--bidir"}}
	if n.rung == cluster.Model {
		ways = append(ways, []string{"-P", "3"}, []string{"-u", "-b", "50M"}, []string{"-u", "-b", "50M", "-R", "-P", "2"})
	}
	for _, way := range ways {
		iperf(t, n, way)
	}
}

// iperf has a server for one client.
func iperf(t *testing.T, n *network, way []string) {
	second := n.address(1)
	_, end := n.serve(t, 1, 5201, "iperf3", "-s", "-1", "-B", second)
	defer end()
	check.Contains(t, "iperf3", n.run(t, 0, "iperf3", append([]string{"-c", second, "-n", "100K"}, way...)...), "receiver")
}

func testRedis(t *testing.T, n *network) {
	second := n.address(1)
	_, end := n.serve(t, 1, 6379, "redis-server", "--bind", second, "--save", "", "--protected-mode", "no", "--dir", t.TempDir())
	defer end()
	out := n.run(t, 0, "redis-benchmark", "-h", second, "-t", "set,get", "-n", "300", "-c", "20", "--csv")
	check.Contains(t, "redis-benchmark", out, `"SET"`, `"GET"`)
	check.Equal(t, "what was set", n.run(t, 0, "redis-cli", "-h", second, "set", "key", "value"), "OK\n")
	check.Equal(t, "what is got", n.run(t, 0, "redis-cli", "-h", second, "get", "key"), "value\n")
}

// testRedisAll has all commands that redis-benchmark knows, some in a request; and what redis-cli sends from a file.
func testRedisAll(t *testing.T, n *network) {
	_, end := n.serve(t, 1, 6379, "redis-server", "--bind", second, "--save", "", "--protected-mode", "no", "--dir", t.TempDir())
	defer end()
	out := n.run(t, 0, "redis-benchmark", "-h", "node2", "-n", "24", "-c", "3", "-P", "4", "-d", "2000", "-r", "50", "--csv")
	check.Contains(t, "redis-benchmark", out, `"PING_INLINE"`, `"LPUSH"`, `"SPOP"`, `"ZADD"`, `"LRANGE_600 (first 600 elements)"`, `"MSET (10 keys)"`)
	if strings.Contains(strings.ToLower(out), "error") {
		t.Error(out)
	}
	write(t, n.file("commands"), []byte(strings.Repeat("INCR counter\r\n", 1000)))
	check.Contains(t, "redis-cli --pipe", n.run(t, 0, "sh", "-c", "redis-cli -h node2 --pipe < "+n.file("commands")), "errors: 0, replies: 1000")
	check.Contains(t, "redis-cli --bigkeys", n.run(t, 0, "redis-cli", "-h", "node2", "--bigkeys"), "Biggest string found")
	check.Contains(t, "redis-cli --latency", n.run(t, 0, "redis-cli", "-h", "node2", "-i", "0.05", "--latency"), ".")
	check.Equal(t, "python3-redis", n.run(t, 0, python, "-c", redisClient), "ok\n")
	check.Equal(t, "counted", n.run(t, 0, "redis-cli", "-h", "node2", "get", "counter"), "1000\n")
}

// size is how long a file is: in RTL a tenth.
func (n *network) size(bytes int) int {
	if n.rung == cluster.RTL {
		return bytes / 10
	}
	return bytes
}

// redisClient uses what a client of redis has: pipelines, transactions that fail when a key has changed, blocking calls, scripts, subscriptions, values of a megabyte.
const redisClient = `import redis, threading
r, other = redis.Redis("node2", decode_responses=True), redis.Redis("node2", decode_responses=True)
p = r.pipeline(transaction=False)
for i in range(500): p.hset("hash", i, i * i)
p.hlen("hash")
assert p.execute()[-1] == 500
assert sum(int(v) for _, v in r.hscan_iter("hash", count=50)) == sum(i * i for i in range(500))
with r.pipeline() as p:
    p.watch("counter")
    other.incr("counter")
    p.multi()
    p.set("counter", 0)
    try: p.execute(); assert False
    except redis.WatchError: pass
other.decr("counter")
waits = threading.Timer(0.05, lambda: other.rpush("list", "late"))
waits.start()
assert r.blpop("list", timeout=60) == ("list", "late")
assert r.eval("return {KEYS[1], #ARGV[1]}", 1, "key", "x" * 1000) == ["key", 1000]
r.set("big", "y" * 1000000)
assert r.strlen("big") == 1000000 and other.get("big") == "y" * 1000000
s = r.pubsub()
s.subscribe("news")
assert s.get_message(timeout=60)["type"] == "subscribe"
assert other.publish("news", "hello") == 1
assert s.get_message(timeout=60)["data"] == "hello"
try: r.lpush("big", 1); assert False
except redis.ResponseError: pass
r.close()
print("ok")`

// testNginx has a master and workers, one server that asks another, and a reload while requests come.
func testNginx(t *testing.T, n *network) {
	dir, second := t.TempDir(), n.address(1)
	check.Fatal(t, os.Chmod(dir, 0o755))
	data := testbench.NewRand(2).Bytes(n.size(200_000))
	write(t, filepath.Join(dir, "file"), data)
	config := fmt.Sprintf(`daemon off; worker_processes 2; user root; pid %[1]s/pid; error_log %[1]s/log; events {}
http { access_log off;
server { listen %[2]s:8080; location / { root %[1]s; } location /asked/ { proxy_pass http://%[2]s:8081/; } }
server { listen %[2]s:8081; location / { root %[1]s; } } }`, dir, second)
	write(t, filepath.Join(dir, "config"), []byte(config))
	server, end := n.serve(t, 1, 8081, "nginx", "-c", filepath.Join(dir, "config"))
	defer end()
	for _, path := range []string{"file", "asked/file"} {
		if have := n.run(t, 0, "curl", "-sS", "http://"+second+":8080/"+path); have != string(data) {
			t.Errorf("%s: %d bytes come, or others; want %d", path, len(have), len(data))
		}
	}
	if n.rung == cluster.RTL {
		check.Fatal(t, server.Process.Signal(hangup))
		check.Equal(t, "after a reload", n.run(t, 0, "curl", "-sS", "http://"+second+":8080/asked/config"), config)
		return
	}
	load := n.start(t, 0, "wrk", "-t1", "-c5", "-d1", "http://"+second+":8080/asked/config")
	check.Fatal(t, server.Process.Signal(hangup))
	check.Fatal(t, load.Wait())
	if out := load.out.String(); strings.Contains(out, "Non-2xx") || !strings.Contains(out, "requests in") || strings.Contains(out, " 0 requests in") {
		t.Error(out)
	}
}

func testSSH(t *testing.T, n *network) {
	dir, first, second := t.TempDir(), n.address(0), n.address(1)
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"host", "user"} {
		n.run(t, 0, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file(name))
	}
	check.Fatal(t, os.MkdirAll("/run/sshd", 0o755)) // what sshd wants
	write(t, file("config"), fmt.Appendf(nil, "HostKey %s\nAuthorizedKeysFile %s\nPidFile none\nStrictModes no\nUsePAM no\nSubsystem sftp internal-sftp\nGatewayPorts clientspecified\nPort 2222\nListenAddress %s\n",
		file("host"), file("user.pub"), second))
	_, end := n.serve(t, 1, 2222, find(t, "sshd"), "-D", "-e", "-f", file("config"))
	defer end()
	data := testbench.NewRand(3).Bytes(n.size(300_000))
	write(t, file("from"), data)
	options := []string{"-q", "-i", file("user"), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "IdentityAgent=none"}
	// A port of each node leads to the server: by the client, and by the server's process and the client.
	_, over := n.serve(t, 0, 2223, "ssh", append(options, "-p", "2222", "-N", "-L", first+":2223:"+second+":2222", "-R", second+":2224:"+second+":2222", "root@"+second)...)
	defer over()
	n.run(t, 0, "scp", append(options, "-P", "2223", file("from"), "root@"+first+":"+file("to"))...)
	if have := check.Must(os.ReadFile(file("to")))(t); !bytes.Equal(have, data) {
		t.Errorf("the copy of %d bytes has %d, or others", len(data), len(have))
	}
	if n.rung == cluster.RTL {
		return
	}
	for !n.has(t, 1, 2224) && t.Context().Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	check.Contains(t, "SSH_CONNECTION", n.run(t, 0, "ssh", append(options, "-p", "2224", "root@"+second, "echo $SSH_CONNECTION")...), first+" ", " "+second+" 2222")
}

// testEcho has a server of datagrams answer clients of both nodes, and one of the system's stack, each over a port that it connects and one that it does not.
func testEcho(t *testing.T, n *network) {
	n.serve(t, 1, 5300, python, "-c", `import socketserver
class Upper(socketserver.BaseRequestHandler):
    def handle(self): self.request[1].sendto(self.request[0].upper(), self.client_address)
class Server(socketserver.ThreadingMixIn, socketserver.UDPServer): max_packet_size = 65507
Server(("", 5300), Upper).serve_forever()`)
	client := func(host string) string {
		return `import socket as s
a, b = s.socket(s.AF_INET, s.SOCK_DGRAM), s.socket(s.AF_INET, s.SOCK_DGRAM)
b.connect(("` + host + `", 5300))
for i in range(8):
    q = b"what is %d? " % i * (1 + i % 2 * 4000)
    a.sendto(q, ("` + host + `", 5300))
    b.send(q)
    r, at = a.recvfrom(65507)
    assert at == b.getpeername() and r == b.recv(65507) == q.upper()
print(at)`
	}
	for node, host := range []string{"node2", "node2"} {
		check.Equal(t, host, n.run(t, node, python, "-c", client(host)), "('10.0.0.2', 5300)\n")
	}
	check.Equal(t, "loopback", n.run(t, 0, python, "-c", client("127.0.0.1")), "('127.0.0.1', 5300)\n")
}

// testMulticast has iperf, socat and python3 send to multicast groups that programs of both nodes have joined.
func testMulticast(t *testing.T, n *network) {
	_, end := n.serve(t, 1, 5001, "iperf", "-s", "-u", "-B", "239.1.2.3")
	check.Contains(t, "iperf", n.run(t, 0, "iperf", "-u", "-c", "239.1.2.3", "-n", "20K", "-b", "1M"), "Sent 1")
	end()
	near, far := n.file("near"), n.file("far")
	for node, file := range []string{near, far} {
		write(t, file, nil)
		n.serve(t, node, 5002, "socat", "-u", "UDP4-RECV:5002,reuseaddr,ip-add-membership=239.1.2.4:0.0.0.0", "OPEN:"+file+",append")
	}
	// Until the other node has said to this one that it is a member.
	n.run(t, 0, python, "-c", `import socket as s, sys, time
a = s.socket(s.AF_INET, s.SOCK_DGRAM)
while not all(open(f).read() for f in sys.argv[1:]):
    a.sendto(b"to both\n", ("239.1.2.4", 5002))
    time.sleep(0.01)`, near, far)
	check.Equal(t, "what has come", await(t, near, 1)[0]+", "+await(t, far, 1)[0], "to both, to both")
}
