package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/nearest"
)

// hinted adds to an error about names the one of those there are that is most like the first that is none of them.
func hinted(err error, given, names []string) error {
	i := slices.IndexFunc(given, func(name string) bool { return !slices.Contains(names, name) })
	if err == nil || i < 0 {
		return err
	}
	return withHint(err, nearest.Hint(given[i], names))
}

// targetHinted is hinted for a command line with a target of a kind that there is not.
func targetHinted(err error, args []string) error {
	if !errors.Is(err, hostdrv.ErrTarget) {
		return err
	}
	schemes := hostdrv.Schemes()
	for _, arg := range args {
		scheme, _, _ := strings.Cut(arg, ":")
		if strings.Contains(err.Error(), strconv.Quote(arg)) && !(slices.Contains(schemes, scheme) && scheme != arg) {
			return withHint(err, strings.Replace(nearest.Hint(scheme, schemes), "?", ":?", 1))
		}
	}
	return err
}

func withHint(err error, hint string) error {
	if hint == "" {
		return err
	}
	return fmt.Errorf("%w%s", err, hint)
}
