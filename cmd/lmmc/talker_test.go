package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/stafflink/lmmc/hostdrv"
)

// talker TARGET TEXT... has a port from link 1 to itself, writes each text to it, and waits until it has arrived.
func talker() {
	ctx := context.Background()
	node, err := hostdrv.OpenNode(ctx, os.Args[1], hostdrv.Options{}, hostdrv.NodeOptions{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	accepted := make(chan *hostdrv.Window, 1)
	go func() {
		var w *hostdrv.Window
		if r, err := node.Accept(ctx); err == nil {
			if p, err := r.Accept(); err == nil {
				w, _ = p.Window()
			}
		}
		accepted <- w
	}()
	p, err := node.Dial(ctx, 1, hostdrv.Send, []byte("talk"))
	var there, here *hostdrv.Window
	if err == nil {
		there, err = p.Window()
		here = <-accepted
	}
	for _, text := range os.Args[2:] {
		if err == nil {
			err = there.WritePage(ctx, []byte(text), 0)
		}
		if err == nil {
			err = here.Wait(ctx, func(page []byte) bool { return strings.HasPrefix(string(page), text) })
		}
	}
	if err := errors.Join(err, node.Close()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
