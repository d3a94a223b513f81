// Running a recording again, with waves.
#include "model.h"
#include "record.h"

#include <cstring>
#include <string>

namespace {

class Cursor {
    const uint8_t *at, *end;

public:
    bool bad = false;
    Cursor(const uint8_t* bytes, size_t size) : at{bytes}, end{bytes + size} {}
    bool done() const { return at == end || bad; }
    const uint8_t* take(uint64_t n) {
        if (n > static_cast<uint64_t>(end - at)) {
            bad = true;
            return nullptr;
        }
        at += n;
        return at - n;
    }
    uint64_t number() {
        uint64_t v = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const uint8_t* const b = take(1);
            if (!b) return 0;
            v |= static_cast<uint64_t>(*b & 0x7f) << shift;
            if (!(*b & 0x80)) return v;
        }
        bad = true;
        return 0;
    }
};

// What transactions say, lane by lane: names, then changes in the order of time.
class Texts {
    Cursor in;
    const lm_design& design;
    void* const top;
    const bool any;
    uint64_t next = 0;

public:
    Texts(const lm_design& design, void* top, const uint8_t* bytes, size_t size)
        : in{bytes, size}, design{design}, top{top}, any{size > 0} {}
    void declare() {
        for (uint64_t n = any ? in.number() : 0; n && !in.bad; --n) {
            const uint64_t size = in.number();
            const uint8_t* const name = in.take(size);
            if (name) design.trace_lane(top, std::string(reinterpret_cast<const char*>(name), size).c_str());
        }
        if (any && !in.done()) next = in.number();
    }
    // Writes what has changed up to a moment that is in the file.
    void dump(uint64_t now) {
        while (any && !in.done() && next <= now) {
            const uint64_t lane = in.number(), size = in.number();
            const uint8_t* const text = in.take(size);
            if (text) design.trace_text(top, lane, reinterpret_cast<const char*>(text), size);
            if (!in.done()) next += in.number();
        }
    }
    bool bad() const { return in.bad; }
};

} // namespace

// Returns 0 for success, 1 when the recording is not of this design, 2 when the file cannot be written, 3 when it would be empty.
int Model::replay(const uint8_t* bytes, size_t size, const uint8_t* text_bytes, size_t texts_size, const char* path,
                  uint64_t* from, uint64_t* to, uint64_t* differs_at) {
    enter();
    Cursor in{bytes, size};
    now = *from = in.number();
    *differs_at = UINT64_MAX;
    const uint64_t state_size = in.number();
    const uint8_t* const state = in.take(state_size);
    if (!state || design.restore(top, state, state_size)) return 1;
    if (const int failed = design.trace_open(top, path)) return 1 + failed;
    Texts texts{design, top, text_bytes, texts_size};
    texts.declare();
    const Outputs outputs{design, memory};
    const auto dump = [&] {
        design.trace_dump(top, now);
        texts.dump(now);
    };
    bool pending = false; // the moment now is evaluated but not in the file
    while (!in.done() && alive()) {
        const uint64_t step = in.number();
        if (step && pending) dump();
        now += step;
        *time = now;
        while (const uint64_t port = in.number()) {
            if (port == design.n_ports + 1) {
                const uint64_t inside = in.number(), offset = in.number(), n = in.number();
                const uint8_t* const v = in.take(n);
                if (!v || inside >= design.n_ports || offset + n > static_cast<uint64_t>(design.ports[inside].bytes) * design.ports[inside].elems)
                    return design.trace_close(top), 1;
                memcpy(static_cast<uint8_t*>(memory[inside]) + offset, v, n);
                if (design.settle(top)) host.stop = LM_DEAD;
                continue;
            }
            if (port > design.n_ports) return design.trace_close(top), 1;
            const lm_port& p = design.ports[port - 1];
            const size_t n = static_cast<size_t>(p.bytes) * p.elems;
            if (const uint8_t* const v = in.take(n)) memcpy(memory[port - 1], v, n);
        }
        const uint8_t* const want = in.take(4);
        if (!want) break;
        if (design.eval(top)) host.stop = LM_DEAD;
        pending = true;
        uint32_t was;
        memcpy(&was, want, sizeof was);
        if (was && was != outputs.hash() && *differs_at == UINT64_MAX) *differs_at = now;
    }
    if (pending) dump();
    *to = now;
    if (host.stop != LM_DEAD) host.stop = LM_RUNNING;
    design.trace_close(top);
    return in.bad || texts.bad() ? 1 : 0;
}
