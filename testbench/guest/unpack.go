package guest

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/verilator"
)

// unpacked returns the file of the uncompressed kernel, which QEMU boots too (by its PVH entry) and which
// more than halves the boot time. Without a program to decompress it, it returns the image itself.
func (k *kernel) unpacked(ctx context.Context) (string, error) {
	image, err := os.ReadFile(k.image)
	if err != nil {
		return "", fmt.Errorf("guest: %w", err)
	}
	dir, err := verilator.CacheDir("guest")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, fmt.Sprintf("vmlinux-%x", sha256.Sum256(image)))
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	packed, err := payload(image)
	if err != nil {
		return "", fmt.Errorf("guest: %s: %w", k.image, err)
	}
	content, err := unpack(ctx, packed)
	if errors.Is(err, exec.ErrNotFound) {
		return k.image, nil
	}
	if err != nil {
		return "", fmt.Errorf("guest: %s: %w", k.image, err)
	}
	return file, results.WriteFile(file, content)
}

// payload returns the compressed kernel in an image for x86 (Documentation/arch/x86/boot.rst, protocol 2.08 and later).
func payload(image []byte) ([]byte, error) {
	const (
		setupSectors  = 0x1f1
		magic         = 0x202 // "HdrS"
		payloadOffset = 0x248 // from the end of the setup sectors
		payloadLength = 0x24c
		headerEnd     = 0x250
	)
	if len(image) < headerEnd || string(image[magic:magic+4]) != "HdrS" {
		return nil, errors.New("not an image of a kernel for x86")
	}
	start := (uint64(image[setupSectors])+1)*512 + uint64(binary.LittleEndian.Uint32(image[payloadOffset:]))
	end := start + uint64(binary.LittleEndian.Uint32(image[payloadLength:]))
	if start == end || end > uint64(len(image)) {
		return nil, fmt.Errorf("damaged: its payload is from byte %d to %d of %d", start, end, len(image))
	}
	return image[start:end], nil
}

// unpack returns what is compressed. What follows it, such as its length, is ignored.
func unpack(ctx context.Context, packed []byte) ([]byte, error) {
	var program []string
	switch {
	case bytes.HasPrefix(packed, []byte{0x1f, 0x8b}):
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		r.Multistream(false)
		return io.ReadAll(r)
	case bytes.HasPrefix(packed, []byte("\xfd7zXZ\x00")):
		program = []string{"xz", "--decompress", "--stdout", "--single-stream"}
	default:
		return nil, fmt.Errorf("compression that begins with % x: %w", packed[:min(4, len(packed))], exec.ErrNotFound)
	}
	cmd := exec.CommandContext(ctx, program[0], program[1:]...)
	cmd.Stdin = bytes.NewReader(packed)
	content, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return nil, fmt.Errorf("%s: %w: %s", program[0], err, exit.Stderr)
	}
	return content, err
}
