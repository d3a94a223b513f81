package regs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/regs"
)

const timer = `
name = "timer"
[[register]]
name = "ctrl"
doc = "what the timer does"
address = 0
field = [{name = "run", bits = "0:0", reset = 1}, {name = "mode", bits = "5:4", values = {once = 1}}]
[[register]]
name = "status"
address = 4
field = [{name = "expired", bits = "15:8", access = "w1c", volatile = true}, {name = "seen", bits = "0:0", access = "rc", volatile = true}]
[[register]]
name = "slot"
count = 4
address = 8
access = "wo"
`

// code is what can be compared of a block: all that it says is in its driver.
func code(t *testing.T, b *regs.Block) string {
	return string(check.Must(b.Generate("timer", "x"))(t))
}

func TestIPXACTSaysTheSameAsTOML(t *testing.T) {
	want := code(t, check.Must(regs.Parse([]byte(timer)))(t))
	check.Equal(t, "1685-2014", code(t, check.Must(regs.Read("testdata/timer.xml"))(t)), want)

	text := string(check.Must(os.ReadFile("testdata/timer.xml"))(t))
	older := strings.NewReplacer("ipxact:", "spirit:", "IPXACT/1685-2014", "SPIRIT/1685-2009", "'h", "0x", "2'b01", "1", "32'h8", "8",
		"<ipxact:resets><ipxact:reset><ipxact:value>'h1</ipxact:value></ipxact:reset></ipxact:resets>", "",
		"<ipxact:size>32</ipxact:size>\n          <ipxact:field>\n            <ipxact:name>run",
		"<spirit:size>32</spirit:size><spirit:reset><spirit:value>0x1</spirit:value></spirit:reset>\n<spirit:field><spirit:name>run").Replace(text)
	path := filepath.Join(t.TempDir(), "timer.xml")
	check.Fatal(t, os.WriteFile(path, []byte(older), 0o666))
	check.Equal(t, "1685-2009", code(t, check.Must(regs.Read(path))(t)), want)
}

func TestWhatIPXACTCannotGiveIsRefused(t *testing.T) {
	text := string(check.Must(os.ReadFile("testdata/timer.xml"))(t))
	for _, c := range [][3]string{
		{"oneToClear", "modify", `register status: field expired: access "read-write" with modifiedWriteValue "modify"`},
		{"32'h8", "BASE+8", `addressOffset of slot: "BASE+8" is no number`},
		{"<ipxact:dim>4</ipxact:dim>", "<ipxact:dim>4</ipxact:dim><ipxact:dim>2</ipxact:dim>", "arrays of one dimension"},
		{"ipxact:addressBlock", "ipxact:bank", "0 address blocks"},
		{"<ipxact:bitWidth>8<", "<ipxact:bitWidth>80<", "80 bits from 8"},
		{"</ipxact:component>", "", "IP-XACT: XML"},
		{"</ipxact:memoryMap>", "<ipxact:addressUnitBits>12</ipxact:addressUnitBits></ipxact:memoryMap>", "addressUnitBits 12: want a multiple of 8"},
		{"<ipxact:size>32<", "<ipxact:size>16<", "register slot: address 0x8, step 2: want multiples of 4 bytes"},
	} {
		path := filepath.Join(t.TempDir(), "timer.xml")
		check.Fatal(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, c[0], c[1])), 0o666))
		_, err := regs.Read(path)
		check.Fails(t, c[1], err, nil, "regs: ", c[2])
	}
}

// The real program is not there where this runs: one in its place hands over IP-XACT as it would.
func TestSystemRDLGoesByPeakrdl(t *testing.T) {
	dir := t.TempDir()
	xml := check.Must(filepath.Abs("testdata/timer.xml"))(t)
	path := filepath.Join(dir, "timer.rdl")
	check.Fatal(t, os.WriteFile(path, []byte("addrmap timer {};"), 0o666))
	shell := os.Getenv("PATH")
	t.Setenv("PATH", dir)
	_, err := regs.Read(path)
	check.Fails(t, "without peakrdl", err, nil, "peakrdl, which is not installed: pip install peakrdl peakrdl-ipxact")
	program := func(text string) {
		check.Fatal(t, os.WriteFile(filepath.Join(dir, "peakrdl"), []byte("#!/bin/sh\n"+text+"\n"), 0o777))
		t.Setenv("PATH", dir+string(os.PathListSeparator)+shell)
	}
	program(`[ "$1 $2 $3" = "ip-xact ` + path + ` -o" ] && cp ` + xml + ` "$4"`)
	check.Equal(t, "block", code(t, check.Must(regs.Read(path))(t)), code(t, check.Must(regs.Read(xml))(t)))
	program(`echo "error: syntax" >&2; exit 1`)
	_, err = regs.Read(path)
	check.Fails(t, "a bad file", err, nil, "timer.rdl: peakrdl: exit status 1: error: syntax")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(timer))
	f.Add(check.Must(os.ReadFile("testdata/every.toml"))(f))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := regs.Parse(text)
		if err != nil {
			return
		}
		if _, err := b.Generate("p", "x"); err != nil && !strings.Contains(err.Error(), "rename one") {
			t.Errorf("what was read gives no code: %v", err)
		}
	})
}

// Each change to the file says the same as one to the TOML.
func TestWhatIPXACTSaysOfABlock(t *testing.T) {
	text := string(check.Must(os.ReadFile("testdata/timer.xml"))(t))
	const map1 = "</ipxact:addressBlock>"
	slot := strings.Index(timer, "[[register]]\nname = \"slot\"")
	for _, c := range []struct{ name, old, text, toml string }{
		{"addresses that count words", map1, map1 + "<ipxact:addressUnitBits>32</ipxact:addressUnitBits>",
			strings.NewReplacer("address = 4", "address = 16", "address = 8", "address = 32").Replace(timer)},
		{"a hard reset behind a soft one", "<ipxact:resets>", `<ipxact:resets><ipxact:reset resetTypeRef="soft"><ipxact:value>0</ipxact:value></ipxact:reset>`, timer},
		{"a hard reset before a soft one", "</ipxact:resets>", `<ipxact:reset resetTypeRef="soft"><ipxact:value>0</ipxact:value></ipxact:reset></ipxact:resets>`, timer},
		{"the access of a block", "<ipxact:access>write-only</ipxact:access>\n        </ipxact:register>", "</ipxact:register><ipxact:access>write-only</ipxact:access>", timer},
		{"a register of 16 bits", "<ipxact:dim>4</ipxact:dim>\n          <ipxact:addressOffset>32'h8</ipxact:addressOffset>\n          <ipxact:size>32<",
			"<ipxact:addressOffset>8</ipxact:addressOffset><ipxact:size>16<",
			timer[:slot] + "[[register]]\nname = \"slot\"\naddress = 8\nfield = [{name = \"slot\", bits = \"15:0\", access = \"wo\"}]\n"},
	} {
		if !strings.Contains(text, c.old) {
			t.Fatalf("%s: the file has no %s", c.name, c.old)
		}
		path := filepath.Join(t.TempDir(), "timer.xml")
		check.Fatal(t, os.WriteFile(path, []byte(strings.Replace(text, c.old, c.text, 1)), 0o666))
		have, want := check.Must(regs.Read(path))(t), check.Must(regs.Parse([]byte(c.toml)))(t)
		check.Equal(t, c.name, code(t, have), code(t, want))
		for i, r := range have.Registers {
			check.Equal(t, c.name+": bits of "+r.Name, r.Fields[0].Bits, want.Registers[i].Fields[0].Bits)
		}
	}
}
