package initramfs

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

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
			return a.addOnce(words[0], words[0])
		}
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		return a.addLinked(file, f)
	}
	return nil
}

// addOnce adds a file unless there is one of that name.
func (a *Archive) addOnce(name, from string) error {
	if _, ok := a.entries[name]; ok {
		return nil
	}
	return a.Copy(name, from)
}

func (a *Archive) addLinked(file string, content *os.File) error {
	object, err := elf.NewFile(content)
	if err != nil {
		return nil // damaged, so it is data to somebody
	}
	for _, part := range object.Progs {
		if part.Type != elf.PT_INTERP {
			continue
		}
		linker := make([]byte, part.Filesz)
		if _, err := part.ReadAt(linker, 0); err != nil {
			return fmt.Errorf("initramfs: %s: its dynamic linker: %w", file, err)
		}
		name := string(bytes.TrimRight(linker, "\x00"))
		if err := a.addOnce(name, name); err != nil {
			return fmt.Errorf("%w (the dynamic linker of %s)", err, file)
		}
	}
	needed, err := object.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("initramfs: %s: %w", file, err)
	}
	for _, library := range needed {
		if _, ok := a.entries[path.Join(libraries, library)]; ok {
			continue
		}
		from, err := a.find(library, file, object)
		if err != nil {
			return err
		}
		if err := a.Copy(path.Join(libraries, library), from); err != nil {
			return err
		}
	}
	return nil
}

// find looks for a library where the dynamic linker does (ld.so(8)).
func (a *Archive) find(library, file string, object *elf.File) (string, error) {
	var folders []string
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		lists, err := object.DynString(tag)
		if err != nil {
			return "", fmt.Errorf("initramfs: %s: %w", file, err)
		}
		for _, list := range lists {
			origin := strings.NewReplacer("$ORIGIN", filepath.Dir(file), "${ORIGIN}", filepath.Dir(file))
			folders = append(folders, filepath.SplitList(origin.Replace(list))...)
		}
	}
	folders = append(folders, filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))...)
	folders = append(folders, a.search...)
	for _, folder := range folders {
		name := filepath.Join(folder, library)
		found, err := elf.Open(name)
		if err != nil {
			continue // not there, or a linker script
		}
		fits := found.Class == object.Class && found.Machine == object.Machine
		if found.Close(); fits {
			return name, nil
		}
	}
	return "", fmt.Errorf("initramfs: %s needs the library %s, which is in none of %s", file, library, strings.Join(folders, " "))
}

// linkerFolders returns the folders that the dynamic linker is configured to look in, and those it always looks in.
func linkerFolders(config string) []string {
	return append(configured(config, 0), "/lib", "/usr/lib", "/lib64", "/usr/lib64")
}

// configured reads a file like /etc/ld.so.conf. Files that cannot be read say nothing.
func configured(file string, depth int) []string {
	const deepest = 8 // of files that include files
	text, err := os.ReadFile(file)
	if err != nil || depth == deepest {
		return nil
	}
	var folders []string
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "include":
			for _, pattern := range words[1:] {
				if !filepath.IsAbs(pattern) {
					pattern = filepath.Join(filepath.Dir(file), pattern)
				}
				files, _ := filepath.Glob(pattern) // a wrong pattern includes nothing
				for _, included := range files {
					folders = append(folders, configured(included, depth+1)...)
				}
			}
		default:
			folders = append(folders, words[0])
		}
	}
	return folders
}
