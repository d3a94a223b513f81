package harness

import "github.com/stafflink/lmmc/rtl"

// Interfaces with small buffers, so that those fill and pages and traps come often. Several scenarios have each, since a design is compiled for each set of parameters.
var (
	TwoLinks   = rtl.Params{Links: 2, Frames: 5, PageBytes: 128, ReplayBytes: 1024, RxBytes: 1024}
	ThreeLinks = rtl.Params{Links: 3, Frames: 7, PageBytes: 64, ReplayBytes: 256, RxBytes: 512, Width: 4}
	SevenLinks = rtl.Params{Links: 7, Frames: 24, PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024}
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
