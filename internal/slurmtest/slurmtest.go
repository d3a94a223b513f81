// Package slurmtest starts a Slurm cluster of one node on this machine, for as long as a test or a measurement lasts: Debian's slurm-wlm and munge, as root,
// with own ports and folders and without cgroups.
package slurmtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/internal/try"
)

// Errors that say why there can be no cluster here.
var (
	ErrTool    = errors.New("tool not found")
	ErrMachine = errors.New("a Slurm cluster for a test needs Linux and root")
)

const patience = 60 * time.Second // for a daemon to answer: the machine may be busy

// Cluster is a cluster that is running. Its Conf in SLURM_CONF makes Slurm's programs use it.
type Cluster struct {
	Conf string

	dir     string
	daemons map[string]*exec.Cmd
}

const configuration = `ClusterName=lmmctest
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[2]d
SlurmdPort=%[3]d
AuthType=auth/munge
AuthInfo=socket=%[4]s/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=%[4]s/state
SlurmdSpoolDir=%[4]s/spool
SlurmctldPidFile=%[4]s/slurmctld.pid
SlurmdPidFile=%[4]s/slurmd.pid
SlurmctldTimeout=10
SlurmdTimeout=5
KillWait=2
ReturnToService=2
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
MaxArraySize=%[5]d
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=%[6]d State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// Start starts a cluster with its files in dir, which other users must be able to enter. Arrays have at most maxArray tasks.
func Start(ctx context.Context, dir string, maxArray int) (*Cluster, error) {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return nil, ErrMachine
	}
	for program, pkg := range map[string]string{"munged": "munge", "mungekey": "munge", "slurmctld": "slurm-wlm", "slurmd": "slurm-wlm", "sinfo": "slurm-wlm"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%w: %s (apt install %s)", ErrTool, program, pkg)
		}
	}
	c := &Cluster{Conf: filepath.Join(dir, "slurm.conf"), dir: dir, daemons: map[string]*exec.Cmd{}}
	if err := try.Run(func() { c.startAll(ctx, maxArray) }); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) startAll(ctx context.Context, maxArray int) {
	host, _, _ := strings.Cut(try.Get(os.Hostname()), ".")
	for _, name := range []string{"state", "spool"} {
		try.OK(os.MkdirAll(c.path(name), 0o755))
	}
	text := fmt.Sprintf(configuration, host, freePort(), freePort(), c.dir, maxArray, runtime.NumCPU())
	try.OK(os.WriteFile(c.Conf, []byte(text), 0o644))
	if out, err := exec.CommandContext(ctx, "mungekey", "--create", "--keyfile="+c.path("munge.key")).CombinedOutput(); err != nil {
		try.Failf("slurmtest: mungekey: %w\n%s", err, out)
	}
	try.OK(c.start("munged", "--foreground", "--force", "--key-file="+c.path("munge.key"), "--socket="+c.path("munge.socket"),
		"--pid-file="+c.path("munge.pid"), "--seed-file="+c.path("munge.seed"), "--log-file="+c.path("munged.log")))
	try.OK(c.until(ctx, "munged", func() bool { _, err := os.Stat(c.path("munge.socket")); return err == nil }))
	try.OK(c.start("slurmctld", "-D", "-c", "-f", c.Conf, "-L", c.path("slurmctld.log")))
	try.OK(c.StartNode(ctx))
}

func freePort() int {
	l := try.Get(net.Listen("tcp4", "127.0.0.1:0"))
	defer try.Finally(l.Close)
	return l.Addr().(*net.TCPAddr).Port
}

func (c *Cluster) path(name string) string { return filepath.Join(c.dir, name) }

// start starts a daemon in the foreground, in a process group of its own.
func (c *Cluster) start(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	log, err := os.OpenFile(c.path(name+".out"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.Conf)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("slurmtest: %w", err)
	}
	c.daemons[name] = cmd
	return nil
}

// until waits for a daemon to come up.
func (c *Cluster) until(ctx context.Context, name string, up func() bool) error {
	for begin := time.Now(); time.Since(begin) < patience && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if up() {
			return nil
		}
	}
	said, _ := os.ReadFile(c.path(name + ".out"))
	logged, _ := os.ReadFile(c.path(name + ".log"))
	return errors.Join(ctx.Err(), fmt.Errorf("slurmtest: %s does not come up in %v:\n%s%s", name, patience, said, logged))
}

// StartNode starts the node, for the first time or after KillNode, and waits until it takes jobs.
func (c *Cluster) StartNode(ctx context.Context) error {
	if err := c.start("slurmd", "-D", "-f", c.Conf, "-L", c.path("slurmd.log")); err != nil {
		return err
	}
	return c.until(ctx, "slurmd", func() bool {
		cmd := exec.CommandContext(ctx, "sinfo", "--noheader", "--format=%T")
		cmd.Env = append(os.Environ(), "SLURM_CONF="+c.Conf)
		out, err := cmd.Output()
		state := string(bytes.TrimSpace(out))
		return err == nil && (state == "idle" || state == "mixed" || state == "allocated" || state == "completing")
	})
}

// KillNode kills the node with all that runs on it, as a loss of power does.
func (c *Cluster) KillNode() error {
	steps, err := c.steps()
	if err != nil {
		return err
	}
	c.kill("slurmd")
	for _, pid := range steps {
		killTree(pid)
	}
	return nil
}

// Stop ends the cluster.
func (c *Cluster) Stop() error {
	err := c.KillNode()
	for _, name := range []string{"slurmctld", "munged"} {
		c.kill(name)
	}
	return err
}

func (c *Cluster) kill(name string) {
	if cmd := c.daemons[name]; cmd != nil {
		cmd.Process.Kill()
		cmd.Wait() // it was killed
		delete(c.daemons, name)
	}
}

// steps finds the processes that watch over tasks of this cluster: slurmstepd, which the node has started and does not end with it.
func (c *Cluster) steps() (pids []int, err error) {
	found, err := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range found {
		environ, _ := os.ReadFile(file) // it may have ended
		name, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "comm"))
		if strings.HasPrefix(string(name), "slurmstepd") && bytes.Contains(environ, []byte("SLURM_CONF="+c.Conf+"\x00")) {
			var pid int
			fmt.Sscan(filepath.Base(filepath.Dir(file)), &pid)
			pids = append(pids, pid)
		}
	}
	return pids, err
}

// killTree kills a process and those that it has started.
func killTree(pid int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	syscall.Kill(pid, syscall.SIGKILL)
	for _, child := range strings.Fields(string(text)) {
		var n int
		if _, err := fmt.Sscan(child, &n); err == nil {
			killTree(n)
		}
	}
}
