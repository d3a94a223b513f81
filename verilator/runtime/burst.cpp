// The engine's side of bursts (burst.h): which models can have them, and the lanes before and after.
#include "model.h"

// Lays the lanes out; leaves none when something does not fit into one.
void Model::plan_burst() {
    lanes.clear();
    if (!silent || recorder || !design.burst || !clocks[0].attached || !clocks[0].watches.empty()) return;
    Clock& c = clocks[0];
    lanes.resize(c.sources.size() + c.sinks.size() + c.outs.size() + c.ins.size());
    lm_lane* l = lanes.data();
    bool fits = true;
    burst.sources = l;
    for (const Source& s : c.sources) fits = fits && s.lane(*l++);
    burst.sinks = l;
    for (const Sink& s : c.sinks) fits = fits && s.lane(*l++);
    burst.outs = l;
    for (const LinkOut& o : c.outs) fits = fits && o.lane(*l++);
    burst.ins = l;
    for (const LinkIn& i : c.ins) fits = fits && i.lane(*l++);
    burst.end = l;
    burst.clock = c.at;
    burst.time = time;
    burst.high = c.high;
    burst.low = c.period - c.high;
    if (!fits) lanes.clear();
}

bool Model::lend(uint64_t until) {
    const Clock& c = clocks[0];
    const uint64_t cycles = (until - c.next + c.period - 1) / c.period;
    lm_lane* l = burst.sources;
    for (const Source& s : c.sources)
        if (!s.lend(*l++)) return false;
    for (const Sink& s : c.sinks)
        if (!s.lend(*l++, cycles)) return false;
    for (const LinkOut& o : c.outs) o.lend(*l++);
    for (const LinkIn& i : c.ins)
        if (!i.lend(*l++)) return false;
    return true;
}

// Runs the edges before time until, the next of which is a rising one; or returns false and has done nothing.
bool Model::run_burst(uint64_t until) {
    if (lanes.empty() || next_edge >= until || !lend(until)) return false;
    settle();
    Clock& c = clocks[0];
    burst.next = c.next;
    burst.now = now;
    burst.cycle = counts[0];
    burst.level = false;
    burst.prepared = prepared;
    if (design.burst(top, &burst, until)) host.stop = LM_DEAD;
    next_edge = c.next = burst.next;
    now = burst.now;
    counts[0] = burst.cycle;
    dirty = prepared = c.level = burst.level;
    const lm_lane* l = burst.sources;
    for (Source& s : c.sources) s.take_back(*l++);
    for (Sink& s : c.sinks) s.take_back(*l++);
    for (LinkOut& o : c.outs) o.take_back(*l++);
    for (LinkIn& i : c.ins) i.take_back(*l++);
    return true;
}
