// Package orders has another process of the same program do things, one after the other. A board that is plugged into the kernel has to be in another
// process than who uses it: see vhci.Plug.
package orders

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Serve runs in the other process: it carries out orders, one a line, until its input ends.
func Serve(in io.Reader, out io.Writer, do func(order string) (answer string, err error)) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		answer, err := do(lines.Text())
		wrong := ""
		if err != nil {
			wrong = cmp.Or(err.Error(), "it failed, and does not say why")
		}
		if _, err := fmt.Fprintf(out, "%q %q\n", answer, wrong); err != nil {
			return err
		}
	}
	return lines.Err()
}

// Process is another process, at its Serve.
type Process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Reader
}

// Start starts this program again, with an environment in which env comes last, by which it knows what it is. What it prints to stderr goes to this
// process's.
func Start(env ...string) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Process{cmd, in, bufio.NewReader(out)}, nil
}

// Do has it do something, and waits. It may not be called by several goroutines at a time.
func (p *Process) Do(order string) (answer string, err error) {
	wrong := ""
	if _, err = fmt.Fprintln(p.in, order); err == nil {
		_, err = fmt.Fscanf(p.answers, "%q %q\n", &answer, &wrong)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: the process has ended: %w", order, err)
	case wrong != "":
		return "", fmt.Errorf("%s: %s", order, wrong)
	}
	return answer, nil
}

// Close ends the process and waits until it has.
func (p *Process) Close() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }
