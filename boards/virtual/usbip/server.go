package usbip

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/boards/virtual/usbdev"
)

// Limits of a server.
const (
	maxClients = 64               // connections at a time; beyond, one is closed at once
	greeting   = 10 * time.Second // for a client to say what it wants
)

// Export is an exported device.
type Export struct {
	BusID  string // such as "1-1", which the client's usbip program names it by; at most 31 bytes
	Device *usbdev.Device
}

func (s *server) info(i int) Info {
	e := s.exports[i]
	d := e.Device.Descriptors()
	le := binary.LittleEndian
	info := Info{
		BusID: e.BusID, Bus: 1, Number: uint32(i + 2),
		Vendor: le.Uint16(d.Device[8:]), Product: le.Uint16(d.Device[10:]), Release: le.Uint16(d.Device[12:]),
		Class: [3]byte(d.Device[4:7]), Config: d.Config[5], Configs: d.Device[17], interfaces: int(d.Config[4]),
	}
	for at := 0; at < len(d.Config); at += int(d.Config[at]) {
		if d.Config[at+1] == 4 { // an interface
			info.Interfaces = append(info.Interfaces, [3]byte(d.Config[at+5:]))
		}
	}
	return info
}

type server struct {
	exports []Export
	log     *slog.Logger
}

// Serve exports devices to clients that connect to l, until ctx ends, which is no error, and closes l. A device has one client at a time; one
// that is unplugged is neither listed nor exported. log records connections; nil discards it.
func Serve(ctx context.Context, l net.Listener, exports []Export, log *slog.Logger) error {
	for _, e := range exports {
		if len(e.BusID) == 0 || len(e.BusID) >= busIDSize {
			return errors.Join(fmt.Errorf("usbip: bus id %q: want 1 to %d bytes", e.BusID, busIDSize-1), l.Close())
		}
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &server{exports, log}
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	var clients sync.WaitGroup
	defer clients.Wait()
	all, cancel := context.WithCancel(ctx)
	defer cancel()
	slots := make(chan struct{}, maxClients)
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE): // until there is a descriptor
			log.Warn("cannot let anybody in", "why", err)
			time.Sleep(100 * time.Millisecond)
			continue
		default:
			return errors.Join(err, l.Close())
		}
		select {
		case slots <- struct{}{}:
		default:
			log.Warn("too many clients", "from", conn.RemoteAddr())
			conn.Close()
			continue
		}
		clients.Go(func() {
			defer func() { <-slots }()
			if err := s.client(all, conn); err != nil {
				log.Warn("client", "from", conn.RemoteAddr(), "error", err)
			}
		})
	}
}

// client answers a request of one, and carries transfers if that was an import. The connection is closed when it returns.
func (s *server) client(ctx context.Context, conn net.Conn) error {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(greeting)); err != nil {
		return err
	}
	var b [opHeader]byte
	if _, err := io.ReadFull(conn, b[:]); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return fmt.Errorf("usbip: read a request: %w", err)
	}
	host, err := s.operation(conn, b)
	if err != nil || host == nil {
		return err
	}
	defer s.log.Info("given back", "from", conn.RemoteAddr())
	return errors.Join(conn.SetDeadline(time.Time{}), Carry(ctx, conn, host))
}

// operation answers a request; with an import that succeeds it returns the device's host.
func (s *server) operation(conn net.Conn, b [opHeader]byte) (*usbdev.Host, error) {
	be := binary.BigEndian
	v, code := be.Uint16(b[:]), be.Uint16(b[2:])
	if v != version {
		_, err := conn.Write(appendOp(nil, code&^opRequest, stError))
		return nil, errors.Join(protocolf("version %x, this is %x", v, version), err)
	}
	switch code {
	case opRequest | opList:
		_, err := conn.Write(s.list())
		return nil, err
	case opRequest | opImport:
		var id [busIDSize]byte
		if _, err := io.ReadFull(conn, id[:]); err != nil {
			return nil, fmt.Errorf("usbip: reading the bus id: %w", err)
		}
		return s.give(conn, text(id[:]))
	}
	_, err := conn.Write(appendOp(nil, code&^opRequest, stError))
	return nil, errors.Join(protocolf("operation %x", code), err)
}

func (s *server) list() []byte {
	var present []Info
	for i, e := range s.exports {
		if e.Device.Plugged() {
			present = append(present, s.info(i))
		}
	}
	b := binary.BigEndian.AppendUint32(appendOp(nil, opList, stOK), uint32(len(present)))
	for _, info := range present {
		b = info.append(b)
		for _, class := range info.Interfaces {
			b = append(append(b, class[:]...), 0)
		}
	}
	return b
}

// give attaches a client to a device, or returns why not.
func (s *server) give(conn net.Conn, id string) (*usbdev.Host, error) {
	status := uint32(stNoDev)
	for i, e := range s.exports {
		if e.BusID != id {
			continue
		}
		host, err := e.Device.Attach()
		switch {
		case errors.Is(err, usbdev.ErrBusy):
			status = stBusy
		case err == nil:
			if _, err := conn.Write(s.info(i).append(appendOp(nil, opImport, stOK))); err != nil {
				host.Close()
				return nil, err
			}
			s.log.Info("given", "device", id, "to", conn.RemoteAddr())
			return host, nil
		}
	}
	s.log.Info("refused", "device", id, "to", conn.RemoteAddr(), "because", statusText[status])
	_, err := conn.Write(appendOp(nil, opImport, status))
	return nil, err
}
