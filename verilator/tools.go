package verilator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/try"
)

// toolchain is what Build needs to have found on this machine.
type toolchain struct {
	verilator, compiler string
	include             string   // Verilator's runtime sources
	identity            string   // changes when a tool does
	major, minor        int      // of Verilator
	files               []string // the tools, and where the cache keeps what they answered
}

const minMajor, minMinor = 5, 2

var (
	toolMutex sync.Mutex
	toolCache = map[string]*toolchain{} // by PATH, CXX and cache folder
)

// findTools looks the tools up once a process. What they answer is kept in the cache beside their file times, so
// that a warm start runs none of them. Whole seconds of those survive in archives, such as a guest's first file system.
func findTools(ctx context.Context, c cache) *toolchain {
	toolMutex.Lock()
	defer toolMutex.Unlock()
	key := os.Getenv("PATH") + "\x00" + os.Getenv("CXX") + "\x00" + string(c)
	if t := toolCache[key]; t != nil {
		return t
	}
	t := &toolchain{}
	var err error
	if t.verilator, err = exec.LookPath("verilator"); err != nil {
		try.Failf("%w: verilator is not in PATH; install it: %s", ErrTool, howToInstall)
	}
	name := cmp.Or(os.Getenv("CXX"), "g++")
	if t.compiler, err = exec.LookPath(name); err != nil {
		try.Failf("%w: C++ compiler %s is not in PATH; install it: %s", ErrTool, name, howToInstall)
	}
	fingerprint := sha256.New()
	for _, file := range []string{t.verilator, t.verilator + "_bin", t.compiler} {
		if info, err := os.Stat(file); err == nil {
			t.files = append(t.files, file)
			fmt.Fprintln(fingerprint, file, info.Size(), info.ModTime().Unix())
		}
	}
	answer := c.once(ctx, fmt.Sprintf("tools-%x", fingerprint.Sum(nil)[:12]), func(file string) {
		try.OK(os.WriteFile(file, []byte(t.ask(ctx)), 0o666))
	})
	t.identity = string(try.Get(os.ReadFile(answer)))
	t.include, _, _ = strings.Cut(t.identity, "\n")
	if m := versionText.FindStringSubmatch(t.identity); m != nil {
		t.major, _ = strconv.Atoi(m[1])
		t.minor, _ = strconv.Atoi(m[2])
	}
	t.files = append(t.files, answer)
	toolCache[key] = t
	return t
}

// Tools names the Verilator and the compiler that Build uses, with their versions.
func Tools(ctx context.Context) (identity string, err error) {
	err = try.Run(func() { identity = findTools(ctx, openCache()).identity })
	return identity, err
}

// ResultKey hashes what a simulation by this program follows from besides its parameters: the program with all that is embedded in it, the modules in
// tree (nil for those that are embedded), Verilator and compiler, and the variables LMMC_*. It is "" when a tool is missing, and when RewriteVar puts other
// modules in the place of these: then no result is any other's.
func ResultKey(ctx context.Context, tree fs.FS) (string, error) {
	if os.Getenv(RewriteVar) != "" {
		return "", nil
	}
	tools, err := Tools(ctx)
	if errors.Is(err, ErrTool) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	program, err := campaign.Program()
	if err != nil {
		return "", fmt.Errorf("verilator: %w", err)
	}
	modules := ""
	if tree != nil {
		if modules, err = campaign.HashFS(tree); err != nil {
			return "", fmt.Errorf("verilator: %w", err)
		}
	}
	return campaign.Key(program, modules, tools, campaign.Environment("LMMC_", "LMMC_CACHE")), nil
}

// atLeast tells whether Verilator is that version or a later one.
func (t *toolchain) atLeast(major, minor int) bool {
	return t.major > major || t.major == major && t.minor >= minor
}

var versionText = regexp.MustCompile(`Verilator (\d+)\.(\d+)`)

// ask returns the include folder and both versions, a line each.
func (t *toolchain) ask(ctx context.Context) string {
	answer := func(tool string, args ...string) string {
		out, err := exec.CommandContext(ctx, tool, args...).Output()
		if try.OK(ctx.Err()); err != nil {
			try.Failf("%w: %s %s: %v", ErrTool, tool, strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out))
	}
	version := answer(t.verilator, "--version")
	m := versionText.FindStringSubmatch(version)
	if m == nil {
		try.Failf("%w: %s does not say its version: %q", ErrTool, t.verilator, version)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < minMajor || major == minMajor && minor < minMinor {
		try.Failf("%w: %s is version %d.%03d, at least %d.%03d is needed: %s", ErrTool, t.verilator,
			major, minor, minMajor, minMinor, howToInstall)
	}
	include := filepath.Join(answer(t.verilator, "--getenv", "VERILATOR_ROOT"), "include")
	if _, err := os.Stat(filepath.Join(include, "verilated.cpp")); err != nil {
		try.Failf("%w: Verilator's runtime sources: %v; install them: %s", ErrTool, err, howToInstall)
	}
	first, _, _ := strings.Cut(answer(t.compiler, "--version"), "\n")
	return fmt.Sprintf("%s\n%s\n%s\n", include, version, first)
}

// command runs a tool and returns what it printed. When ctx ends, the tool and its children are killed.
func command(ctx context.Context, dir string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return string(out), ctx.Err()
	}
	return string(out), err
}

// compile runs the C++ compiler.
func (t *toolchain) compile(ctx context.Context, dir string, args ...string) error {
	out, err := command(ctx, dir, t.compiler, args...)
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return &CompileError{Tool: filepath.Base(t.compiler), Output: out}
	}
	return err
}
