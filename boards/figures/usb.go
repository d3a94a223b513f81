package figures

import (
	"context"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/boards/virtual/usbbench"
	"github.com/stafflink/lmmc/testbench/figures"
)

// USB are those of a virtual board under a kernel.
var USB = []figures.Figure{
	{Name: "usb_urbs_per_read", Doc: "USB request blocks of a read of 8 bytes over the real libusb, under a kernel with a virtual board: there, and back",
		Must: new(2.0), Aim: new(2.0), Better: figures.Lower, Long: true, Measure: usbRequestsPerRead},
	{Name: "usb_vs_libusb", Doc: "bytes a second of the driver's transport over libusb, as a share of those of a loop in C that keeps as many transfers of the same sizes underway, by turns on the same virtual chip under a kernel, in seconds of one processor that takes 1 ns for each instruction",
		Must: new(0.8), Aim: new(0.95), Long: true, Measure: usbVsLibusb},
}

func usbRequestsPerRead(ctx context.Context) (figures.Measurement, error) {
	r, err := usbbench.MeasureReads(ctx)
	if err != nil {
		return figures.Measurement{}, err
	}
	var counts []float64
	sum := 0
	for _, n := range r.PerRead {
		counts = append(counts, float64(n))
		sum += n
	}
	reads := float64(len(counts))
	return figures.Measurement{Value: figures.Median(counts), Note: fmt.Sprintf("median of %d reads, %.2f on average; "+
		"besides, %.1f in a read with nothing but the chip's status, which its latency timer of 1 ms makes it send", len(counts), float64(sum)/reads, float64(r.Idle)/reads)}, nil
}

func usbVsLibusb(ctx context.Context) (figures.Measurement, error) {
	r, err := usbbench.MeasureRates(ctx, true)
	if err != nil {
		return figures.Measurement{}, err
	}
	wall, err := usbbench.MeasureRates(ctx, false)
	if err != nil {
		return figures.Measurement{}, err
	}
	shares := r.Shares()
	return figures.Measurement{Value: figures.Median(shares), Note: fmt.Sprintf("median of %d turns of %d bytes both ways, %.2f to %.2f; the driver %.2f MB/s, C %.2f MB/s by the guest's clock, which counts instructions; "+
		"by wall-clock time, with what QEMU takes to emulate a switch of threads, %.2f, %.2f to %.2f",
		len(shares), r.Bytes, slices.Min(shares), slices.Max(shares), figures.Median(r.Driver)/1e6, figures.Median(r.Bare)/1e6,
		figures.Median(wall.Shares()), slices.Min(wall.Shares()), slices.Max(wall.Shares()))}, nil
}
