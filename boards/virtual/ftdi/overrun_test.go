package ftdi_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stafflink/lmmc/boards/virtual/ftdi"
	"github.com/stafflink/lmmc/internal/check"
)

// TestOverrun has a host that reads nothing for some time: what does not fit waits so long, what comes after that is lost at once, and none is lost any more
// after the host has read.
func TestOverrun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const buffer, statusError = 4096, 1 << 1
		h := plug(t)
		h.SetOverrun(ftdi.B, time.Second)
		line := h.UART(ftdi.B, 0)
		write := func(n int, wait time.Duration, lost uint64) {
			t.Helper()
			begin := time.Now()
			check.Must(line.Write(make([]byte, n)))(t)
			if took, have := time.Since(begin), h.LineCounts(ftdi.B).Lost; took != wait || have != lost {
				t.Errorf("%d bytes took %v, want %v; %d are lost, want %d", n, took, wait, have, lost)
			}
		}
		write(buffer, 0, 0)
		time.Sleep(time.Minute)
		write(10, time.Second, 10)
		write(10, 0, 20)
		if b := h.read(512); len(b) != 512 || b[1]&statusError == 0 {
			t.Errorf("the host gets %d bytes, with status % x", len(b), b[:2])
		}
		write(510, 0, 20)
		write(1, time.Second, 21)
		ended := make(chan error)
		h.read(512)
		write(510, 0, 21)
		go func() {
			_, err := line.Write(make([]byte, 300))
			ended <- err
		}()
		time.Sleep(time.Second / 2)
		synctest.Wait()
		h.read(512)
		if err := <-ended; err != nil || h.LineCounts(ftdi.B).Lost != 21 {
			t.Errorf("it was read in time: %v, %d lost", err, h.LineCounts(ftdi.B).Lost)
		}
	})
}
