package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/boards/virtual/ice40"
	"github.com/stafflink/lmmc/boards/virtual/page"
	"github.com/stafflink/lmmc/boards/virtual/usbip"
	"github.com/stafflink/lmmc/boards/virtual/vhci"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/rtlsim"
)

// vboardBusID is the one that a served board has; the next one counts up.
const vboardBusID = "1-"

func vboardCommand() *cli.Command {
	return completed(&cli.Command{
		Name:      "vboard",
		Usage:     "run a virtual development board",
		ArgsUsage: "serve BOARD... | attach [BUSID]",
		Description: "serve exports boards (" + strings.Join(virtual.Kinds(), ", ") + ") over USB/IP until interrupted, and prints the command that attaches one to a kernel.\n" +
			"iceprog and openFPGALoader flash them. The FPGA then simulates the RTL of the image, which must be the RTL of this lmmc.\n" +
			"attach attaches one to this machine, which needs Linux with vhci_hcd, and root: the board is then an ordinary USB device\n" +
			"with serial ports, for all programs. It stays until the server ends.\n\n" +
			"FAULT is one of\n" + virtual.FaultForms + "\n" +
			"With --http a running board takes faults too, on the page or by curl -d FAULT http://HOST:PORT/boards/1/faults (board 1).",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Usage: "serve at `HOST:PORT`; port 0 picks a free one", Value: defaultUSBIP},
			&cli.BoolFlag{Name: "public", Usage: "admit other machines by --listen and --http, which have no authentication"},
			&cli.StringFlag{Name: "http", Usage: "show the boards on a live page at `HOST:PORT`"},
			&cli.StringFlag{Name: "serial", Usage: "give the first board serial number `S`, the next one S+1", Value: "V1"},
			&cli.StringFlag{Name: "image", Usage: "start with bitstream `FILE` in the flash", TakesFile: true},
			&cli.BoolFlag{Name: "exact", Usage: "simulate the bits of an image instead of the RTL it was built from; compiling takes minutes"},
			&cli.StringFlag{Name: "fpga", Usage: "without --image, start with `TARGET` in the FPGA until an image is loaded", Value: "rtl:?links=2"},
			&cli.StringSliceFlag{Name: "wire", Usage: "cable links of boards, as `V1:1=V2:1` (serial number and link); may be repeated"},
			&cli.StringSliceFlag{Name: "fault", Usage: "inject `FAULT` into all boards; may be repeated"},
			&cli.StringFlag{Name: "from", Usage: "attach a board of the server at `HOST:PORT`", Value: defaultUSBIP},
		},
		Action: func(ctx *cli.Context) error {
			switch ctx.Args().First() {
			case "serve":
				vboardServe(ctx, ctx.Args().Tail())
				return nil
			case "attach":
				return vboardAttach(ctx, ctx.Args().Tail())
			}
			return usagef("vboard takes serve or attach; see lmmc vboard --help")
		},
	}, append([]string{"serve", "attach"}, virtual.Kinds()...)...)
}

// defaultUSBIP is where boards are served, and looked for.
var defaultUSBIP = net.JoinHostPort("127.0.0.1", strconv.Itoa(usbip.DefaultPort))

func vboardServe(ctx *cli.Context, kinds []string) {
	if len(kinds) == 0 {
		try.OK(usagef("vboard serve takes boards: %s", strings.Join(virtual.Kinds(), " or ")))
	}
	address := loopbackOnly("listen", ctx.String("listen"), ctx.Bool("public"))
	log := slog.New(slog.NewTextHandler(ctx.App.ErrWriter, nil))
	look := ""
	if ctx.IsSet("http") {
		look = loopbackOnly("http", ctx.String("http"), ctx.Bool("public"))
	}
	running := &runningBoards{rack: vboardRack(ctx, len(kinds))}
	running.ctx, running.end = context.WithCancelCause(ctx.Context)
	defer try.Finally(running.close)
	exports := running.start(ctx, kinds, log)
	l := try.Get(new(net.ListenConfig).Listen(ctx.Context, "tcp", address))
	err := try.Run(func() {
		host, port, _ := net.SplitHostPort(l.Addr().String()) // of a listener
		for i, e := range exports {
			try.Get(fmt.Fprintf(ctx.App.Writer, "serving %s, serial number %s: sudo usbip --tcp-port %s attach -r %s -b %s\n",
				kinds[i], vboardSerial(ctx.String("serial"), i), port, host, e.BusID))
		}
		if look != "" {
			running.show(look, ctx)
		}
	})
	if err != nil {
		try.OK(err, l.Close())
	}
	try.OK(usbip.Serve(running.ctx, l, exports, log))
}

// runningBoards are boards that run until they are closed, or one of them fails.
type runningBoards struct {
	ctx    context.Context // ends with them
	end    context.CancelCauseFunc
	group  sync.WaitGroup
	boards []*virtual.Board
	rack   *rtlsim.Rack // where their NIs are if they are wired; nil if they are not
}

// show serves the page of the boards until they are closed.
func (r *runningBoards) show(address string, ctx *cli.Context) {
	l := try.Get(new(net.ListenConfig).Listen(r.ctx, "tcp", address))
	server := http.Server{Handler: page.Handler(r.boards, ctx.Bool("public")), ReadHeaderTimeout: 10 * time.Second}
	r.group.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			r.end(err)
		}
	})
	context.AfterFunc(r.ctx, func() { server.Close() })
	try.Get(fmt.Fprintf(ctx.App.Writer, "boards shown at http://%s/\n", l.Addr()))
}

