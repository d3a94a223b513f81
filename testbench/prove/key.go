package prove

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/stafflink/lmmc/internal/campaign"
)

// code is what makes a proof out of a Proof. Other code of the program has no part in what comes out, so proofs outlive changes of it.
//
//go:embed check.go prove.go
var code embed.FS

// key hashes what the proof's success follows from: the sources with all that they include, how it is made, the tools, and this package. It is ""
// when a tool is missing.
func (p Proof) key(ctx context.Context) (string, error) {
	tools, err := Tools(ctx)
	if errors.Is(err, ErrTool) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	sources, err := p.sources()
	if err != nil {
		return "", fmt.Errorf("prove %s: %w", p.Name, err)
	}
	ours, err := campaign.HashFS(code)
	p.Dir, p.Name, p.Properties, p.Timeout = "", "", "", 0 // of no consequence for what holds
	return campaign.Key("prove", ours, tools, sources, fmt.Sprintf("%#v", p)), err
}

var (
	include   = regexp.MustCompile("`include\\s+\"([^\"]+)\"")
	otherFile = regexp.MustCompile("`include\\s+[^\"\\s]|\\$readmem|\\$fopen") // files whose names nobody sees here
)

// sources hashes the files that yosys reads.
func (p Proof) sources() (string, error) {
	parts := []string{}
	names := slices.Concat(p.Files, p.Parts)
	for i := 0; i < len(names); i++ {
		text, err := os.ReadFile(filepath.Join(p.Dir, names[i]))
		parts = append(parts, names[i], string(text))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			parts = append(parts, "none") // an include has two places where it may be; of a missing source yosys tells
			continue
		case err != nil:
			return "", err
		case otherFile.Match(text):
			whole, err := campaign.HashFS(os.DirFS(p.Dir))
			if err != nil {
				return "", err
			}
			parts = append(parts, whole)
		}
		for _, m := range include.FindAllSubmatch(text, -1) {
			for _, name := range []string{filepath.Join(filepath.Dir(names[i]), string(m[1])), filepath.Clean(string(m[1]))} {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return campaign.Key(parts...), nil
}

var (
	versionsMutex sync.Mutex
	versions      = map[string]string{} // by PATH
)

// Tools names the tools with their versions. yosys-smtbmc and yosys-abc are those of yosys.
func Tools(ctx context.Context) (string, error) {
	versionsMutex.Lock()
	defer versionsMutex.Unlock()
	path := os.Getenv("PATH")
	if versions[path] == "" {
		var said []string
		for _, command := range [][]string{{"yosys", "-V"}, {"z3", "-version"}} {
			out, err := exec.CommandContext(ctx, command[0], command[1:]...).Output()
			if errors.Is(err, exec.ErrNotFound) {
				return "", fmt.Errorf("%w: %s", ErrTool, command[0])
			}
			if err != nil {
				return "", fmt.Errorf("prove: %s: %w", strings.Join(command, " "), err)
			}
			said = append(said, string(out))
		}
		versions[path] = strings.Join(said, "")
	}
	return versions[path], nil
}
