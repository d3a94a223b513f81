// Package project writes new projects that stand on this module: a Verilog module of one's own with its test, its proof, and the files
// around them. The files are those in folder template; @name@, @module@ and others in them are replaced.
package project

import (
	"embed"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/rtl"
)

// ErrOptions means that Options cannot be met; nothing was written.
var ErrOptions = errors.New("cannot make the project")

//go:embed all:template
var template embed.FS

// Module is the path of the module that projects require.
const Module = "github.com/stafflink/lmmc"

// shared are the modules of this repository that a project has copies of.
var shared = []string{"linkproto.vh", "phy/phy_uart.v", "phy/uart_tx.v", "phy/uart_rx.v", "common/sync_bit.v", "common/reset_sync.v"}

// Options say what to write.
type Options struct {
	Dir    string // the folder to make, which must be missing or empty; its last element is the project's name
	Module string // path of the project's Go module; "" for its name
	LMMC   string // a checkout of this module, which the project's go.mod refers to
}

var (
	nameForm   = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	moduleForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~-]*(/[A-Za-z0-9][A-Za-z0-9._~-]*)*$`)
	required   = regexp.MustCompile(`(?m)^\t(\S+ v\S+)(?: // indirect)?$`)
	goLine     = regexp.MustCompile(`(?m)^go (\S+)$`)
)

// keywords are those of Verilog-2005 and SystemVerilog that a module's name could be, and folders that the template has.
var keywords = strings.Fields(`always and assign automatic begin bit buf bufif0 bufif1 byte case casex casez cell class clocking cmos config
	constraint cover covergroup deassign default defparam design disable edge else end endcase endconfig endfunction endgenerate endmodule endprimitive
	endspecify endtable endtask enum event expect export extern final first_match for force foreach forever fork forkjoin function generate genvar
	global highz0 highz1 if iff ifnone import incdir include initial inout input inside instance int integer interface intersect join large liblist
	library local localparam logic longint macromodule matches medium modport module nand negedge new nmos nor noshowcancelled not notif0 notif1 null or
	output package packed parameter pmos posedge primitive priority program property protected pull0 pull1 pulldown pullup pulsestyle_ondetect
	pulsestyle_onevent pure rand randc rcmos real realtime ref reg release repeat return rnmos rpmos rtran rtranif0 rtranif1 scalared sequence shortint
	shortreal showcancelled signed small solve specify specparam static string strong0 strong1 struct super supply0 supply1 table tagged task this
	throughout time timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union unique unsigned use uwire var
	vectored virtual void wait wait_order wand weak0 weak1 while wildcard wire with within wor xnor xor`)

// check returns the project's name.
func (o Options) check() (string, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return "", err
	}
	name := filepath.Base(dir)
	switch {
	case !nameForm.MatchString(name):
		return "", fmt.Errorf("%w %q: want a name of lower-case letters, digits and _, beginning with a letter: it names a Verilog module", ErrOptions, name)
	case slices.Contains(keywords, name) || token.IsKeyword(name):
		return "", fmt.Errorf("%w %q: the name is a keyword of Verilog or Go", ErrOptions, name)
	case slices.Contains(reserved, name):
		return "", fmt.Errorf("%w %q: the project has a module or package of that name already", ErrOptions, name)
	case o.Module != "" && !moduleForm.MatchString(o.Module):
		return "", fmt.Errorf("%w %s: module %q: want a path such as example.com/%[2]s", ErrOptions, name, o.Module)
	}
	switch entries, err := os.ReadDir(dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", fmt.Errorf("%w %s: %w", ErrOptions, name, err)
	case len(entries) > 0:
		return "", fmt.Errorf("%w %s: folder %s is not empty: name another, or remove it", ErrOptions, name, o.Dir)
	}
	return name, nil
}

// reserved are names that the template uses.
var reserved = []string{"rtl", "top", "system", "simulated", "host_frames", "phy_uart", "uart_tx", "uart_rx", "sync_bit", "reset_sync", "driver", "main", "test"}

// Write makes the project's folder with all files, or leaves nothing behind. Errors about the options wrap ErrOptions.
func Write(o Options) (name string, err error) {
	if name, err = o.check(); err != nil {
		return "", err
	}
	err = try.Run(func() {
		mod, sum := o.goModule(name)
		to := try.Get(filepath.Abs(o.Dir))
		try.OK(os.MkdirAll(filepath.Dir(to), 0o777))
		dir := filepath.Join(filepath.Dir(to), fmt.Sprintf(".%s-%d", name, os.Getpid()))
		try.OK(os.Mkdir(dir, 0o777))
		defer os.RemoveAll(dir)
		put := func(path, text string) {
			path = filepath.Join(dir, filepath.FromSlash(path))
			try.OK(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666))
		}
		fill := strings.NewReplacer("@name@", name, "@Name@", exported(name), "@module@", o.module(name))
		try.OK(fs.WalkDir(template, "template", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := template.ReadFile(path)
			if err == nil {
				path = strings.TrimSuffix(strings.TrimPrefix(path, "template/"), ".tmpl")
				put(strings.ReplaceAll(fill.Replace(path), "dot-", "."), fill.Replace(string(text)))
			}
			return err
		}))
		for _, path := range shared {
			put("rtl/lmmc/"+filepath.Base(path), string(try.Get(rtl.FS.ReadFile(path))))
		}
		put("go.mod", mod)
		put("go.sum", sum)
		if _, err := os.Stat(to); errors.Is(err, fs.ErrNotExist) {
			try.OK(os.Rename(dir, to))
			return
		}
		for _, e := range try.Get(os.ReadDir(dir)) { // into an empty folder, which may be the current one
			try.OK(os.Rename(filepath.Join(dir, e.Name()), filepath.Join(to, e.Name())))
		}
	})
	return name, err
}

func (o Options) module(name string) string {
	if o.Module != "" {
		return o.Module
	}
	return name
}

// exported is a name in Go's manner: RxFilter for rx_filter.
func exported(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// goModule makes go.mod and go.sum: all that the checkout requires, so that nothing has to be looked up.
func (o Options) goModule(name string) (mod, sum string) {
	dir := try.Get(filepath.Abs(o.LMMC))
	theirs, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !strings.HasPrefix(string(theirs), "module "+Module+"\n") {
		try.Failf("%w %s: %s is no checkout of %s: name one with --lmmc DIR", ErrOptions, name, dir, Module)
	}
	sums := try.Get(os.ReadFile(filepath.Join(dir, "go.sum")))
	to := dir
	if strings.ContainsAny(to, " \t\"'`(),") {
		to = strconv.Quote(to)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module %s\n\ngo %s\n\nrequire %s v0.0.0\n\n", o.module(name), goLine.FindStringSubmatch(string(theirs))[1], Module)
	fmt.Fprintf(&b, "// lmmc is not published yet: this is the checkout that `lmmc new` belongs to.\nreplace %s => %s\n\n", Module, to)
	fmt.Fprintf(&b, "tool %s/cmd/lmmc\n\n// What lmmc requires.\nrequire (\n", Module)
	for _, m := range required.FindAllStringSubmatch(string(theirs), -1) {
		fmt.Fprintf(&b, "\t%s // indirect\n", m[1])
	}
	b.WriteString(")\n")
	return b.String(), string(sums)
}
