package guest_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/guest"
)

// Each module comes after what it depends on, and once.
func TestOrder(t *testing.T) {
	files := check.Must(guest.Order("ftdi-sio", "vhci_hcd", "usbserial"))(t)
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".ko"))
	}
	for _, pair := range [][2]string{{"usb-common", "usbcore"}, {"usbcore", "usbserial"}, {"usbserial", "ftdi_sio"}, {"usbip-core", "vhci-hcd"}} {
		before, after := slices.Index(names, pair[0]), slices.Index(names, pair[1])
		if before < 0 || after < before {
			t.Errorf("%v: %s must come before %s", names, pair[0], pair[1])
		}
	}
	if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) != len(names) {
		t.Errorf("%v: some twice", names)
	}
}

func TestCompareVersions(t *testing.T) {
	for _, test := range []struct{ older, newer string }{
		{"vmlinuz-6.1.0-9-amd64", "vmlinuz-6.1.0-56-amd64"},
		{"vmlinuz-6.1.0-56-amd64", "vmlinuz-6.12.0-1-amd64"},
		{"vmlinuz-5.10", "vmlinuz-6"},
		{"vmlinuz-6.1", "vmlinuz-6.1.1"},
		{"vmlinuz-6.1-a", "vmlinuz-6.1-b"},
	} {
		if guest.CompareVersions(test.older, test.newer) >= 0 || guest.CompareVersions(test.newer, test.older) <= 0 {
			t.Errorf("%s is not older than %s", test.older, test.newer)
		}
		check.Equal(t, test.older+" and itself", guest.CompareVersions(test.older, test.older), 0)
	}
}

// image is a boot image whose setup takes one sector besides the first, and whose payload lies after two bytes more.
func image(payload string, length int) []byte {
	b := make([]byte, 2*512+2, 2*512+2+len(payload))
	b[0x1f1] = 1
	copy(b[0x202:], "HdrS")
	binary.LittleEndian.PutUint32(b[0x248:], 2)
	binary.LittleEndian.PutUint32(b[0x24c:], uint32(length))
	return append(b, payload...)
}

func TestPayload(t *testing.T) {
	for _, test := range []struct {
		name  string
		image []byte
		want  string
		err   string
	}{
		{name: "whole", image: image("payload and more", 7), want: "payload"},
		{name: "truncated", image: image("pay", 7), err: "damaged"},
		{name: "absurd length", image: image("payload", -1), err: "damaged"},
		{name: "no payload", image: image("", 0), err: "damaged"},
		{name: "short", image: image("", 0)[:0x24f], err: "not an image"},
		{name: "foreign", image: make([]byte, 4096), err: "not an image"},
	} {
		got, err := guest.Payload(test.image)
		if string(got) != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %q, %v; want %q, error %q", test.name, got, err, test.want, test.err)
		}
	}
}

func TestUnpack(t *testing.T) {
	var gzipped bytes.Buffer
	w := gzip.NewWriter(&gzipped)
	w.Write([]byte("kernel"))
	w.Close()
	xz := exec.Command("xz", "-c")
	xz.Stdin = strings.NewReader("kernel")
	xzed := check.Must(xz.Output())(t)
	for name, packed := range map[string][]byte{"gzip": gzipped.Bytes(), "xz": xzed} {
		got, err := guest.Unpack(t.Context(), append(packed, 1, 2, 3, 4)) // an image ends with the length
		if string(got) != "kernel" || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		check.Fails(t, name+", truncated", check.Err(guest.Unpack(t.Context(), packed[:len(packed)-9])), nil)
	}
	check.Fails(t, "of unknown kind", check.Err(guest.Unpack(t.Context(), []byte("LZIP"))), exec.ErrNotFound)
}
