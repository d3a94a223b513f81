package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// run carries out a call of a client.
type run func(*client, context.Context, sharing.Message) (sharing.Message, *os.File, error)

// calls are what clients may ask for.
var calls = [...]struct {
	run   run
	waits bool // may take its time: it gets a goroutine
}{
	sharing.OpHello:   {hello, false},
	sharing.OpCreate:  {create, false},
	sharing.OpConnect: {onPort(connect), true},
	sharing.OpAccept:  {accept, true},
	sharing.OpTake:    {take, false},
	sharing.OpRefuse:  {simple(refuse), false},
	sharing.OpMap:     {mapPort, false},
	sharing.OpFlush:   {onWindow(flush), true},
	sharing.OpSync:    {onWindow(syncPort), true},
	sharing.OpWait:    {onWindow(wait), true},
	sharing.OpDelete:  {onPort(deletePort), false},
	sharing.OpSleep:   {simple(sleep), true},
	sharing.OpReport:  {report, true},

	sharing.OpContext:      {openContext, true},
	sharing.OpMessageStats: {messageStats, false},
	sharing.OpContextClose: {simple(closeContext), false},

	sharing.OpBarriers:      {trusted(freeBarriers), true},
	sharing.OpBarrier:       {trusted(openBarrier), true},
	sharing.OpBarrierEnter:  {onBarrier((*hostdrv.Barrier).Enter), true},
	sharing.OpBarrierWait:   {onBarrier((*hostdrv.Barrier).Wait), true},
	sharing.OpBarrierStates: {barrierStates, true},
	sharing.OpBarrierClose:  {simple(closeBarrier), true},

	sharing.OpCapture:    {trusted(listen), false},
	sharing.OpCaptureEnd: {simple(listenNoMore), false},
	sharing.OpTraceStart: {trusted(simple(startTrace)), true},
	sharing.OpTraceState: {trusted(traceState), true},
	sharing.OpTraceRead:  {readTrace, true},

	sharing.OpRegRead:   {trusted(readRegister), true},
	sharing.OpRegWrite:  {trusted(withoutPorts(writeRegister)), true},
	sharing.OpBufRead:   {trusted(readBuffer), true},
	sharing.OpBufWrite:  {trusted(withoutPorts(writeBuffer)), true},
	sharing.OpRouted:    {trusted(withoutPorts(sendRouted)), true},
	sharing.OpDatagrams: {trusted(datagrams), true},
	sharing.OpLinkSync:  {trusted(withoutPorts(syncLink)), true},
}

// simple is for calls with an empty answer.
func simple(do func(*client, context.Context, sharing.Message) error) run {
	return func(c *client, ctx context.Context, m sharing.Message) (sharing.Message, *os.File, error) {
		return sharing.Message{}, nil, do(c, ctx, m)
	}
}

func hello(c *client, _ context.Context, _ sharing.Message) (a sharing.Message, _ *os.File, err error) {
	n := c.server.node.NI()
	w := sharing.Welcome{VirtualTime: n.VirtualTime(), Calls: c.server.options.Calls}
	for _, l := range c.server.node.Links() {
		w.Links = append(w.Links, sharing.Link(l))
	}
	if w.Identity, err = json.Marshal(n.Identity()); err == nil {
		a.Data, err = json.Marshal(w)
	}
	return a, nil, err
}

func create(c *client, _ context.Context, m sharing.Message) (a sharing.Message, _ *os.File, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.full(); err != nil {
		return a, nil, err
	}
	link := m.Value >> 1
	if link > 1<<16 {
		return a, nil, fmt.Errorf("%w: no link %d", hostdrv.ErrRange, link)
	}
	p, err := c.server.node.CreatePort(int(link), hostdrv.Direction(m.Value&1))
	if err != nil {
		return a, nil, err
	}
	a.Port, a.Value = c.handle(), uint64(p.ID())
	c.ports[a.Port] = &port{Port: p}
	return a, nil, nil
}

// onPort is for calls about a port, with an empty answer.
func onPort(do func(c *client, ctx context.Context, p *port, m sharing.Message) error) run {
	return simple(func(c *client, ctx context.Context, m sharing.Message) error {
		p, err := c.port(m.Port)
		if err != nil {
			return err
		}
		return do(c, ctx, p, m)
	})
}

// onWindow is onPort for a port that is mapped.
func onWindow(do func(c *client, ctx context.Context, w *hostdrv.Window, m sharing.Message) error) run {
	return onPort(func(c *client, ctx context.Context, p *port, m sharing.Message) error {
		w, err := p.mapped()
		if err != nil {
			return err
		}
		return do(c, ctx, w, m)
	})
}

