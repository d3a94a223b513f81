package initramfs_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/guest/initramfs"
)

// member is a file in an archive.
type member struct {
	Mode    uint32
	Content string
	Device  [2]uint32
	Changed uint32
}

// unpack reads an archive after the kernel's description of it.
func unpack(t *testing.T, a *initramfs.Archive) map[string]member {
	t.Helper()
	var b bytes.Buffer
	if n, err := a.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Fatalf("WriteTo: %d of %d bytes, %v", n, b.Len(), err)
	}
	text := b.Bytes()
	members := map[string]member{}
	at := 0
	take := func(n int) []byte {
		if at+n > len(text) {
			t.Fatalf("the archive ends at %d, within %d bytes", len(text), n)
		}
		at += n
		return text[at-n : at]
	}
	for {
		if magic := take(6); string(magic) != "070701" {
			t.Fatalf("magic %q at %d", magic, at-6)
		}
		var fields [13]uint32
		for i := range fields {
			raw := check.Must(hex.DecodeString(string(take(8))))(t)
			fields[i] = binary.BigEndian.Uint32(raw)
		}
		name, ok := strings.CutSuffix(string(take(int(fields[11]))), "\x00")
		if !ok {
			t.Fatalf("name %q does not end with NUL", name)
		}
		take(-at & 3)
		content := string(take(int(fields[6])))
		take(-at & 3)
		if name == "TRAILER!!!" {
			break
		}
		if _, twice := members[name]; twice {
			t.Errorf("two entries of %s", name)
		}
		if i := strings.LastIndex(name, "/"); i > 0 {
			if _, ok := members[name[:i]]; !ok {
				t.Errorf("%s comes before its folder", name)
			}
		}
		members[name] = member{fields[1], content, [2]uint32{fields[9], fields[10]}, fields[5]}
	}
	check.Equal(t, "bytes read", at, len(text))
	return members
}

const (
	folder  = 0o040755
	symlink = 0o120777
)

