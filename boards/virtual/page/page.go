// Package page shows virtual boards in a browser: a picture of each with its lights, and below it what goes over USB and the serial line, what is
// in the flash, and the counters. The page asks for them twice a second. It breaks a board when it is told to.
package page

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/linkproto"
)

//go:embed page.html
var html []byte

// Shown is what the page gets of a board, as JSON.
type Shown struct {
	Kind     string        `json:"kind"`
	Serial   string        `json:"serial"`
	Plugged  bool          `json:"plugged"`
	Attached bool          `json:"attached"`
	Done     bool          `json:"done"`  // CDONE is high
	Error    string        `json:"error"` // what was wrong with the last image
	Design   string        `json:"design"`
	Baud     float64       `json:"baud"`  // of the FPGA's UART; 0 for unknown
	Known    bool          `json:"known"` // how LEDs and Links are
	LEDs     []virtual.LED `json:"leds"`
	Links    []Link        `json:"links"`
	Flash    Flash         `json:"flash"`
	Counts   []Count       `json:"counts"`
}

// Flash is a summary of what is in a flash.
type Flash struct {
	Bytes int    `json:"bytes"`
	Image string `json:"image"` // what is at its beginning
	Used  []int  `json:"used"`  // percent of the bytes that are not as erased, in each of parts of equal size
}

// Link is the NI's status of a link.
type Link struct {
	Up   bool           `json:"up"`
	Stop bool           `json:"stop"`
	Life linkproto.Life `json:"life"` // 0 if it has told none yet
}

// Count is a counter. The page shows how fast those with a Rate grow.
type Count struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
	Rate  bool   `json:"rate"`
}

// parts is into how many a flash is divided.
const parts = 64

// Show reads the state of a board.
func Show(b *virtual.Board) Shown {
	s, content := b.Status(), b.Flash()
	shown := Shown{
		Kind: s.Kind, Serial: s.Serial, Plugged: s.Plugged, Attached: s.Attached, Done: s.Done, Baud: s.Baud,
		Flash: Flash{Bytes: len(content), Image: describe(bitstream.Read(content))},
		Counts: []Count{
			{"UART, bytes from the host", s.Line.FromHost, true},
			{"UART, bytes to the host", s.Line.ToHost, true},
			{"UART, bits turned over", s.Line.Turned, false},
			{"UART, bytes without stop bit", s.Line.Framing, false},
			{"UART, bytes lost for want of room", s.Line.Lost, false},
			{"USB, bytes from the host", s.USB.FromHost, true},
			{"USB, bytes to the host", s.USB.ToHost, true},
			{"USB, transfers", s.USB.Transfers, false},
			{"USB, transfers that had to wait", s.USB.NAKs, false},
			{"USB, stalls", s.USB.Stalls, false},
			{"USB, hosts so far", s.USB.Attached, false},
			{"flash, reads", s.Flash.Reads, false},
			{"flash, pages programmed", s.Flash.Programs, false},
			{"flash, erasures", s.Flash.Erases, false},
			{"flash, refused", s.Flash.Refused, false},
		},
	}
	if f := s.FPGA; f != nil {
		shown.Known, shown.LEDs = true, s.LEDs
		for _, l := range f.Links {
			shown.Links = append(shown.Links, Link(l))
		}
		shown.Counts = append(shown.Counts, Count{"FPGA, clocks", f.Clocks, true})
	}
	size := len(content) / parts
	for at := 0; at < len(content); at += size {
		shown.Flash.Used = append(shown.Flash.Used, used(content[at:at+size]))
	}
	switch {
	case s.Err != nil:
		shown.Error = s.Err.Error()
	case s.Image != nil:
		shown.Design = describe(s.Image, nil)
	case s.Done:
		shown.Design = "what the board began with"
	}
	return shown
}

// used is how many percent of bytes are not as erased, and at least 1 if any is.
func used(content []byte) int {
	n := 0
	for _, b := range content {
		if b != 0xFF {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return max(1, 100*n/len(content))
}

func describe(f *bitstream.File, err error) string {
	switch {
	case err != nil:
		return "no bitstream"
	case f.Info == nil:
		return fmt.Sprintf("a bitstream for %v that says no more, %d bytes", f.Device, f.Size)
	}
	return fmt.Sprintf("%s/%s, RTL %016x, %d bytes", f.Info.Board, f.Info.Config, f.Info.Hash, f.Size)
}

// Handler serves the page of some boards. Unless it is for all, it answers only requests for a loopback address or name, so
// that a foreign page cannot read it by DNS rebinding, nor inject faults.
func Handler(boards []*virtual.Board, all bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'")
		_, _ = w.Write(html) // the client may have disconnected
	})
	mux.HandleFunc("GET /boards", func(w http.ResponseWriter, _ *http.Request) {
		shown := make([]Shown, len(boards))
		for i, b := range boards {
			shown[i] = Show(b)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(shown)
	})
	mux.HandleFunc("POST /boards/{number}/faults", func(w http.ResponseWriter, r *http.Request) {
		number, err := strconv.Atoi(r.PathValue("number"))
		if err != nil || number < 1 || number > len(boards) {
			http.Error(w, fmt.Sprintf("no board %s; they count from 1 to %d", r.PathValue("number"), len(boards)), http.StatusNotFound)
			return
		}
		breakBoard(w, r, boards[number-1])
	})
	own := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !all && !local(r.Host) {
			http.Error(w, "ask for this page by localhost", http.StatusForbidden)
			return
		}
		own.ServeHTTP(w, r)
	})
}

// breakBoard has the fault that is the request's body happen, and answers when it has. One that goes on ends with the request.
func breakBoard(w http.ResponseWriter, r *http.Request, b *virtual.Board) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<10))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f, err := virtual.ParseFault(string(text))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b.InjectFaults(r.Context(), []virtual.Fault{f})
	w.WriteHeader(http.StatusNoContent)
}

func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
