package figures

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/guest"
)

var guestFigures = []Figure{
	{Name: "guest_boot", Doc: "from the start of QEMU until a test can run under a kernel of its own, with the drivers for a virtual board loaded",
		Unit: "s", Must: new(20.0), Aim: new(10.0), Better: Lower, Timed: true, Long: true, Measure: steps(guestBoot)},
}

// guestBoot measures without KVM, which not every machine has.
func guestBoot(ctx context.Context) Measurement {
	var seconds []float64
	var boot guest.Boot
	for range 3 {
		try.OK(guest.Run(ctx, guest.Config{Accel: "tcg", Modules: []string{"vhci-hcd", "ftdi_sio"}, Ready: func(b guest.Boot) { boot = b }}))
		seconds = append(seconds, boot.Seconds)
	}
	return Measurement{Value: Median(seconds), Note: fmt.Sprintf("Linux %s, median of %d", boot.Kernel, len(seconds))}
}
