//go:build !linux

package ip

import (
	"errors"
	"net/netip"
)

var errSystem = errors.New("network interfaces of the kernel need Linux")

func openTAP(string, uint16, int, []netip.Prefix) (tap, error) { return nil, errSystem }

// Loopback would bring lo up.
func Loopback() error { return errSystem }

// Down would remove an interface.
func Down(string) error { return errSystem }
