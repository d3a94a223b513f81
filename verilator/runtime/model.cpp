// The clock loop.
#include "model.h"

#include <algorithm>
#include <cstring>

namespace {

// The model whose thread-wide state this thread has set; by id, as addresses come round again.
thread_local uint64_t entered = 0;
std::atomic<uint64_t> ids{0};

void host_print(lm_host* h, const char* text, size_t n) { static_cast<Host*>(h)->model->print(text, n); }
void host_halt(lm_host* h, int kind, const char* file, int line, const char* message) {
    static_cast<Host*>(h)->model->report(kind, file, line, message);
}
void host_reads(lm_host* h, const char* file) { static_cast<Host*>(h)->model->note_read(file); }
int step_plain_entry(lm_model* m) { return static_cast<Model*>(m)->step_plain(); }
int step_entry(lm_model* m) { return static_cast<Model*>(m)->run(0, 1, nullptr, 0); }

constexpr size_t flush_bytes = 1 << 20;

} // namespace

Model::Model(const lm_design& d, const char* name, uint64_t seed, int argc, const char** argv)
    : lm_model{}, design{d}, id{++ids}, addresses(d.n_ports) {
    host.stop = LM_RUNNING;
    host.print = host_print;
    host.halt = host_halt;
    host.reads = host_reads;
    host.model = this;
    memory = addresses.data();
    hit = -1;
    top = d.create(&host, name, seed, argc, argv, memory, &time);
    entered = id;
    refresh();
    if (!top) return;
    for (uint32_t i = 0; i < d.n_ports; ++i) // Verilator has randomised these too
        if (d.ports[i].dir == LM_IN) memset(memory[i], 0, static_cast<size_t>(d.ports[i].bytes) * d.ports[i].elems);
}

Model::~Model() {
    entered = 0;
    if (top && tracing) design.trace_close(top);
    if (top) design.destroy(top);
}

void Model::enter() {
    if (entered == id) return;
    entered = id;
    design.enter(top);
}

void Model::refresh() {
    cycles = counts;
    for (Clock& c : clocks) c.attached = !(c.sources.empty() && c.sinks.empty() && c.watches.empty() && c.outs.empty() && c.ins.empty());
    single = clocks.size() == 1 && !tracing && !design.next_event;
    silent = single && clocks[0].port == design.silent_clock;
    plan_burst();
    step = plain() ? step_plain_entry : step_entry;
    find_next();
}

void Model::find_next() {
    next_edge = UINT64_MAX;
    for (const Clock& c : clocks)
        if (c.next < next_edge) next_edge = c.next;
    if (design.next_event && !fresh) next_edge = std::min(next_edge, std::max(now, design.next_event(top)));
    prepared = false;
}

void Clock::sample(uint64_t cycle) {
    for (Watch& w : watches) w.sample(cycle);
    for (Source& s : sources) s.sample();
    for (Sink& s : sinks) s.sample(cycle);
    for (LinkOut& l : outs) l.sample(next);
}

void Clock::drive(uint64_t now) {
    for (Source& s : sources) s.drive();
    for (Sink& s : sinks) s.drive();
    for (LinkIn& l : ins) l.drive(now);
}

void Model::prepare_clocks() {
    prepared = true;
    for (size_t i = 0; i < clocks.size(); ++i) {
        Clock& c = clocks[i];
        if (c.next != next_edge || c.level || !c.attached) continue;
        settle();
        c.sample(counts[i] + 1);
    }
}

// Edges of a single clock, which nobody looks at. Rising and falling ones have code of their own: behind the branches of
// a large model the processor cannot predict one that goes the other way every time.
inline void Model::rise() {
    prepare();
    Clock& c = clocks[0];
    now = *time = c.next;
    next_edge = c.next += c.high;
    c.level = true;
    *c.at = 1;
    ++counts[0];
    if (design.eval(top)) host.stop = LM_DEAD;
    if (recorder) silent ? recorder->rose(now, c.port) : recorder->note(now);
    dirty = c.attached;
    if (dirty) c.drive(now);
    prepared = true; // before a falling edge there is nothing to do
}