func TestArchive(t *testing.T) {
	dir := t.TempDir()
	data, old := filepath.Join(dir, "tree/sub/data"), time.Unix(1e9, 1)
	write(t, data, "data", 0o640)
	check.Fatal(t, os.Chtimes(data, old, old))
	for name, target := range map[string]string{"tree/link": "sub/data", "tree/loop": "."} {
		check.Fatal(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	a := initramfs.New()
	a.Text("/etc/a", "replaced")
	a.Text("/etc/a", "text")
	a.Device("/dev/null", 1, 3)
	a.Symlink("/init", "/bin/x")
	a.Folder("/empty/one")
	check.Fatal(t, a.CopyAll(filepath.Join(dir, "tree")))
	want := map[string]member{
		"lib": {Mode: folder}, "lib64": {Mode: symlink, Content: "/lib"}, "usr": {Mode: folder},
		"usr/lib": {Mode: symlink, Content: "/lib"}, "usr/lib64": {Mode: symlink, Content: "/lib"},
		"etc": {Mode: folder}, "etc/a": {Mode: 0o100644, Content: "text"},
		"dev": {Mode: folder}, "dev/null": {Mode: 0o020600, Device: [2]uint32{1, 3}},
		"init": {Mode: symlink, Content: "/bin/x"}, "empty": {Mode: folder}, "empty/one": {Mode: folder},
	}
	for above := dir; above != "/"; above = filepath.Dir(above) {
		want[above[1:]] = member{Mode: folder}
	}
	tree := dir[1:] + "/tree"
	want[tree] = member{Mode: folder}
	want[tree+"/sub"] = member{Mode: folder}
	want[tree+"/sub/data"] = member{Mode: 0o100640, Content: "data", Changed: 1e9}
	want[tree+"/link"] = member{Mode: 0o100640, Content: "data", Changed: 1e9}
	check.Equal(t, "archive", unpack(t, a), want)
}

func write(t *testing.T, name, content string, perm os.FileMode) {
	t.Helper()
	check.Fatal(t, os.MkdirAll(filepath.Dir(name), 0o777))
	check.Fatal(t, os.WriteFile(name, []byte(content), perm))
	check.Fatal(t, os.Chmod(name, perm))
}

// A program brings the libraries that the dynamic linker loads for it, by what the linker itself says.
func TestLibraries(t *testing.T) {
	loaded := regexp.MustCompile(`(?m)^\s*(?:(\S+) => )?(/\S+) \(0x`)
	for _, program := range []string{"g++", "verilator_bin", "iceprog", "yosys"} {
		t.Run(program, func(t *testing.T) {
			file, err := exec.LookPath(program)
			if err != nil {
				t.Fatalf("%v: scripts/deps test installs it", err)
			}
			out, err := exec.CommandContext(t.Context(), "ldd", file).Output()
			if err != nil {
				t.Fatalf("ldd: %v", err)
			}
			want := []string{"usr/bin/x"}
			for _, m := range loaded.FindAllStringSubmatch(string(out), -1) {
				if m[1] == "" { // the linker itself, by its whole path
					want = append(want, m[2][1:])
				} else {
					want = append(want, "lib/"+m[1])
				}
			}
			a := initramfs.New()
			check.Fatal(t, a.Copy("/usr/bin/x", file))
			var have []string
			for name, m := range unpack(t, a) {
				if m.Mode&0o170000 == 0o100000 {
					have = append(have, name)
				}
			}
			// libc names the linker too, as a library.
			have = slices.DeleteFunc(have, func(name string) bool { return strings.HasPrefix(name, "lib/ld-linux") })
			slices.Sort(want)
			slices.Sort(have)
			check.Equal(t, "libraries", have, want)
		})
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	script, damaged, changing := filepath.Join(dir, "script"), filepath.Join(dir, "damaged"), filepath.Join(dir, "changing")
	write(t, script, "#!/no/such/interpreter -x\n", 0o755)
	write(t, damaged, "\x7fELF and no more", 0o755)
	write(t, changing, "four", 0o644)
	check.Fails(t, "a script without its interpreter", initramfs.New().Copy("/x", script), nil, "/no/such/interpreter")
	check.Fails(t, "a folder", initramfs.New().Copy("/x", dir), nil, "not a file")
	if err := initramfs.New().Copy("/x", damaged); err != nil {
		t.Errorf("what only begins like a program: %v", err)
	}
	a := initramfs.New()
	check.Fatal(t, a.Copy("/x", changing))
	write(t, changing, "more than four", 0o644)
	check.Fails(t, "a file that has changed", check.Err(a.WriteTo(new(bytes.Buffer))), nil, "has changed")
}

// A missing library is named, and so is the program that needs it.
func TestMissingLibrary(t *testing.T) {
	dir := t.TempDir()
	source, library, program := filepath.Join(dir, "x.c"), filepath.Join(dir, "libmissing.so.1"), filepath.Join(dir, "x")
	write(t, source, "int main(void) { return 0; }\n", 0o644)
	for _, args := range []string{
		fmt.Sprintf("-shared -Wl,-soname,libmissing.so.1 -o %s %s", library, source),
		fmt.Sprintf("-Wl,--no-as-needed -o %s %s %s -Wl,-rpath,$ORIGIN", program, source, library),
	} {
		if out, err := exec.CommandContext(t.Context(), "gcc", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %s: %v\n%s", args, err, out)
		}
	}
	a := initramfs.New()
	if err := a.Copy("/x", program); err != nil {
		t.Errorf("with the library beside the program, where it is looked for: %v", err)
	} else if _, ok := unpack(t, a)["lib/libmissing.so.1"]; !ok {
		t.Error("the library is not in the archive")
	}
	check.Fatal(t, os.Remove(library))
	check.Fails(t, "without the library", initramfs.New().Copy("/x", program), nil, program+" needs the library libmissing.so.1")
}