// connect connects a port, which an earlier call that the program did not wait for may have done.
func connect(_ *client, ctx context.Context, p *port, m sharing.Message) error {
	err := p.Connect(ctx, m.Data)
	if _, unconnected := p.Window(); unconnected == nil {
		return nil
	}
	return err
}

func accept(c *client, ctx context.Context, m sharing.Message) (a sharing.Message, _ *os.File, err error) {
	c.mu.Lock()
	err = c.full() // before a request is taken from those that could accept it
	c.mu.Unlock()
	if err != nil {
		return a, nil, err
	}
	r, err := c.server.node.AcceptPrefix(ctx, m.Data)
	if err != nil {
		return a, nil, err
	}
	a.Value = uint64(r.ID())
	a.Data, err = json.Marshal(sharing.Offer{Link: r.Link(), Direction: uint8(r.Direction()), Params: r.Params()})
	c.mu.Lock()
	if err == nil {
		err = c.full()
	}
	if err == nil {
		a.Port = c.handle()
		c.offers[a.Port] = r
	}
	c.mu.Unlock()
	if err != nil {
		r.Refuse("the program has too many ports")
	}
	return a, nil, err
}

// offer takes a request from those that wait for an answer; it is for c.mu held.
func (c *client) offer(handle uint32) (*hostdrv.Request, error) {
	r := c.offers[handle]
	if r == nil {
		return nil, fmt.Errorf("%w: the request was accepted or refused before", hostdrv.ErrPort)
	}
	delete(c.offers, handle)
	return r, nil
}

func take(c *client, _ context.Context, m sharing.Message) (a sharing.Message, _ *os.File, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.offer(m.Port)
	if err != nil {
		return a, nil, err
	}
	p, err := r.Accept()
	if err != nil {
		return a, nil, err
	}
	a.Port, a.Value = m.Port, uint64(p.ID())
	c.ports[a.Port] = &port{Port: p}
	return a, nil, nil
}

func refuse(c *client, _ context.Context, m sharing.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.offer(m.Port)
	if err != nil {
		return err
	}
	return r.Refuse(string(m.Data))
}

func mapPort(c *client, _ context.Context, m sharing.Message) (a sharing.Message, file *os.File, err error) {
	p, err := c.port(m.Port)
	if err != nil {
		return a, nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w, err := p.Window()
	if err == nil && p.window == nil && p.Direction() == hostdrv.Receive {
		file, err = w.Share()
	}
	if err == nil && p.window == nil {
		p.window = w
	}
	return a, file, err
}

func (p *port) mapped() (*hostdrv.Window, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.window == nil {
		return nil, fmt.Errorf("%w: port %d is not mapped", hostdrv.ErrPort, p.ID())
	}
	return p.window, nil
}

func flush(c *client, ctx context.Context, w *hostdrv.Window, _ sharing.Message) error {
	return c.lanes[w.Port().Link()].reached(ctx)
}

func syncPort(c *client, ctx context.Context, w *hostdrv.Window, m sharing.Message) error {
	if err := flush(c, ctx, w, m); err != nil {
		return err
	}
	return w.Sync(ctx)
}

func wait(_ *client, ctx context.Context, w *hostdrv.Window, m sharing.Message) error {
	return w.WaitChange(ctx, m.Value)
}

func deletePort(c *client, _ context.Context, p *port, m sharing.Message) error {
	end := func() error {
		err := p.end()
		c.mu.Lock()
		delete(c.ports, m.Port)
		c.mu.Unlock()
		return err
	}
	l := c.lanes[p.Link()]
	if p.Direction() == hostdrv.Receive || l.idle() {
		return end()
	}
	c.mu.Lock()
	p.deleted = true
	c.mu.Unlock()
	l.add(&step{then: func() { end() }}) // the program has gone on: it would not hear what goes wrong
	return nil
}

func sleep(c *client, ctx context.Context, m sharing.Message) error {
	const most = 1 << 62
	sleep := c.server.node.NI().Sleep
	if m.Port != 0 {
		sleep = c.server.node.Doze
	}
	return sleep(ctx, time.Duration(min(m.Value, most)))
}

func report(c *client, ctx context.Context, _ sharing.Message) (a sharing.Message, file *os.File, err error) {
	r, err := c.server.node.Report(ctx)
	if err == nil {
		file, err = fileWith(r)
	}
	return a, file, err
}

// fileWith makes a file with what a client is to read as JSON.
func fileWith(v any) (*os.File, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return fileOf(text)
}