inline void Model::fall() {
    Clock& c = clocks[0];
    const uint64_t before = now;
    now = *time = c.next;
    next_edge = c.next += c.period - c.high;
    c.level = false;
    *c.at = 0;
    if (silent)
        design.fell(top);
    else if (design.eval(top))
        host.stop = LM_DEAD;
    if (recorder) silent ? recorder->fell(before, now, c.port) : recorder->note(now);
    dirty = prepared = false;
}

uint32_t Model::edge() {
    if (single) {
        const bool rose = !clocks[0].level;
        rose ? rise() : fall();
        return rose;
    }
    if (tracing && next_edge > now) dump_trace();
    prepare();
    uint32_t rose = 0;
    now = next_edge;
    *time = now;
    for (size_t i = 0; i < clocks.size(); ++i) {
        Clock& c = clocks[i];
        if (c.next != now) continue;
        c.level = !c.level;
        *c.at = c.level;
        c.next += c.level ? c.high : c.period - c.high;
        if (c.level) rose |= 1u << i, ++counts[i];
    }
    dirty = false;
    evaluate();
    for (size_t i = 0; i < clocks.size(); ++i) {
        Clock& c = clocks[i];
        if (!(rose >> i & 1) || !c.attached) continue;
        c.drive(now);
        dirty = true;
    }
    if (design.next_event) settle(); // delays begin where their inputs change
    find_next();
    return rose;
}

// Waves show a moment as it was left: registers after the edge together with the inputs set because of it.
void Model::dump_trace() {
    settle();
    design.trace_dump(top, now);
}

void Model::begin(lm_condition* conditions, int n) {
    dirty = true;
    if (fresh || design.next_event) { // with all clocks low, or their first edge would not be one; and delays begin now
        enter();
        settle();
        find_next();
    }
    prepared = false;
    hit = -1;
    roomy = 0;
    watch(conditions, n);
}

void Model::quantum(uint64_t until, int clock, lm_condition* conditions, int n) {
    enter();
    if (single && !n) {
        if (clocks[0].level && next_edge < until) fall();
        if (run_burst(until)) return;
        while (next_edge < until && host.stop != LM_DEAD) {
            rise();
            if (next_edge >= until || host.stop == LM_DEAD) break;
            fall();
        }
        return;
    }
    while (next_edge < until && host.stop != LM_DEAD) {
        const uint32_t rose = edge();
        if (!n || !(rose >> clock & 1) || host.stop >= LM_CONDITION) continue;
        if ((hit = test(conditions, n)) >= 0) host.stop = LM_CONDITION;
    }
}

// Whether a sink of this clock may overflow at the next edge.
bool Model::blocked(const Clock& c) {
    if (!full(next_edge, next_edge + 1)) return false;
    for (const Sink& s : c.sinks)
        if (!s.can_refuse() && !s.room()) return true;
    return false;
}

// A sink takes at most one item a clock, so what has room now has it for as many clocks.
bool Model::full_now(uint64_t from, uint64_t until) {
    roomy = UINT64_MAX;
    for (const Clock& c : clocks)
        for (const Sink& s : c.sinks)
            if (!s.can_refuse()) roomy = std::min(roomy, from + s.room() * c.period);
    return until > roomy;
}

int Model::run(int clock, uint64_t cycles, lm_condition* conditions, int n) {
    enter();
    if (n == 0 && plain() && clock == 0) return run_plain(cycles);
    begin(conditions, n);
    const uint64_t end = counts[clock] + cycles;
    const uint32_t mine = 1u << clock;
    while (counts[clock] != end) {
        if (!clocks[clock].level && clocks[clock].next == next_edge && blocked(clocks[clock])) {
            host.stop = LM_FULL;
            break;
        }
        const uint32_t rose = edge();
        if (__builtin_expect(host.stop, 0) && (host.stop >= LM_FINISH || rose & mine)) break;
        if (n && rose & mine && (hit = test(conditions, n)) >= 0) {
            host.stop = LM_CONDITION;
            break;
        }
    }
    return finish_run();
}

