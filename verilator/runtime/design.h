// The design's side of the C interface, included after the code that Verilator generated. The including file defines
// LM_EVAL(top), LM_SAVE, LM_TRACE and LM_COVERAGE when the design was built with these, and for a clock whose falling
// edge changes nothing LM_SILENT_CLOCK, its port, LM_LAST_LEVEL(top), where the model keeps its level, LM_INPUTS(root) when
// combinational logic hangs on inputs, which triggers it, and LM_DIRECT when region "nba" is all else that its rising edge does.
#include "burst.h"
#include "hooks.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#ifdef LM_SAVE
#include <string>

#include "verilated_save.h"
#endif
#ifdef LM_TRACE
#include <string>
#include <vector>

#include "verilated_fst_c.h"
#include "gtkwave/fstapi.h" // which later versions leave to verilated_fst_c.cpp
#endif
#ifdef LM_COVERAGE
#include "verilated_cov.h"
#endif

#ifdef LM_DIRECT
void Vmodel___024root___eval_nba(Vmodel___024root*);
#endif
#ifdef LM_INPUTS
void Vmodel___024root___eval_ico(Vmodel___024root*);
#endif

#ifdef LM_SETTLE
void Vmodel___024root___eval_settle(Vmodel___024root*);
#endif

namespace {

struct Instance {
    lm_hooks hooks;
    VerilatedContext context;
    std::unique_ptr<Vmodel> top;
    lm_mirrors mirrors;
    bool started = false;
#ifdef LM_TRACE
    std::unique_ptr<VerilatedFstC> trace;
    std::vector<fstHandle> lanes; // of the trace
    std::vector<std::pair<int, std::string>> scopes; // that it shows, with levels; none: all
#endif

    // Copies what forceable signals show.
    void mirror() {
#ifdef LM_MIRROR
        lm_mirror(*top, mirrors);
#endif
    }
};

#ifdef LM_TRACE
// The writer of a VerilatedFst, which is private: an explicit instantiation may name it.
template <auto Member> struct Opened {
    friend auto fst_writer(VerilatedFst& f) { return f.*Member; }
};
template struct Opened<&VerilatedFst::m_fst>;
auto fst_writer(VerilatedFst& f);
#endif

Instance& self(void* p) { return *static_cast<Instance*>(p); }

// Sets what Verilator keeps a thread, but not the process-wide "last context", which threads would fight over.
void enter(void* p) {
    lm_now = &self(p).hooks;
    Verilated::t_s.t_contextp = &self(p).context;
}

// Runs f on the model; a fatal error inside was reported by its hook already.
template <class F> int guarded(void* p, F f) {
    enter(p);
    try {
        f(self(p));
        return 0;
    } catch (const lm_fatal&) {
        return 1;
    }
}

void* create(lm_host* host, const char* name, uint64_t seed, int argc, const char** argv, void** memory,
             uint64_t** time) {
    std::unique_ptr<Instance> made{new Instance};
    made->hooks.host = host;
    lm_seed(made->hooks, seed);
    const int failed = guarded(made.get(), [&](Instance& m) {
        m.context.threads(1); // or it starts threads that nobody needs, as many as there are processors less one
        m.context.randReset(2);
        m.context.randSeed(static_cast<int>(seed & 0x3fffffff) + 1);
        if (argc) m.context.commandArgs(argc, argv);
#ifdef LM_TRACE
        m.context.traceEverOn(true);
#endif
        m.top.reset(new Vmodel{&m.context, name});
        lm_addresses(*m.top, m.mirrors, memory);
        *time = &m.context.m_s.m_time;
    });
    return failed ? nullptr : made.release();
}

void destroy(void* p) {
    enter(p);
#ifdef LM_TRACE
    self(p).trace.reset();
#endif
    delete &self(p);
    lm_now = nullptr;
    Verilated::t_s.t_contextp = nullptr;
}

// The first evaluation runs initial blocks; after that the body of the model is called directly, without the
// per-thread bookkeeping of eval_step.
int eval(void* p) {
    Instance& m = self(p);
    try {
        if (__builtin_expect(!m.started, 0)) {
            m.started = true;
            m.top->eval_step();
        } else {
            LM_EVAL((*m.top));
        }
        m.mirror();
        return 0;
    } catch (const lm_fatal&) {
        return 1;
    }
}

#ifdef LM_SILENT_CLOCK
// What evaluation after the falling edge does: inputs set since the rising one reach the logic that hangs on them.
inline void tock(Vmodel& top) {
    LM_LAST_LEVEL(top) = 0;
#ifdef LM_INPUTS
    Vmodel___024root& root = top.vlSymsp->TOP;
    LM_INPUTS(root);
    Vmodel___024root___eval_ico(&root);
#endif
}

void fell(void* p) {
    tock(*self(p).top);
    self(p).mirror();
}

// What evaluation after the rising edge does.
inline void tick(Vmodel& top) {
#ifdef LM_DIRECT
    Vmodel___024root& root = top.vlSymsp->TOP;
    LM_LAST_LEVEL(top) = 1;
    root.__VnbaTriggered.at(0U) = true;
    Vmodel___024root___eval_nba(&root);
    root.__VnbaTriggered.clear();
#else
    LM_EVAL(top);
#endif
}

int burst(void* p, lm_burst* b, uint64_t until) {
    Instance& m = self(p);
    Vmodel& top = *m.top;
    try {
        b->run(
            until,
            [&] {
                tick(top);
                m.mirror();
            },
            [&] {
                tock(top);
                m.mirror();
            });
        return 0;
    } catch (const lm_fatal&) {
        return 1;
    }
}
#endif

#ifdef LM_SAVE
class Writer final : public VerilatedSerialize {
public:
    std::string bytes;
    void flush() override {
        bytes.append(reinterpret_cast<const char*>(m_bufp), m_cp - m_bufp);
        m_cp = m_bufp;
    }
};

class Reader final : public VerilatedDeserialize {
    const uint8_t* from;
    size_t left;

