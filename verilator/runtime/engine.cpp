// The table through which Go drives the engine.
#include "model.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace {

Model& self(lm_model* m) { return *static_cast<Model*>(m); }

lm_model* model_new(const lm_design* d, const char* name, uint64_t seed, int argc, const char** argv) {
    return new Model{*d, name, seed, argc, argv};
}

void model_free(lm_model* m) { delete &self(m); }
void take_text(lm_model* m) { self(m).take_text(); }

int clock_add(lm_model* m, int port, uint64_t period, uint64_t phase) {
    Model& s = self(m);
    Clock c{};
    c.at = static_cast<uint8_t*>(s.memory[port]);
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

lm_ring* channel_add(lm_model* m, const lm_channel* c) {
    Model& s = self(m);
    Clock& clock = s.clocks[c->clock];
    lm_ring* ring;
    if (c->is_sink) {
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

} // namespace

extern "C" __attribute__((visibility("default"))) const lm_engine lm_engine_table = {
    .abi = LM_ABI,
    .model_new = model_new,
    .model_free = model_free,
    .take_text = take_text,
    .clock_add = clock_add,
    .eval = eval,
    .run = run,
    .channel_add = channel_add,
};
