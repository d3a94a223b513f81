package verilator

// #include "runtime/call.h"
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"
)

// Network runs models in lock-step on several threads. What they do does not depend on the number of threads.
//
// Threads meet once a quantum, which is as long as the shortest latency of a link between two models allows. A
// condition, $finish or a full sink ends a run at the end of the quantum in which it happened, for all models at the
// same time; a run that ends by its limit ends just after a rising edge, like Model.Run.
type Network struct {
	c      *C.lm_network // nil once closed
	models []*Model
	lists  **C.lm_condition // in C memory, one for each model
	counts *C.int
}

// NewNetwork makes a network of models, each with at least one clock. Models may be linked before or after. Threads
// are the caller's and threads-1 more; 0 means as many as there are processors.
func NewNetwork(threads int, models ...*Model) (*Network, error) {
	if len(models) == 0 {
		return nil, errors.New("verilator: a network without models")
	}
	if threads < 0 {
		return nil, fmt.Errorf("verilator: %d threads", threads)
	}
	threads = cmp.Or(threads, runtime.NumCPU())
	list := make([]*C.lm_model, len(models))
	for i, m := range models {
		switch err := m.usable(); {
		case err != nil:
			return nil, err
		case len(m.clocks) == 0:
			return nil, fmt.Errorf("%w (%s)", errNoClock, m.name)
		case m.net != nil || slices.Contains(models[:i], m):
			return nil, fmt.Errorf("verilator: model %s is in a network already", m.name)
		case m.lib.engine != models[0].lib.engine:
			return nil, fmt.Errorf("verilator: %s and %s were built for different engines", m.name, models[0].name)
		}
		list[i] = m.c
	}
	n := &Network{models: slices.Clone(models)}
	for _, m := range models {
		m.net = n
	}
	count := C.size_t(len(models))
	n.lists = (**C.lm_condition)(C.calloc(count, C.size_t(unsafe.Sizeof(uintptr(0)))))
	n.counts = (*C.int)(C.calloc(count, C.size_t(unsafe.Sizeof(C.int(0)))))
	n.c = C.lm_network_new(n.engine(), &list[0], C.int(len(list)), C.int(min(threads, len(models))))
	return n, nil
}

func (n *Network) engine() *C.lm_engine { return n.models[0].lib.engine }

// Close ends the network's threads. The models stay, and must be closed after it.
func (n *Network) Close() error {
	if n.c != nil {
		C.lm_network_free(n.engine(), n.c)
		C.free(unsafe.Pointer(n.lists))
		C.free(unsafe.Pointer(n.counts))
		n.c = nil
		for _, m := range n.models {
			m.net = nil
		}
	}
	return nil
}

// Models returns the models in the order given.
func (n *Network) Models() []*Model { return slices.Clone(n.models) }

// At is a condition on one model of a network.
type At struct {
	Model *Model
	Until Until
}

// Run runs n cycles of the first model's first clock.
func (n *Network) Run(cycles uint64) error {
	stop, err := n.RunUntil(cycles)
	return full(stop.Reason, err)
}

// RunUntil runs until a condition came true, at most max cycles of the first model's first clock. Stop.Index counts
// the conditions as given.
func (n *Network) RunUntil(max uint64, conditions ...At) (Stop, error) {
	stop := Stop{Index: -1}
	if err := n.usable(); err != nil {
		return stop, err
	}
	for _, m := range n.models {
		if err := m.starved(max); err != nil {
			return stop, err
		}
	}
	origin, release, err := n.place(conditions)
	if err != nil {
		return stop, err
	}
	defer release()
	counter := n.models[0].cycles(0)
	start := *counter
	for {
		why := int(C.lm_network_run(n.engine(), n.c, 0, C.uint64_t(max-stop.Ran), n.lists, n.counts))
		if why < 0 {
			return stop, errors.New("verilator: a link between clocks that differ needs a latency of at least 2")
		}
		stop.Ran = *counter - start
		stop.Reason, err = n.ended(why)
		if err == nil && stop.Reason == flushed {
			continue
		}
		for i, m := range n.models {
			if m.c.hit >= 0 && stop.Reason == Condition {
				if at := origin[i][m.c.hit]; stop.Index < 0 || at < stop.Index {
					stop.Index = at
				}
			}
		}
		return stop, err
	}
}

func (n *Network) usable() error {
	if n.c == nil {
		return fmt.Errorf("%w: the network", ErrClosed)
	}
	for _, m := range n.models {
		if err := m.usable(); err != nil {
			return err
		}
		for _, p := range m.peers {
			if p.net != n {
				return fmt.Errorf("verilator: model %s is linked to %s, which is not in the network", m.name, p.name)
			}
		}
	}
	return nil
}

// ended collects why each model wanted to stop; the gravest counts.
func (n *Network) ended(why int) (Reason, error) {
	reason, err := Limit, error(nil)
	for _, m := range n.models {
		own, failed := m.ended(int(C.lm_end_run(n.engine(), m.c)))
		if own == Halted {
			reason = Halted
		}
		err = errors.Join(err, failed)
	}
	if reason == Halted {
		return reason, err
	}
	switch why {
	case C.LM_CONDITION:
		reason = Condition
	case C.LM_FULL:
		reason = SinkFull
	case C.LM_FLUSH:
		reason = flushed
	}
	return reason, err
}

// place sorts conditions by model into C memory; origin[i][k] is the place in list of condition k of model i.
func (n *Network) place(list []At) (origin map[int][]int, release func(), err error) {
	byModel := map[int][]Until{}
	origin = map[int][]int{}
	for k, at := range list {
		i := slices.Index(n.models, at.Model)
		if i < 0 {
			return nil, nil, fmt.Errorf("verilator: condition %d is about a model that is not in the network", k)
		}
		byModel[i] = append(byModel[i], at.Until)
		origin[i] = append(origin[i], k)
	}
	lists := unsafe.Slice(n.lists, len(n.models))
	counts := unsafe.Slice(n.counts, len(n.models))
	release = func() {
		for i := range byModel {
			C.free(unsafe.Pointer(lists[i]))
			lists[i], counts[i] = nil, 0
		}
	}
	for i, conditions := range byModel {
		made, err := n.models[i].conditions(conditions)
		if err != nil {
			release()
			return nil, nil, err
		}
		memory := C.calloc(C.size_t(len(made)), C.size_t(unsafe.Sizeof(made[0])))
		lists[i], counts[i] = (*C.lm_condition)(memory), C.int(len(made))
		copy(unsafe.Slice(lists[i], len(made)), made)
	}
	return origin, release, nil
}
