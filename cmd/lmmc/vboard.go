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
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/rtlsim"
)

// vboardBusID is the one that a served board has; the next one counts up.
const vboardBusID = "1-"

func vboardCommand() *cli.Command {
	command := &cli.Command{
		Name:      "vboard",
		Usage:     "have a development board that exists only as a program",
		ArgsUsage: "serve BOARD... | attach [BUSID]",
		Description: "serve exports boards (" + strings.Join(virtual.Kinds(), ", ") + ") by USB/IP until it is interrupted, and prints what makes a kernel plug one in.\n" +
			"iceprog and openFPGALoader flash them. The FPGA then does what the image was built from, if that is the RTL of this lmmc.\n" +
			"attach does so on this machine, which takes Linux with vhci_hcd, and root: then the board is a USB device like any other, with\n" +
			"serial ports, for lmmc and all other programs. It stays until the server ends.\n\n" +
			"FAULT is one of\n" + virtual.FaultForms + "\n" +
			"With --http they happen to boards that run, too: by the page, or curl -d FAULT http://HOST:PORT/boards/1/faults, the first board.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Usage: "serve at `HOST:PORT`; port 0 stands for a free one", Value: defaultUSBIP},
			&cli.BoolFlag{Name: "public", Usage: "let other machines in by --listen and --http, which ask nobody who they are"},
			&cli.StringFlag{Name: "http", Usage: "show the boards live on a page at `HOST:PORT`"},
			&cli.StringFlag{Name: "serial", Usage: "give the first board the serial number `S`; the next ones count up", Value: "V1"},
			&cli.StringFlag{Name: "image", Usage: "begin with the bitstream `FILE` in the flash, which the FPGA then loads", TakesFile: true},
			&cli.BoolFlag{Name: "exact", Usage: "run the bits of images, not the RTL that they were built from; they are compiled first, which takes minutes"},
			&cli.StringFlag{Name: "fpga", Usage: "without --image, begin with `TARGET` in the FPGA, as for other commands, until something is loaded", Value: "rtl:?links=2"},
			&cli.StringSliceFlag{Name: "wire", Usage: "join links of two boards, or of one, by `V1:1=V2:1`, serial numbers and links; others stay joined among themselves. May be given more than once"},
			&cli.StringSliceFlag{Name: "fault", Usage: "let `FAULT` happen to all boards; see above. May be given more than once"},
			&cli.StringFlag{Name: "from", Usage: "attach a board that is served at `HOST:PORT`", Value: defaultUSBIP},
		},
		Action: func(ctx *cli.Context) error {
			switch ctx.Args().First() {
			case "serve":
				return vboardServe(ctx, ctx.Args().Tail())
			case "attach":
				return vboardAttach(ctx, ctx.Args().Tail())
			}
			return usagef("vboard wants serve or attach; see lmmc vboard --help")
		},
	}
	command.BashComplete = completeWith(command, append([]string{"serve", "attach"}, virtual.Kinds()...))
	return command
}

// defaultUSBIP is where boards are served, and looked for.
var defaultUSBIP = net.JoinHostPort("127.0.0.1", strconv.Itoa(usbip.DefaultPort))

func vboardServe(ctx *cli.Context, kinds []string) (err error) {
	if len(kinds) == 0 {
		return usagef("vboard serve wants a board: %s", strings.Join(virtual.Kinds(), " or "))
	}
	address, err := loopbackOnly("listen", ctx.String("listen"), ctx.Bool("public"))
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(ctx.App.ErrWriter, nil))
	look := ""
	if ctx.IsSet("http") {
		if look, err = loopbackOnly("http", ctx.String("http"), ctx.Bool("public")); err != nil {
			return err
		}
	}
	exports, running, err := vboards(ctx, kinds, log)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx.Context, "tcp", address)
	if err != nil {
		return errors.Join(err, running.close())
	}
	host, port, _ := net.SplitHostPort(l.Addr().String()) // of a listener
	for i, e := range exports {
		if _, err := fmt.Fprintf(ctx.App.Writer, "%s, serial number %s, is served: sudo usbip --tcp-port %s attach -r %s -b %s\n",
			kinds[i], vboardSerial(ctx.String("serial"), i), port, host, e.BusID); err != nil {
			return errors.Join(err, l.Close(), running.close())
		}
	}
	if look != "" {
		if err := running.show(look, ctx); err != nil {
			return errors.Join(err, l.Close(), running.close())
		}
	}
	return errors.Join(usbip.Serve(running.ctx, l, exports, log), running.close())
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
func (r *runningBoards) show(address string, ctx *cli.Context) error {
	l, err := new(net.ListenConfig).Listen(r.ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := http.Server{Handler: page.Handler(r.boards, ctx.Bool("public")), ReadHeaderTimeout: 10 * time.Second}
	r.group.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			r.end(err)
		}
	})
	context.AfterFunc(r.ctx, func() { server.Close() })
	_, err = fmt.Fprintf(ctx.App.Writer, "the boards are shown at http://%s/\n", l.Addr())
	return err
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

