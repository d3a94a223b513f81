package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
)

// ringer is a node of lmmc net run: it opens a port to the next node, writes its name, and prints what the one before has written.
func ringer() {
	err := try.Run(func() {
		ctx := context.Background()
		node := try.Get(hostdrv.OpenNode(ctx, os.Getenv("LMMC_TARGET"), hostdrv.Options{}, hostdrv.NodeOptions{}))
		next := try.Get(strconv.Atoi(os.Getenv("LMMC_NUMBER")))%len(strings.Fields(os.Getenv("LMMC_NODES"))) + 1
		sent := make(chan error, 1)
		go func() {
			sent <- try.Run(func() {
				p := try.Get(node.Dial(ctx, try.Get(node.LinkTo(uint16(next))), hostdrv.Send, nil))
				w := try.Get(p.Window())
				try.OK(w.WritePage(ctx, []byte("I am "+os.Getenv("LMMC_NODE")+"\n"), 0), w.Sync(ctx))
			})
		}()
		w := try.Get(try.Get(try.Get(node.Accept(ctx)).Accept()).Window())
		var said string
		err := w.Wait(ctx, func(page []byte) (complete bool) {
			said, _, complete = strings.Cut(string(page), "\n")
			return complete
		})
		fmt.Println("heard:", said)
		try.OK(errors.Join(err, <-sent))
		try.OK(node.Close())
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
