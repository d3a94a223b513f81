package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/results"
)

// newStamp describes this program, the modules that it works on ("" for those that it was built with), and the named tools.
func newStamp(ctx context.Context, modules string, names ...string) (results.Stamp, error) {
	v := readVersion()
	s := results.Stamp{Time: time.Now().UTC().Truncate(time.Second), Commit: v.Commit, Modified: v.Modified, Tools: []results.Tool{}}
	hash := rtl.Hash()
	if modules != "" {
		var err error
		if hash, err = rtl.HashOf(os.DirFS(modules)); err != nil {
			return s, err
		}
	}
	s.RTL = fmt.Sprintf("%016x", hash)
	for _, name := range append([]string{"go"}, names...) {
		for _, t := range tools() {
			if t.name == name {
				s.Tools = append(s.Tools, results.Tool{Name: name, Version: examine(ctx, t).Found})
			}
		}
	}
	return s, ctx.Err()
}
