package socket_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/socket"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// A web server at one node, and a client at another, of a network of models on a switch.
func Example() {
	ctx := context.Background()
	star, err := topology.Generate("star", []int{2}, 1)
	if err != nil {
		log.Fatal(err)
	}
	network, err := cluster.Open(ctx, cluster.Config{Topology: star, Rung: cluster.Model})
	if err != nil {
		log.Fatal(err)
	}
	hosts := network.Programs()
	defer hosts.Close()
	stack := func(i int) *socket.Stack {
		transport, err := hosts.Host(i)
		if err != nil {
			log.Fatal(err)
		}
		ni, err := hostdrv.New(ctx, transport, hostdrv.Options{})
		if err != nil {
			log.Fatal(err)
		}
		node, err := hostdrv.Start(ctx, ni, hostdrv.NodeOptions{NoPorts: true})
		if err != nil {
			log.Fatal(err)
		}
		s, err := socket.Open(ctx, node, socket.Options{})
		if err != nil {
			log.Fatal(err)
		}
		return s
	}
	near, far := stack(0), stack(1)

	l, err := far.Listen("tcp", ":80")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s for %s", r.URL.Path, r.RemoteAddr[:1])
	}))

	client := http.Client{Transport: &http.Transport{DialContext: near.DialContext}}
	answer, err := client.Get("http://2/page")
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fmt.Println(string(text), err)
	// Output: /page for 1 <nil>
}