// vboards makes boards and runs them.
func vboards(ctx *cli.Context, kinds []string, log *slog.Logger) (exports []usbip.Export, r *runningBoards, err error) {
	var image []byte
	if path := ctx.String("image"); path != "" {
		if image, err = os.ReadFile(path); err != nil {
			return nil, nil, err
		}
	}
	var faults []virtual.Fault
	for _, text := range ctx.StringSlice("fault") {
		f, err := virtual.ParseFault(text)
		if err != nil {
			return nil, nil, usagef("--fault: %v", err)
		}
		faults = append(faults, f)
	}
	r = &runningBoards{}
	if r.rack, err = vboardRack(ctx, len(kinds)); err != nil {
		return nil, nil, err
	}
	r.ctx, r.end = context.WithCancelCause(ctx.Context)
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
			if c.FPGA, err = dial(ctx.Context, ctx.String("fpga")); err != nil {
				return nil, nil, errors.Join(err, r.close())
			}
			if err := vboardWires(r.rack, i, c.Serial); err != nil {
				return nil, nil, errors.Join(usagef("--wire: %v; --fpga says how many it has, as in --fpga 'rtl:?links=4'", err), c.FPGA.Close(), r.close())
			}
		}
		b, err := virtual.New(c)
		if err != nil {
			if c.FPGA != nil {
				err = errors.Join(err, c.FPGA.Close())
			}
			return nil, nil, errors.Join(usagef("%v", err), r.close())
		}
		r.group.Go(func() {
			if err := b.Run(r.ctx); err != nil {
				r.end(err)
			}
		})
		r.group.Go(func() { b.Suffer(r.ctx, faults) })
		r.boards = append(r.boards, b)
		exports = append(exports, usbip.Export{BusID: vboardBusID + strconv.Itoa(i+1), Device: b.Device()})
	}
	return exports, r, nil
}

// wiredOverrun is how long a host may read nothing before it loses something, since boards that are wired to its own have to wait for it.
const wiredOverrun = time.Second

// vboardRack is where the NIs of wired boards are; nil if none are.
func vboardRack(ctx *cli.Context, boards int) (*rtlsim.Rack, error) {
	texts := ctx.StringSlice("wire")
	if len(texts) == 0 {
		return nil, nil
	}
	if ctx.Bool("exact") {
		return nil, usagef("--wire joins RTL, and --exact runs bits: give one of them")
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
				return nil, usagef("--wire %s: want the serial number of a board that is served and a link, twice, as in V1:1=V2:1", text)
			}
			ends[i].board, ends[i].link = board, link
		}
		cables = append(cables, ni.Cable{A: ends[0].board, LinkA: ends[0].link, B: ends[1].board, LinkB: ends[1].link})
	}
	rack, err := rtlsim.NewRack(boards, cables)
	if err != nil {
		return nil, usagef("--wire: %v", err)
	}
	return rack, nil
}

// vboardWires is an error if wires go to links that what is in a board's FPGA does not have.
func vboardWires(rack *rtlsim.Rack, board int, serial string) error {
	if rack == nil {
		return nil
	}
	links, err := rack.Loose(board)
	if err == nil && len(links) > 0 {
		err = fmt.Errorf("the network interface of %s lacks links %v", serial, links)
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
	if _, err := vhci.Free(vhci.Sysfs); err != nil { // before anybody is asked
		return err
	}
	from := ctx.String("from")
	conn, err := new(net.Dialer).DialContext(ctx.Context, "tcp", from)
	if err != nil {
		return fmt.Errorf("%w: lmmc vboard serve BOARD has to run there", err)
	}
	defer conn.Close()
	info, err := usbip.Import(ctx.Context, conn, id)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	socket, err := conn.(*net.TCPConn).File()
	if err != nil {
		return err
	}
	defer socket.Close()
	port, err := vhci.Attach(vhci.Sysfs, socket.Fd(), info.ID())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(ctx.App.Writer, "%s of %s, %04x:%04x, is plugged in at port %d; sudo usbip detach -p %[5]d pulls it out\n", id, from, info.Vendor, info.Product, port)
	return err
}
