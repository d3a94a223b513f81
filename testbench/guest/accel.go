package guest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/verilator"
)

// probeDeadline is how long a guest that does nothing may take with KVM, which needs about a second. There are machines with a
// /dev/kvm under which a kernel never gets anywhere.
const probeDeadline = 10 * time.Second

// accelerator tells whether the kernel boots with KVM. The answer holds, and is kept, until the machine boots again.
func accelerator(ctx context.Context, k *kernel) (string, error) {
	device, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
	if err != nil {
		return "tcg", nil
	}
	device.Close()
	dir, err := verilator.CacheDir("guest")
	if err != nil {
		return "", err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("guest: %w", err)
	}
	question := append(boot, k.image+"\n"...)
	file := filepath.Join(dir, "kvm")
	if known, err := os.ReadFile(file); err == nil {
		if answer, ok := bytes.CutPrefix(known, question); ok {
			return string(answer), nil
		}
	}
	answer := "kvm"
	if err := Run(ctx, Config{Accel: "kvm", bootDeadline: probeDeadline, Memory: 512}); errors.Is(err, ErrTool) || ctx.Err() != nil {
		return "", err
	} else if err != nil {
		answer = "tcg"
	}
	return answer, results.WriteFile(file, append(question, answer...))
}
