// Package initramfs makes archives from which a Linux kernel fills its first file system: programs of this machine with the
// shared libraries they need, other files, and generated files.
//
// The format is the kernel's "newc" cpio (Documentation/driver-api/early-userspace/buffer-format.rst).
package initramfs

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// libraries is the folder that takes all shared libraries. The others in which a dynamic linker looks lead to it.
const libraries = "/lib"

var libraryFolders = []string{"/lib64", "/usr/lib", "/usr/lib64"}

// Archive collects files; adding a path again replaces the file. Parent folders are added automatically.
type Archive struct {
	entries map[string]entry
}

// An entry is a file of the archive: its content, or the file of this machine that has it.
type entry struct {
	mode    uint32 // of the inode: type and permissions
	device  [2]uint32
	content string
	from    string
	size    int64
	changed int64 // seconds since 1970; 0 for generated files
}

// Types of an inode (inode(7)).
const (
	typeFolder  = 0o040000
	typeFile    = 0o100000
	typeSymlink = 0o120000
	typeChar    = 0o020000
)

// New returns an archive with nothing in it but the folders for libraries.
func New() *Archive {
	a := &Archive{entries: map[string]entry{}}
	a.Folder(libraries)
	for _, folder := range libraryFolders {
		a.Symlink(folder, libraries)
	}
	return a
}

func (a *Archive) put(name string, e entry) {
	name = path.Clean("/" + name)
	if name == "/" {
		return
	}
	a.entries[name] = e
	for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
		if _, ok := a.entries[dir]; !ok {
			a.entries[dir] = entry{mode: typeFolder | 0o755}
		}
	}
}

// Folder adds an empty folder, unless it exists.
func (a *Archive) Folder(name string) {
	if _, ok := a.entries[path.Clean("/"+name)]; !ok {
		a.put(name, entry{mode: typeFolder | 0o755})
	}
}

// Text adds a file with the given content.
func (a *Archive) Text(name, content string) {
	a.put(name, entry{mode: typeFile | 0o644, content: content, size: int64(len(content))})
}

// Symlink adds a symbolic link.
func (a *Archive) Symlink(name, target string) {
	a.put(name, entry{mode: typeSymlink | 0o777, content: target, size: int64(len(target))})
}

// Device adds a character device.
func (a *Archive) Device(name string, major, minor uint32) {
	a.put(name, entry{mode: typeChar | 0o600, device: [2]uint32{major, minor}})
}

// Copy adds a file of this machine under another name, as old as it is here in whole seconds. A program brings its dynamic linker or interpreter and its libraries,
// and a library the ones that it needs.
func (a *Archive) Copy(name, from string) error {
	if err := a.addFile(name, from); err != nil {
		return err
	}
	return a.addNeeded(from)
}

// addFile adds a file without what it needs.
func (a *Archive) addFile(name, from string) error {
	info, err := os.Stat(from)
	switch {
	case err != nil:
		return fmt.Errorf("initramfs: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("initramfs: %s is not a file", from)
	case info.Size() > math.MaxUint32:
		return fmt.Errorf("initramfs: %s is too large: %d bytes, at most 4 GiB", from, info.Size())
	}
	a.put(name, entry{mode: typeFile | uint32(info.Mode().Perm()), from: from, size: info.Size(), changed: info.ModTime().Unix()})
	return nil
}

// CopyAll adds a file, or a folder and what is in it, of this machine under the name it has there. Links become what they lead to.
func (a *Archive) CopyAll(name string) error {
	name, err := filepath.Abs(name)
	if err != nil {
		return fmt.Errorf("initramfs: %w", err)
	}
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("initramfs: %w", err)
	}
	if !info.IsDir() {
		return a.Copy(name, name)
	}
	a.Folder(name)
	return fs.WalkDir(os.DirFS(name), ".", func(sub string, d fs.DirEntry, err error) error {
		full := filepath.Join(name, sub)
		switch {
		case err != nil:
			return fmt.Errorf("initramfs: %w", err)
		case d.IsDir():
			a.Folder(full)
			return nil
		}
		if info, err := os.Stat(full); err == nil && !info.Mode().IsRegular() {
			return nil // a socket, or a link to a folder, which may be one above
		}
		return a.Copy(full, full)
	})
}

// WriteTo writes the archive. The same files give the same bytes.
func (a *Archive) WriteTo(w io.Writer) (int64, error) {
	out := &counter{w: bufio.NewWriterSize(w, 1<<18)}
	number := uint32(1)
	for _, name := range slices.Sorted(maps.Keys(a.entries)) {
		if err := out.entry(number, strings.TrimPrefix(name, "/"), a.entries[name]); err != nil {
			return out.n, err
		}
		number++
	}
	if err := out.entry(0, "TRAILER!!!", entry{}); err != nil {
		return out.n, err
	}
	return out.n, out.w.Flush()
}

// counter writes what is padded to multiples of four bytes. An error of w stays with w, whose Flush returns it.
type counter struct {
	w *bufio.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func (c *counter) pad() { c.Write(make([]byte, -c.n&3)) }

func (c *counter) entry(number uint32, name string, e entry) error {
	// ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor namesize check
	fmt.Fprintf(c, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		number, e.mode, 0, 0, 1, uint32(e.changed), e.size, 0, 0, e.device[0], e.device[1], len(name)+1, 0, name)
	c.pad()
	err := c.content(e)
	c.pad()
	return err
}

func (c *counter) content(e entry) error {
	if e.from == "" {
		_, err := io.WriteString(c, e.content)
		return err
	}
	f, err := os.Open(e.from)
	if err != nil {
		return fmt.Errorf("initramfs: %w", err)
	}
	defer f.Close()
	n, err := io.Copy(c, f)
	switch {
	case err != nil:
		return fmt.Errorf("initramfs: %s: %w", e.from, err)
	case n != e.size:
		return fmt.Errorf("initramfs: %s has changed while it was read: %d bytes, and %d before", e.from, n, e.size)
	}
	return nil
}
