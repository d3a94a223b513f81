// Command gen writes everything that is made from the tables of package linkproto: the Verilog header, the protocol
// document and the Wireshark dissector.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// outputs maps a path below the module's root to what makes the file.
var outputs = map[string]func() []byte{
	"rtl/linkproto.vh":   verilog,
	"linkproto/lmmc.lua": lua,
	"doc/protocol.md":    doc,
}

func main() {
	root := flag.String("root", ".", "the module's root directory")
	flag.Parse()
	if err := generate(*root); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate writes every output that differs from what is there, so that time stamps change only with content.
func generate(root string) error {
	for path, make := range outputs {
		file := filepath.Join(root, path)
		content := make()
		if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, content) {
			continue
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