func (r *runningBoards) close() error {
	r.end(nil)
	r.group.Wait()
	if r.rack != nil {
		if err := r.rack.Close(); err != nil {
			return err
		}
	}
	if err := context.Cause(r.ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// start makes boards and runs them.
func (r *runningBoards) start(ctx *cli.Context, kinds []string, log *slog.Logger) (exports []usbip.Export) {
	var image []byte
	if path := ctx.String("image"); path != "" {
		image = try.Get(os.ReadFile(path))
	}
	var faults []virtual.Fault
	for _, text := range ctx.StringSlice("fault") {
		f, err := virtual.ParseFault(text)
		if err != nil {
			try.OK(usagef("--fault: %v", err))
		}
		faults = append(faults, f)
	}
	for i, kind := range kinds {
		c := virtual.Config{Kind: kind, Serial: vboardSerial(ctx.String("serial"), i), Seed: uint64(i), Flash: image, Design: virtual.RTL}
		c.Log = log.With("board", c.Serial)
		if ctx.Bool("exact") {
			c.Design = virtual.Exact
		}
		dial := hostdrv.Dial
		if r.rack != nil {
			dial = func(ctx context.Context, target string) (hostdrv.Transport, error) {
				return r.rack.Dial(ctx, i, target)
			}
			c.Design = func(ctx context.Context, image *ice40.Image) (hostdrv.Transport, error) {
				t, err := virtual.RTLBy(ctx, image, dial)
				if err == nil {
					if loose := vboardWires(r.rack, i, c.Serial); loose != nil {
						c.Log.Warn("a wire leads nowhere", "why", loose)
					}
				}
				return t, err
			}
			c.Overrun = wiredOverrun
		}
		if image == nil {
			c.FPGA = try.Get(dial(ctx.Context, ctx.String("fpga")))
			if err := vboardWires(r.rack, i, c.Serial); err != nil {
				try.OK(usagef("--wire: %v; set the number of links by --fpga 'rtl:?links=4'", err), c.FPGA.Close())
			}
		}
		b, err := virtual.New(c)
		if err != nil {
			if c.FPGA != nil {
				err = errors.Join(err, c.FPGA.Close())
			}
			try.OK(usagef("%v", err))
		}
		r.group.Go(func() {
			if err := b.Run(r.ctx); err != nil {
				r.end(err)
			}
		})
		r.group.Go(func() { b.InjectFaults(r.ctx, faults) })
		r.boards = append(r.boards, b)
		exports = append(exports, usbip.Export{BusID: vboardBusID + strconv.Itoa(i+1), Device: b.Device()})
	}
	return exports
}

// wiredOverrun is how long a host may read nothing before it loses something, since boards that are wired to its own have to wait for it.
const wiredOverrun = time.Second

// vboardRack is where the NIs of wired boards are; nil if none are.
func vboardRack(ctx *cli.Context, boards int) *rtlsim.Rack {
	texts := ctx.StringSlice("wire")
	if len(texts) == 0 {
		return nil
	}
	if ctx.Bool("exact") {
		try.OK(usagef("--wire and --exact exclude each other"))
	}
	serials := map[string]int{}
	for i := range boards {
		serials[vboardSerial(ctx.String("serial"), i)] = i
	}
	var cables []ni.Cable
	for _, text := range texts {
		var ends [2]struct{ board, link int }
		a, b, two := strings.Cut(text, "=")
		for i, end := range []string{a, b} {
			serial, number, both := strings.Cut(end, ":")
			link, err := strconv.Atoi(number)
			board, known := serials[serial]
			if !two || !both || err != nil || !known {
				try.OK(usagef("--wire %s: want serial numbers of served boards and their links, as in V1:1=V2:1", text))
			}
			ends[i].board, ends[i].link = board, link
		}
		cables = append(cables, ni.Cable{A: ends[0].board, LinkA: ends[0].link, B: ends[1].board, LinkB: ends[1].link})
	}
	rack, err := rtlsim.NewRack(boards, cables)
	if err != nil {
		try.OK(usagef("--wire: %v", err))
	}
	return rack
}

// vboardWires is an error if wires go to links that what is in a board's FPGA does not have.
func vboardWires(rack *rtlsim.Rack, board int, serial string) error {
	if rack == nil {
		return nil
	}
	links, err := rack.Loose(board)
	if err == nil && len(links) > 0 {
		err = fmt.Errorf("%s has no links %v", serial, links)
	}
	return err
}

// vboardSerial is the serial number of the i-th board: the first one's with its last number counted up.
func vboardSerial(first string, i int) string {
	stem := strings.TrimRight(first, "0123456789")
	n, err := strconv.Atoi(first[len(stem):])
	if err != nil {
		stem, n = first, 1
		if i == 0 {
			return first
		}
	}
	return stem + fmt.Sprintf("%0*d", len(first)-len(stem), n+i)
}

func vboardAttach(ctx *cli.Context, args []string) error {
	id := vboardBusID + "1"
	switch len(args) {
	case 0:
	case 1:
		id = args[0]
	default:
		return usagef("vboard attach takes one bus id, such as %s", id)
	}
	try.Get(vhci.Free(vhci.Sysfs)) // before anybody is asked
	from := ctx.String("from")
	conn, err := new(net.Dialer).DialContext(ctx.Context, "tcp", from)
	if err != nil {
		return fmt.Errorf("%w: run lmmc vboard serve BOARD there", err)
	}
	defer conn.Close()
	info, err := usbip.Import(ctx.Context, conn, id)
	try.Wrap(err, "%s", from)
	socket := try.Get(conn.(*net.TCPConn).File())
	defer socket.Close()
	port := try.Get(vhci.Attach(vhci.Sysfs, socket.Fd(), info.ID()))
	_, err = fmt.Fprintf(ctx.App.Writer, "attached %s of %s, %04x:%04x, at port %d; to detach: sudo usbip detach -p %[5]d\n", id, from, info.Vendor, info.Product, port)
	return err
}
