package orders_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/boards/virtual/orders"
	"github.com/stafflink/lmmc/internal/check"
)

const roleVariable = "LMMC_ORDERS_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "" {
		goleak.VerifyTestMain(m)
	}
	err := orders.Serve(os.Stdin, os.Stdout, func(order string) (string, error) {
		switch order {
		case "fail":
			return "", errors.New("as \"told\"\nto")
		case "say nothing":
			return "", errors.New("")
		case "end":
			os.Exit(3)
		}
		return strings.ToUpper(order) + "\n", nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func TestOrders(t *testing.T) {
	p := check.Must(orders.Start(roleVariable + "=process"))(t)
	if answer, err := p.Do("two words"); err != nil || answer != "TWO WORDS\n" {
		t.Errorf("%q, %v", answer, err)
	}
	if _, err := p.Do("fail"); err == nil || err.Error() != "fail: as \"told\"\nto" {
		t.Error(err)
	}
	if _, err := p.Do("say nothing"); err == nil {
		t.Error("an error without a text is none")
	}
	if answer, err := p.Do("again"); err != nil || answer != "AGAIN\n" {
		t.Errorf("after errors: %q, %v", answer, err)
	}
	check.Error(t, p.Close())
}

func TestEnd(t *testing.T) {
	p := check.Must(orders.Start(roleVariable + "=process"))(t)
	if _, err := p.Do("end"); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Error(err)
	}
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Error(err)
	}
}
