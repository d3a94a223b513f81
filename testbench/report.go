package testbench

// Reporter is told what is wrong: a *Bench, a *testing.T, or something of the user's.
type Reporter interface {
	Errorf(format string, args ...any)
}

// report tells the reporter, if there is one, and returns the same as an error.
func report(r Reporter, err error) error {
	if err != nil && r != nil {
		r.Errorf("%v", err)
	}
	return err
}