int Model::run_to(uint64_t until, bool wait) {
    enter();
    begin(nullptr, 0);
    while (next_edge <= until && !host.stop) {
        for (const Clock& c : clocks)
            if (!c.level && c.next == next_edge && blocked(c)) host.stop = LM_FULL;
        if (!host.stop) edge();
    }
    if (wait && !host.stop) now = *time = std::max(now, until);
    return finish_run();
}

// One clock and nothing attached: what most Go test benches do, so it is kept short.
int Model::run_plain(uint64_t n) {
    Clock& c = clocks[0];
    const uint64_t low = c.period - c.high;
    if (fresh) evaluate();
    for (; n && !host.stop; --n) {
        if (c.level) {
            *time = c.next;
            c.next += low;
        }
        *c.at = 0;
        if (silent)
            design.fell(top);
        else if (design.eval(top))
            host.stop = LM_DEAD;
        if (host.stop >= LM_FINISH) {
            now = *time;
            c.level = false;
            break;
        }
        now = *time = c.next;
        c.next += c.high;
        *c.at = 1;
        c.level = true;
        ++counts[0];
        if (design.eval(top)) host.stop = LM_DEAD;
    }
    find_next();
    return host.stop ? finish_run() : LM_RUNNING;
}

int Model::step_plain() {
    enter();
    return run_plain(1);
}

int Model::eval_now() {
    enter();
    dirty = true;
    settle();
    return finish_run();
}

// Sets a signal inside. Returns 1 when logic has set it back, 2 when the model cannot go on.
int Model::poke(int port, size_t offset, const uint8_t* from, size_t n) {
    enter();
    if (fresh) settle(); // initial blocks would overwrite it
    uint8_t* const at = static_cast<uint8_t*>(memory[port]) + offset;
    memcpy(at, from, n);
    if (recorder) recorder->poke(port, offset, from, n);
    if (design.settle(top)) {
        host.stop = LM_DEAD;
        return 2;
    }
    return memcmp(at, from, n) != 0;
}

int Model::finish_run() {
    const int why = host.stop;
    if (why != LM_DEAD) host.stop = LM_RUNNING;
    return why;
}

void Model::print(const char* from, size_t bytes) {
    printed.append(from, bytes);
    last_line.assign(from, bytes);
    if (printed.size() > flush_bytes && !host.stop) host.stop = LM_FLUSH;
    text = printed.data();
    text_bytes = printed.size();
    news = 1;
}

void Model::note_read(const char* name) {
    opened.append(name, strlen(name) + 1);
    files = opened.data();
    files_bytes = opened.size();
    news = 1;
}

void Model::take_news() {
    printed.clear();
    opened.clear();
    text_bytes = files_bytes = 0;
    news = halt = 0;
}

// A $stop right after "[time] %Error: file:line: " is how Verilator spells $error, $fatal and failed assertions; the
// file is without its folder.
void Model::report(int kind, const char* where, int line, const char* what) {
    const char* const slash = strrchr(where, '/');
    const std::string place = std::string{": "} + (slash ? slash + 1 : where) + ":" + std::to_string(line) + ": ";
    const size_t at = last_line.find(place);
    if (kind == LM_STOP && at != std::string::npos) {
        kind = LM_ERROR;
        message = last_line.substr(at + place.size());
        while (!message.empty() && message.back() == '\n') message.pop_back();
    } else if (kind > halt) {
        message = what;
    }
    last_line.clear();
    if (kind > host.stop) host.stop = kind;
    if (kind <= halt) return;
    file = where;
    halt = kind;
    halt_line = line;
    halt_file = file.c_str();
    halt_message = message.c_str();
}
