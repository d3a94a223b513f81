// The table through which Go drives the engine.
#include "network.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace {

Model& self(lm_model* m) { return *static_cast<Model*>(m); }

lm_model* model_new(const lm_design* d, const char* name, uint64_t seed, int argc, const char** argv) {
    return new Model{*d, name, seed, argc, argv};
}

void model_free(lm_model* m) { delete &self(m); }
void take_news(lm_model* m) { self(m).take_news(); }

int clock_add(lm_model* m, int port, uint64_t period, uint64_t phase) {
    Model& s = self(m);
    Clock c{};
    c.at = static_cast<uint8_t*>(s.memory[port]);
    c.port = port;
    c.period = period;
    c.high = period / 2;
    c.next = s.now + phase + period;
    *c.at = 0;
    s.clocks.push_back(std::move(c));
    s.refresh();
    return 0;
}

int eval(lm_model* m) { return self(m).eval_now(); }

int run(lm_model* m, int clock, uint64_t cycles, lm_condition* conditions, int n) {
    return self(m).run(clock, cycles, conditions, n);
}

int run_to(lm_model* m, uint64_t time, int wait) { return self(m).run_to(time, wait); }
uint64_t next_event(const lm_model* m) { return static_cast<const Model*>(m)->next_edge; }

lm_ring* channel_add(lm_model* m, const lm_channel* c) {
    Model& s = self(m);
    Clock& clock = s.clocks[c->clock];
    lm_ring* ring;
    if (c->kind == LM_WATCH) {
        clock.watches.emplace_back(s.design, s.memory, *c, &s.host.stop);
        ring = clock.watches.back().ring.get();
    } else if (c->kind == LM_SINK) {
        clock.sinks.emplace_back(s.design, s.memory, *c);
        clock.sinks.back().drive();
        ring = clock.sinks.back().ring.get();
    } else {
        clock.sources.emplace_back(s.design, s.memory, *c);
        clock.sources.back().drive();
        ring = clock.sources.back().ring.get();
    }
    s.refresh();
    return ring;
}

int trace_open(lm_model* m, const char* path) {
    Model& s = self(m);
    s.enter();
    if (const int failed = s.design.trace_open(s.top, path)) return failed;
    s.tracing = true;
    s.refresh();
    return 0;
}

void trace_scope(lm_model* m, int levels, const char* path) { self(m).design.trace_scope(self(m).top, levels, path); }

int trace_close(lm_model* m) {
    Model& s = self(m);
    s.enter();
    if (s.alive()) s.dump_trace();
    s.tracing = false;
    s.refresh();
    return s.design.trace_close(s.top);
}

int save(lm_model* m, uint8_t** bytes, size_t* size) { return self(m).save(bytes, size); }
int restore(lm_model* m, const uint8_t* bytes, size_t size) { return self(m).restore(bytes, size); }

int coverage(lm_model* m, const char* path) {
    self(m).enter();
    return self(m).design.coverage(self(m).top, path);
}

int poke(lm_model* m, int port, size_t offset, const uint8_t* from, size_t n) { return self(m).poke(port, offset, from, n); }

int record_start(lm_model* m, uint64_t interval) {
    Model& s = self(m);
    s.enter();
    s.recorder.reset(new Recorder{s.design, s.top, s.memory, interval});
    s.refresh();
    return !s.recorder->begin(s.now);
}

int record_take(lm_model* m, uint8_t** bytes, size_t* size) {
    const Model& s = self(m);
    if (!s.recorder || s.recorder->failed()) return 1;
    s.recorder->take(bytes, size);
    return 0;
}

int replay(lm_model* m, const uint8_t* bytes, size_t size, const uint8_t* texts, size_t texts_size, const char* path,
           uint64_t* from, uint64_t* to, uint64_t* differs_at) {
    return self(m).replay(bytes, size, texts, texts_size, path, from, to, differs_at);
}

// One of from and to may be null: the link has its other end outside, and link_put or link_take moves its samples.
lm_link* link_add(lm_model* from, lm_model* to, const lm_link_config* c) {
    Model *a = from ? &self(from) : nullptr, *b = to ? &self(to) : nullptr;
    Clock *sending = a ? &a->clocks[c->from_clock] : nullptr, *receiving = b ? &b->clocks[c->to_clock] : nullptr;
    const uint64_t period = (sending ? sending : receiving)->period;
    const auto link = std::make_shared<lm_link>(*c, period, receiving ? receiving->period : period);
    link->in_network = a != b;
    link->sender = a;
    link->sender_clock = c->from_clock;
    if (a) {
        sending->outs.emplace_back(Field{a->design, a->memory, c->from}, link);
        a->refresh();
    } else {
        link->period = period;
        link->next_sample = receiving->rising();
    }
    if (b) {
        receiving->ins.emplace_back(Field{b->design, b->memory, c->to}, link);
        receiving->ins.back().drive(0);
        b->refresh();
    }
    return link.get();
}

uint64_t link_put(lm_link* l, const uint64_t* values, uint64_t n) { return l->put(values, n); }
uint64_t link_take(lm_link* l, uint64_t* values, uint64_t n) { return l->take(values, n); }

// Both return 0 for success.
int link_save(const lm_link* l, uint8_t** bytes, size_t* size) {
    if (!l->faults.empty()) return 1;
    const std::vector<uint8_t> state = l->save();
    *size = state.size();
    *bytes = static_cast<uint8_t*>(malloc(state.size()));
    memcpy(*bytes, state.data(), state.size());
    return 0;
}
int link_restore(lm_link* l, const uint8_t* bytes, size_t size) { return !l->restore(bytes, size); }

void link_rate(lm_link* l, double rate) { l->set_rate(rate); }

void link_fault(lm_link* l, const lm_fault* f) {
    auto at = l->faults.begin();
    while (at != l->faults.end() && at->at <= f->at) ++at;
    l->faults.insert(at, *f);
    l->judge();
}

void link_plug(lm_link* l, int plugged, uint64_t value) {
    l->unplugged = !plugged;
    l->unplugged_value = value;
    l->judge();
}

void link_stats(const lm_link* l, lm_link_stats* out) {
    *out = l->stats;
    out->samples = l->tail;
}

lm_network* network_new(lm_model** models, int n, int threads) { return new lm_network{models, n, threads}; }
void network_free(lm_network* n) { delete n; }

int network_run(lm_network* n, int clock, uint64_t cycles, lm_condition** conditions, const int* n_conditions) {
    return n->run(clock, cycles, conditions, n_conditions);
}

int end_run(lm_model* m) { return self(m).finish_run(); }

} // namespace

extern "C" __attribute__((visibility("default"))) const lm_engine lm_engine_table = {
    LM_ABI,       model_new,  model_free, take_news,  clock_add,    eval,        run,         run_to, next_event, channel_add, end_run,
    trace_open,   trace_scope, trace_close, save,      restore,    coverage,     poke,         record_start, record_take, replay,     link_add,
    link_rate,    link_fault, link_plug,  link_stats, link_put,     link_take,    link_save,    link_restore,
    network_new,  network_free, network_run,
};
