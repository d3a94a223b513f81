package guest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// insideVariable tells a test program that it is in the guest.
const insideVariable = "LMMC_GUEST"

// Main is for the TestMain of a package whose tests need a guest: os.Exit(guest.Main(m, config)). It boots one, has the tests
// run there under the flags they were started with, and returns their exit code. In the guest it runs them.
func Main(m interface{ Run() int }, c Config) int {
	Init()
	if os.Getenv(insideVariable) != "" {
		return m.Run()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c.Command = os.Args
	c.Env = append(c.Env, insideVariable+"=1")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c, err := c.ForTest()
	if err == nil {
		err = Run(ctx, c)
	}
	if exit := new(ExitError); errors.As(err, &exit) {
		return exit.Code
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
