package hostdrv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	_ "github.com/stafflink/lmmc/testbench/modelsim" // targets "model:"
)

// An NI, a model here, whose two links are cabled to each other: what is written by link 1 arrives by link 2.
func ExampleOpen() {
	ctx := context.Background()
	n, err := hostdrv.Open(ctx, "model:?links=2&frames=8", hostdrv.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer n.Close()

	err = errors.Join(
		n.SetFrame(ctx, 3, hostdrv.FrameEntry{Link: 2}), // who may write frame 3
		n.Write(ctx, 1, 3*1024, []byte("hello")),
		n.Sync(ctx, 1), // the other end has it
	)
	have := make([]byte, 5)
	err = errors.Join(err, n.ReadBuffer(ctx, have, 3*1024))
	fmt.Printf("%s %v\n", have, err)
	// Output: hello <nil>
}

// Requests that are underway together take one round trip.
func ExampleNI_Batch() {
	ctx := context.Background()
	n, err := hostdrv.Open(ctx, "model:?links=2&frames=8", hostdrv.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer n.Close()

	b := n.Batch()
	have := make([]byte, 3)
	for frame := range n.Identity().Frames {
		b.SetFrame(frame, hostdrv.FrameEntry{Link: 1 + frame%2})
	}
	b.WriteBuffer([]byte("abc"), 40)
	b.ReadBuffer(have, 40)
	fmt.Println(b.Run(ctx), string(have))
	// Output: <nil> abc
}

// Two programs, here one that talks to itself over the cable between link 1 and link 2: a port, its page written at one end and read at the
// other.
func ExampleStart() {
	ctx := context.Background()
	n, err := hostdrv.Open(ctx, "model:?links=2", hostdrv.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer n.Close()
	node, err := hostdrv.Start(ctx, n, hostdrv.NodeOptions{})
	if err != nil {
		log.Fatal(err)
	}

	done := make(chan struct{})
	go func() { // the receiver
		defer close(done)
		request, err := node.Accept(ctx)
		if err != nil {
			log.Fatal(err)
		}
		port, _ := request.Accept()
		window, _ := port.Window()
		err = window.Wait(ctx, func(page []byte) bool { return page[0] != 0 })
		fmt.Printf("%s: ", request.Params())
		greeting := make([]byte, 5)
		fmt.Println(window.ReadPage(ctx, greeting, 0), string(greeting))
	}()

	port, _ := node.CreatePort(1, hostdrv.Send)
	if err := port.Connect(ctx, []byte("greetings")); err != nil {
		log.Fatal(err)
	}
	window, _ := port.Window()
	if err := window.WritePage(ctx, []byte("hello"), 0); err != nil {
		log.Fatal(err)
	}
	<-done
	// Output: greetings: <nil> hello
}

// TestDocument runs the program of doc/driver.md as it is written there.
func TestDocument(t *testing.T) {
	document := check.Must(os.ReadFile("../doc/driver.md"))(t)
	_, from, ok := bytes.Cut(document, []byte("```go\npackage main\n"))
	program, _, closed := bytes.Cut(from, []byte("```\n"))
	if !ok || !closed {
		t.Fatal("there is no program in doc/driver.md")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	check.Fatal(t, os.WriteFile(file, append([]byte("package main\n"), program...), 0o666))
	check.Equal(t, "output", string(check.Must(exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput())(t)), "hello\n")
}
