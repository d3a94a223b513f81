package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

var long = flag.Bool("long", false, "TestLongMessages with all lengths by RTL too, and TestLongStream: a minute of CPU time each")

// Lengths of messages: around 64 KB, and the longest ones.
var (
	around64K = []int{1<<16 - 1, 1 << 16, 1<<16 + 1}
	longest   = slices.Concat(around64K, []int{message.MaxMessage - 1, message.MaxMessage})
	some      = slices.Concat(around64K, []int{message.MaxMessage})
)

// TestLongMessages sends messages up to the longest one both ways at once: each comes whole and in order, and a longer one is refused.
func TestLongMessages(t *testing.T) {
	for rung, lengths := range map[string][]int{cluster.Model: longest, offloading: longest, mixed: around64K, inRTL: around64K, cluster.RTL: some} {
		if *long {
			lengths = longest
		}
		t.Run(rung, func(t *testing.T) {
			w, nis := programs(t, 2, rung)
			exchangeLong(t, w, contexts(t, nis, 3, message.Options{}), lengths)
		})
	}
	t.Run("served", func(t *testing.T) {
		w, nis := programs(t, 2, cluster.Model)
		connect := served(t, nis)
		var list []*message.Context
		for i := range nis {
			list = append(list, check.Must(message.Open(t.Context(), connect(i), 3, message.Options{}))(t))
		}
		exchangeLong(t, w, list, longest)
	})
}

func exchangeLong(t *testing.T, w *cluster.World, list []*message.Context, lengths []int) {
	failures := make(chan error, len(list))
	for me, c := range list {
		go func() { failures <- talkLong(t.Context(), c, me, number(w, 1-me), lengths) }()
	}
	for range list {
		check.Fatal(t, <-failures)
	}
	all := uint64(len(lengths))
	for me, c := range list {
		check.Equal(t, "counts", check.Must(c.Stats())(t), message.Stats{Sent: all, Received: all})
		err := c.PostSend(message.Send{Node: number(w, 1-me), Data: make([]byte, message.MaxMessage+1)})
		check.Fails(t, "a message that is longer than any", err, message.ErrTooLong, "1048577 bytes, at most 1048576 go by context 3")
	}
}

// talkLong sends a message of each length, and takes those of the peer.
func talkLong(ctx context.Context, c *message.Context, me int, peer uint16, lengths []int) error {
	text := func(from, i int) []byte { return testbench.NewRand(uint64(from<<8 | i)).Bytes(lengths[i]) }
	for i := range lengths {
		room := message.Receive{Data: make([]byte, message.MaxMessage)}
		if err := errors.Join(c.PostReceive(room), c.PostSend(message.Send{Node: peer, Tag: uint32(i), Data: text(me, i)})); err != nil {
			return err
		}
	}
	for sent, came := 0, 0; sent < len(lengths) || came < len(lengths); {
		done, err := c.Wait(ctx)
		if err = errors.Join(err, done.Err); err != nil {
			return fmt.Errorf("%d sent and %d received: %w", sent, came, err)
		}
		if !done.Received {
			sent++
			continue
		}
		if int(done.Tag) != came || !bytes.Equal(done.Data, text(1-me, came)) {
			return fmt.Errorf("message %d of %d bytes is not number %d of %d as it was sent", done.Tag, len(done.Data), came, lengths[came])
		}
		came++
	}
	return nil
}
