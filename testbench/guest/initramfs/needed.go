package initramfs

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
)

// dynamicLinker is the one that lists the libraries of a library, which names none itself.
const dynamicLinker = "/lib64/ld-linux-x86-64.so.2"

// loads matches a line in which the dynamic linker lists a library: name, and path or "not found"; for itself only the path.
var loads = regexp.MustCompile(`(?m)^\s*(?:(\S+) => )?(/\S+|not found)`)

// addNeeded adds what a file cannot run without: of a script its interpreter, of a program its dynamic linker, and of programs
// and libraries the libraries that they name.
func (a *Archive) addNeeded(file string) error {
	head := make([]byte, 256)
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("initramfs: %w", err)
	}
	defer f.Close()
	n, _ := f.Read(head) // an empty file is neither
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte("#!")):
		line, _, _ := bytes.Cut(head[2:], []byte("\n"))
		if words := strings.Fields(string(line)); len(words) > 0 {
			return a.copyOnce(words[0])
		}
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		return a.addLinked(file)
	}
	return nil
}

// addOnce adds a file unless one has that name.
func (a *Archive) addOnce(name, from string) error {
	if _, ok := a.entries[name]; ok {
		return nil
	}
	return a.addFile(name, from)
}

// copyOnce is addOnce for a program, with what that needs.
func (a *Archive) copyOnce(name string) error {
	if _, ok := a.entries[name]; ok {
		return nil
	}
	return a.Copy(name, name)
}

// addLinked asks the dynamic linker which libraries it would load (LD_TRACE_LOADED_OBJECTS, ld.so(8)).
func (a *Archive) addLinked(file string) error {
	object, err := elf.Open(file)
	if err != nil {
		return nil // damaged, so data and not a program
	}
	defer object.Close()
	needed, err := object.ImportedLibraries()
	linker := dynamicLinker
	for _, part := range object.Progs {
		if part.Type == elf.PT_INTERP {
			name := make([]byte, part.Filesz)
			_, readErr := part.ReadAt(name, 0)
			linker = string(bytes.TrimRight(name, "\x00"))
			err = errors.Join(err, readErr, a.addOnce(linker, linker))
		}
	}
	if err != nil {
		return fmt.Errorf("initramfs: %s: %w", file, err)
	}
	if len(needed) == 0 {
		return nil
	}
	list := exec.Command(linker, file)
	list.Env = append(os.Environ(), "LD_TRACE_LOADED_OBJECTS=1")
	out, err := list.CombinedOutput()
	if err != nil {
		return fmt.Errorf("initramfs: %s: its libraries: %w: %s", file, err, bytes.TrimSpace(out))
	}
	for _, m := range loads.FindAllStringSubmatch(string(out), -1) {
		name, from := path.Join(libraries, m[1]), m[2]
		switch {
		case from == "not found":
			return fmt.Errorf("initramfs: %s needs the library %s, which the dynamic linker does not find", file, m[1])
		case m[1] == "":
			name = from
		}
		if err := a.addOnce(name, from); err != nil {
			return err
		}
	}
	return nil
}
