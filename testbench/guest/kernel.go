package guest

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/verilator"
)

// ErrTool says that QEMU or a kernel is missing; `make deps` gets both.
var ErrTool = errors.New("guest: not installed")

// KernelVariable names the environment variable that names the folder of a kernel to use.
const KernelVariable = "LMMC_KERNEL"

// kernel is a Linux kernel as a package of a distribution lays it out: boot/vmlinuz-VERSION and lib/modules/VERSION below
// one folder.
type kernel struct {
	image   string // path of vmlinuz
	version string
	modules map[string]string // paths of the modules that can be loaded, by name
	builtin map[string]bool   // modules that are part of the image
}

// KernelVersion returns the version of the kernel that guests run.
func KernelVersion() (string, error) {
	k, err := findKernel()
	if err != nil {
		return "", err
	}
	return k.version, nil
}

// findKernel returns the kernel in $LMMC_KERNEL, or else in the cache, where scripts/deps puts one, or else the newest that is installed.
func findKernel() (*kernel, error) {
	if root := os.Getenv(KernelVariable); root != "" {
		k, err := openKernel(root)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrTool, KernelVariable, err)
		}
		return k, nil
	}
	cached, err := verilator.CacheDir("kernel")
	if err != nil {
		return nil, err
	}
	for _, root := range []string{cached, "/"} {
		k, err := openKernel(root)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return k, err
		}
	}
	return nil, fmt.Errorf("%w: no kernel in %s, and none with modules in /boot: make deps gets one, or set %s to a folder with boot/vmlinuz-VERSION and lib/modules/VERSION",
		ErrTool, cached, KernelVariable)
}

// openKernel opens the newest kernel below a folder. The error wraps fs.ErrNotExist when there is none.
func openKernel(root string) (*kernel, error) {
	const prefix = "vmlinuz-"
	images, err := filepath.Glob(filepath.Join(root, "boot", prefix+"*"))
	if err != nil {
		return nil, fmt.Errorf("guest: %w", err)
	}
	slices.SortFunc(images, func(a, b string) int { return compareVersions(b, a) })
	for _, image := range images {
		k := &kernel{image: image, version: strings.TrimPrefix(filepath.Base(image), prefix), modules: map[string]string{}, builtin: map[string]bool{}}
		if err := k.list(filepath.Join(root, "lib", "modules", k.version)); err == nil {
			return k, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("guest: a kernel with modules in %s: %w", root, fs.ErrNotExist)
}

var number = regexp.MustCompile(`\d+`)

// compareVersions orders names by the numbers in them, where these differ.
func compareVersions(a, b string) int {
	padded := func(s string) string { // so that all numbers are of the same length
		return number.ReplaceAllStringFunc(s, func(digits string) string { return strings.Repeat("0", max(0, 20-len(digits))) + digits })
	}
	return strings.Compare(padded(a), padded(b))
}

const moduleSuffix = ".ko"

func (k *kernel) list(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "modules.builtin"))
	if err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		k.builtin[moduleName(strings.TrimSpace(line))] = true
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.Contains(filepath.Base(name), moduleSuffix) {
			k.modules[moduleName(name)] = filepath.Join(dir, name)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	return nil
}

// moduleName is the name under which the kernel knows the module in a file.
func moduleName(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), moduleSuffix)
	return strings.ReplaceAll(name, "-", "_")
}

// order returns the files of the named modules and of those they depend on, each after what it depends on.
func (k *kernel) order(names []string) (files []string) {
	done := map[string]bool{}
	var add func(name, by string)
	add = func(name, by string) {
		name = moduleName(name)
		if done[name] || k.builtin[name] {
			return
		}
		done[name] = true
		file, ok := k.modules[name]
		if !ok {
			try.Failf("guest: kernel %s at %s has no module %s%s", k.version, filepath.Dir(k.image), name, by)
		}
		for _, other := range dependencies(file) {
			add(other, ", which "+name+" needs")
		}
		files = append(files, file)
	}
	for _, name := range names {
		add(name, "")
	}
	return files
}

// dependencies reads the names of the modules that a module needs out of its file. So modules.dep, which a package
// of a kernel has only once it is installed, is not needed.
func dependencies(file string) []string {
	if filepath.Ext(file) != moduleSuffix {
		try.Failf("guest: the module %s is compressed, which is not supported: use the kernel that make deps gets", file)
	}
	object, err := elf.Open(file)
	try.Wrap(err, "guest: module %s", file)
	defer object.Close()
	section := object.Section(".modinfo")
	if section == nil {
		try.Failf("guest: %s is not a module: it has no section .modinfo", file)
	}
	info, err := section.Data()
	try.Wrap(err, "guest: module %s", file)
	for entry := range bytes.SplitSeq(info, []byte{0}) {
		if list, ok := bytes.CutPrefix(entry, []byte("depends=")); ok && len(list) > 0 {
			return strings.Split(string(list), ",")
		}
	}
	return nil
}
