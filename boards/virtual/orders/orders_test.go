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
	check.Equal(t, "answer", check.Must(p.Do("two words"))(t), "TWO WORDS\n")
	if _, err := p.Do("fail"); err == nil || err.Error() != "fail: as \"told\"\nto" {
		t.Error(err)
	}
	check.Fails(t, "an error without a text", check.Err(p.Do("say nothing")), nil)
	check.Equal(t, "answer after errors", check.Must(p.Do("again"))(t), "AGAIN\n")
	check.Error(t, p.Close())
}

func TestEnd(t *testing.T) {
	p := check.Must(orders.Start(roleVariable + "=process"))(t)
	check.Fails(t, "a process that has ended", check.Err(p.Do("end")), nil, "has ended")
	check.Fails(t, "closing a process that has ended", p.Close(), nil, "exit status 3")
}
