package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/results"
)

// newStamp describes this program, the modules that it works on ("" for those that it was built with), and the named tools. It does so for
// a run that was interrupted too.
func newStamp(ctx *cli.Context, modules string, names ...string) (results.Stamp, error) {
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
				s.Tools = append(s.Tools, results.Tool{Name: name, Version: examine(context.WithoutCancel(ctx.Context), t).Found})
			}
		}
	}
	return s, nil
}
