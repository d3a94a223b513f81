package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/linkproto"
)

type version struct {
	Version  string `json:"version"`  // of the module; "(devel)" for a build from a checkout
	Commit   string `json:"commit"`   // "" when the build does not know
	Modified bool   `json:"modified"` // the checkout differed from the commit
	Go       string `json:"go"`
	Protocol int    `json:"protocol"`
}

func readVersion() version {
	v := version{Version: "(devel)", Go: runtime.Version(), Protocol: linkproto.Version}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the versions of lmmc and of its protocol",
		Flags: []cli.Flag{jsonFlag},
		Action: func(ctx *cli.Context) error {
			return show(ctx, readVersion(), func(b *strings.Builder, v version) {
				commit := cmp.Or(v.Commit, "unknown")
				if v.Commit != "" && v.Modified {
					commit += ", modified"
				}
				fmt.Fprintf(b, "lmmc      %s\ncommit    %s\ngo        %s\nprotocol  %d\n", v.Version, commit, v.Go, v.Protocol)
			})
		},
	}
}