    // Keeps what is unread, then tops up; beyond the end zeros are read, and restore() finds the length wrong.
    void fill() override {
        const size_t kept = m_endp - m_cp;
        memmove(m_bufp, m_cp, kept);
        const size_t room = bufferSize() - kept, n = left < room ? left : room;
        memcpy(m_bufp + kept, from, n);
        memset(m_bufp + kept + n, 0, room - n);
        from += n, left -= n, m_cp = m_bufp, m_endp = m_bufp + bufferSize();
        padding += room - n;
    }

public:
    size_t padding = 0;
    Reader(const uint8_t* bytes, size_t size) : from{bytes}, left{size} { m_cp = m_endp = m_bufp; }
    bool exact() const { return left == 0 && static_cast<size_t>(m_endp - m_cp) == padding; }
};

int save(void* p, uint8_t** bytes, size_t* size) {
    return guarded(p, [&](Instance& m) {
        Writer w;
        w.write(&m.started, sizeof m.started);
        w.write(m.hooks.random, sizeof m.hooks.random);
        w << *m.top;
        w.flush();
        *size = w.bytes.size();
        *bytes = static_cast<uint8_t*>(malloc(*size));
        memcpy(*bytes, w.bytes.data(), *size);
    });
}

int restore(void* p, const uint8_t* bytes, size_t size) {
    return guarded(p, [&](Instance& m) {
        Reader r{bytes, size};
        r.read(&m.started, sizeof m.started);
        r.read(m.hooks.random, sizeof m.hooks.random);
        r >> *m.top;
        m.mirror();
        if (!r.exact()) vl_fatal("", 0, "", "checkpoint has the wrong length");
    });
}
#endif

#ifdef LM_TRACE
int trace_open(void* p, const char* path) {
    bool open = false, empty = false;
    const int failed = guarded(p, [&](Instance& m) {
        m.trace.reset(new VerilatedFstC);
        for (const auto& scope : m.scopes) m.trace->spTrace()->m_dumpvars.emplace_back(scope.first, std::string{m.top->name()} + " " + scope.second);
        m.top->trace(m.trace.get(), 99);
        m.trace->open(path);
        open = m.trace->isOpen();
        empty = !m.scopes.empty() && !m.trace->spTrace()->m_sigs_enabledp;
        if (!empty || !open) return;
        m.trace->close();
        m.trace.reset();
    });
    return failed || !open ? 1 : empty ? 2 : 0;
}

int trace_dump(void* p, uint64_t time) {
    return guarded(p, [&](Instance& m) { m.trace->dump(time); });
}

int trace_close(void* p) {
    return guarded(p, [&](Instance& m) {
        m.trace->close();
        m.trace.reset();
        m.lanes.clear();
    });
}

void trace_scope(void* p, int levels, const char* path) { self(p).scopes.emplace_back(levels, path); }

int trace_lane(void* p, const char* name) {
    return guarded(p, [&](Instance& m) {
        const auto writer = fst_writer(*m.trace->spTrace());
        fstWriterSetScope(writer, FST_ST_VCD_SCOPE, "transactions", nullptr);
        m.lanes.push_back(fstWriterCreateVar(writer, FST_VT_GEN_STRING, FST_VD_IMPLICIT, 0, name, 0));
        fstWriterSetUpscope(writer);
    });
}

int trace_text(void* p, uint32_t lane, const char* text, size_t bytes) {
    return guarded(p, [&](Instance& m) {
        fstWriterEmitVariableLengthValueChange(fst_writer(*m.trace->spTrace()), m.lanes.at(lane), text, bytes);
    });
}
#endif

int settle(void* p) {
    return guarded(p, [](Instance& m) {
        Vmodel__Syms& syms = *m.top->vlSymsp;
#ifdef LM_SETTLE
        Vmodel___024root___eval_settle(&syms.TOP);
#endif
#if defined LM_TRACE && defined LM_ACTIVITY
        memset(&syms.TOP.__Vm_traceActivity, 1, sizeof syms.TOP.__Vm_traceActivity); // or a trace would not look
        syms.__Vm_activity = true;
#endif
        m.mirror();
    });
}

#ifdef LM_TIMING
uint64_t next_event(void* p) {
    Vmodel& top = *self(p).top;
    return top.eventsPending() ? top.nextTimeSlot() : UINT64_MAX;
}
#endif

#ifdef LM_COVERAGE
int coverage(void* p, const char* path) {
    return guarded(p, [&](Instance& m) { m.context.coveragep()->write(path); });
}
#endif

} // namespace

extern "C" __attribute__((visibility("default"))) const lm_design lm_design_table = {
    LM_ABI, sizeof lm_ports / sizeof lm_ports[0] - 1, lm_ports, create, destroy, enter, eval,
#ifdef LM_SILENT_CLOCK
    LM_SILENT_CLOCK, fell, burst,
#else
    -1, nullptr, nullptr,
#endif
#ifdef LM_SAVE
    save, restore,
#else
    nullptr, nullptr,
#endif
#ifdef LM_TRACE
    trace_open, trace_dump, trace_close, trace_lane, trace_text,
#else
    nullptr, nullptr, nullptr, nullptr, nullptr,
#endif
#ifdef LM_COVERAGE
    coverage,
#else
    nullptr,
#endif
#ifdef LM_TRACE
    trace_scope,
#else
    nullptr,
#endif
    settle,
#ifdef LM_TIMING
    next_event,
#else
    nullptr,
#endif
};
