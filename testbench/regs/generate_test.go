package regs_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/regs"
	"github.com/stafflink/lmmc/testbench/regs/testdata/every"
)

// The driver is that of the description: go run ./cmd/lmmc regs -o testbench/regs/testdata/every/every.go testbench/regs/testdata/every.toml
func TestTheGeneratedDriverIsCurrent(t *testing.T) {
	code := check.Must(check.Must(regs.Read("testdata/every.toml"))(t).Generate("every", "every.toml"))(t)
	check.Equal(t, "testdata/every/every.go", string(code), string(check.Must(os.ReadFile("testdata/every/every.go"))(t)))
}

func TestTheGeneratedDriverDrivesTheDesign(t *testing.T) {
	b, p, _ := open(t, 0)
	check.Fatal(t, run(t, b, func(c *testbench.Task) error {
		d := every.Device{Bus: regs.On(c, p), Base: base}
		ctrl, err := d.Ctrl()
		if err != nil || ctrl != every.CtrlReset || ctrl.Mode() != every.CtrlModeOnce || ctrl.Enable() {
			return fmt.Errorf("after reset %#x: %w", ctrl, err)
		}
		if err := d.SetCtrl(ctrl.WithEnable(true).WithMode(every.CtrlModeForever)); err != nil {
			return err
		}
		if ctrl, err = d.Ctrl(); ctrl != 0x31 || err != nil {
			return fmt.Errorf("written %#x: %w", ctrl, err)
		}
		if err := d.SetCtrl(ctrl.WithEnable(false).WithMode(7)); err != nil { // bits that a mode has not are dropped
			return err
		}
		if ctrl, err = d.Ctrl(); ctrl != 0x30 || err != nil {
			return fmt.Errorf("written %#x: %w", ctrl, err)
		}
		for i := range every.TableCount {
			if err := d.SetTable(i, every.Table(i*i)); err != nil {
				return err
			}
		}
		v, err := d.Table(3)
		if v != 9 || err != nil {
			return fmt.Errorf("table[3] is %d: %w", v, err)
		}
		flags, err := d.Flags()
		if flags.W1c() != 0xa5 || flags.WithW0c(0x3c) != 0x3ca5a5a5 {
			return fmt.Errorf("flags %#x: %w", flags, err)
		}
		return err
	}))
}

func TestNamesThatClashAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"name = \"b\"\n[[register]]\nname = \"bus\"":                                                                          "the Go name Bus would be that of the code itself and of register bus",
		"name = \"b\"\n[[register]]\nname = \"r\"\n[[register]]\nname = \"r_address\"\naddress = 4":                           "the Go name RAddress",
		"name = \"b\"\n[[register]]\nname = \"base\"":                                                                         "the Go name Device.Base would be that of the code itself and of register base",
		"name = \"b\"\n[[register]]\nname = \"r\"\n[[register]]\nname = \"set_r\"\naddress = 4":                               "the Go name Device.SetR",
		"name = \"b\"\n[[register]]\nname = \"r\"\nfield = [{name = \"x\", bits = \"0\"}, {name = \"with_x\", bits = \"1\"}]": "the Go name R.WithX",
	} {
		_, err := check.Must(regs.Parse([]byte(text)))(t).Generate("b", "b.toml")
		check.Fails(t, text, err, nil, want)
	}
	_, err := check.Must(regs.Read("testdata/every.toml"))(t).Generate("a b", "x")
	check.Fails(t, "package", err, nil, "want a Go identifier")
}
