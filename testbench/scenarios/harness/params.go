package harness

import (
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// Interfaces with small buffers and short timers, so that buffers fill and pages and traps come often. Several scenarios have each, and programs, since
// a design is compiled for each set of parameters.
var (
	TwoLinks   = stimulus.Shapes[1]
	ThreeLinks = stimulus.Shapes[2]
	OneFrame   = stimulus.Shapes[3]
	SevenLinks = rtl.Params{Links: 7, Frames: 24, PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024} // with the usual timers; bytes wait for one another most
)

// Debugged is a test build: a network interface with a trace buffer and error injectors.
var Debugged = rtl.Params{Links: 2, PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024, Trace: 1024, Inject: true}

// What hosts make of a receive buffer: a region for each context of messages, and a frame for each virtual link of a host.
const (
	MessageContexts = 2   // contexts 1 and 2
	MessagePage     = 64  // bytes
	RegionFrames    = 24  // of a context
	RegionRing      = 4   // entries, of sends and of receives
	MessageMost     = 160 // bytes
)

// Messages are the parameters of a network interface with a router, virtual links and contexts of messages.
var Messages = rtl.Params{
	Router: 2, Frames: 64, PageBytes: MessagePage, ReplayBytes: 1024, RxBytes: 1024, Retry: 4096, WordTimer: 2048, Barriers: true, Virtual: 3, VLSlots: 16, VLWindow: 6, VLRetry: 4096, Contexts: 2,
}
