package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/testbench/cluster"
)

// Client looks at a Network of another process.
type Client struct {
	base string
	http http.Client
}

// NewClient makes a client of the network at a place: the folder of its sockets, or the URL of its page.
func NewClient(place string) *Client {
	if strings.HasPrefix(place, "http://") {
		return &Client{base: strings.TrimSuffix(place, "/")}
	}
	path := filepath.Join(place, Control)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
		if err != nil {
			err = fmt.Errorf("no network is served there (lmmc net up does that): %w", err)
		}
		return conn, err
	}
	return &Client{base: "http://localhost", http: http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Shape is Network.Shape.
func (c *Client) Shape(ctx context.Context) (s Shape, err error) {
	return s, c.get(ctx, "network", &s)
}

// State is Network.State.
func (c *Client) State(ctx context.Context) (s State, err error) { return s, c.get(ctx, "state", &s) }

// Counts is Network.Counts.
func (c *Client) Counts(ctx context.Context, node string) (n Counts, err error) {
	return n, c.get(ctx, "nodes/"+url.PathEscape(node), &n)
}

// Drops is Network.Drops.
func (c *Client) Drops(ctx context.Context) (all []cluster.SwitchLook, err error) {
	return all, c.get(ctx, "drops", &all)
}

// Cut is Network.Cut.
func (c *Client) Cut(ctx context.Context, cable int, cut bool) error {
	do := "restore"
	if cut {
		do = "cut"
	}
	return c.post(ctx, fmt.Sprintf("cables/%d/%s", cable, do), "")
}

// CutLane is Network.CutLane.
func (c *Client) CutLane(ctx context.Context, cable, lane int, cut bool) error {
	do := "restore"
	if cut {
		do = "cut"
	}
	return c.post(ctx, fmt.Sprintf("cables/%d/%s?lane=%d", cable, do, lane), "")
}

// SetTraffic is Network.SetTraffic.
func (c *Client) SetTraffic(ctx context.Context, percent int) error {
	return c.post(ctx, "traffic", strconv.Itoa(percent))
}

// Capture is Capture of a cable, given by its ends.
func (c *Client) Capture(ctx context.Context, cable string, all bool, clocks uint64, w io.Writer) error {
	query := url.Values{}
	if all {
		query.Set("all", "1")
	}
	if clocks > 0 {
		query.Set("clocks", strconv.FormatUint(clocks, 10))
	}
	answer, err := c.do(ctx, http.MethodGet, "cables/"+url.PathEscape(strings.ReplaceAll(cable, " ", ""))+"/capture?"+query.Encode(), "")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(w, answer.Body)
	if ctx.Err() != nil {
		err = nil
	}
	return err
}

func (c *Client) get(ctx context.Context, path string, into any) error {
	answer, err := c.do(ctx, http.MethodGet, path, "")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return json.NewDecoder(answer.Body).Decode(into)
}

func (c *Client) post(ctx context.Context, path, body string) error {
	answer, err := c.do(ctx, http.MethodPost, path, body)
	if err == nil {
		err = answer.Body.Close()
	}
	return err
}

func (c *Client) do(ctx context.Context, method, path, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+"/"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok && ctx.Err() == nil {
			err = e.Err
		}
		return nil, err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<12))
		return nil, errors.Join(errors.New(string(bytes.TrimSpace(text))), err, answer.Body.Close())
	}
	return answer, nil
}
