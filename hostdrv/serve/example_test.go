package serve_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/serve"
)

// One process has the NI, as lmmc serve does, and others use it; here all are one.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	dir, err := os.MkdirTemp("", "lmmc")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	own, err := hostdrv.OpenNode(ctx, "model:?links=2", hostdrv.Options{}, hostdrv.NodeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer own.Close()
	l, err := serve.Listen(filepath.Join(dir, "ni"), "")
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- serve.Serve(ctx, own, l, serve.Options{}) }()

	// A program that is told "unix:…" instead of "model:" or "serial:…", and does not differ otherwise.
	node, err := hostdrv.OpenNode(ctx, "unix:"+l.Path(), hostdrv.Options{}, hostdrv.NodeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	port, err := node.CreatePort(1, hostdrv.Receive)
	fmt.Println(port.ID(), err)
	fmt.Println(len(own.Tables().Ports), "port")
	err = node.Close()
	stop()
	fmt.Println(errors.Is(<-ended, context.Canceled), err)
	// Output:
	// 2 <nil>
	// 1 port
	// true <nil>
}
