#include "record.h"

#include <cstring>

namespace {

size_t port_bytes(const lm_port& p) { return static_cast<size_t>(p.bytes) * p.elems; }

[[gnu::always_inline]] inline uint8_t* put_number(uint8_t* to, uint64_t v) {
    for (; v >= 0x80; v >>= 7) *to++ = static_cast<uint8_t>(v) | 0x80;
    *to++ = static_cast<uint8_t>(v);
    return to;
}

uint8_t* put_hash(uint8_t* to, uint32_t hash) {
    memcpy(to, &hash, sizeof hash);
    return to + sizeof hash;
}

template <class T> T load(const uint8_t* at) {
    T v;
    memcpy(&v, at, sizeof v);
    return v;
}

// Outputs are hashed at one edge of so many.
constexpr uint64_t hashed = 8;

} // namespace

Outputs::Outputs(const lm_design& d, void* const* memory) {
    for (uint32_t i = 0; i < d.n_ports; ++i)
        if (d.ports[i].dir == LM_OUT) parts.push_back({static_cast<const uint8_t*>(memory[i]), port_bytes(d.ports[i])});
}

// The products do not wait for each other.
uint32_t Outputs::hash() const {
    uint64_t h = 0, factor = 0x9E3779B97F4A7C15ULL;
    for (const Part& p : parts) {
        for (size_t i = 0; i < p.bytes; i += 8, factor += 0x3C6EF372FE94F82AULL) {
            uint64_t v;
            switch (p.bytes - i) {
            case 1: v = p.at[i]; break;
            case 2: v = load<uint16_t>(p.at + i); break;
            case 4: v = load<uint32_t>(p.at + i); break;
            case 3: case 5: case 6: case 7: v = 0, memcpy(&v, p.at + i, p.bytes - i); break;
            default: v = load<uint64_t>(p.at + i);
            }
            v = (v + 1) * factor;
            h += v ^ v >> 32;
        }
    }
    h *= 0xD6E8FEB86659FD93ULL;
    return static_cast<uint32_t>(h >> 32) | 1;
}

Recorder::Recorder(const lm_design& d, void* t, void* const* memory, uint64_t n)
    : design{d}, top{t}, interval{n}, outputs{d, memory} {
    size_t total = 0;
    for (uint32_t i = 0; i < d.n_ports; ++i) {
        if (d.ports[i].dir != LM_IN) continue;
        const size_t bytes = port_bytes(d.ports[i]);
        const auto at = static_cast<const uint8_t*>(memory[i]);
        most += 10 + bytes + 8;
        if (bytes <= 8 && i < 0x7f) {
            small[__builtin_ctz(bytes)].push_back({at, 0, i});
        } else {
            wide.push_back({i, at, bytes, total});
            total += bytes;
        }
    }
    shadow.resize(total);
}

bool Recorder::checkpoint(uint64_t now) {
    uint8_t* bytes = nullptr;
    size_t size = 0;
    if (!design.save || design.save(top, &bytes, &size)) {
        broken = true;
        return false;
    }
    std::swap(segments[0], segments[1]);
    segments[1].state.assign(bytes, bytes + size);
    segments[1].used = 0;
    segments[1].from = now;
    free(bytes);
    for (int k = 0; k < 4; ++k)
        for (Small& i : small[k]) i.old = 0, memcpy(&i.old, i.at, 1 << k);
    for (const Wide& i : wide) memcpy(&shadow[i.shadow], i.at, i.bytes);
    evaluations = 0;
    last = now;
    return true;
}

[[gnu::always_inline]] inline uint8_t* Recorder::room() {
    Segment& s = segments[1];
    if (__builtin_expect(s.log.size() - s.used < most + pokes.size(), 0)) s.log.resize(2 * s.log.size() + most + pokes.size());
    return s.log.data() + s.used;
}

// Which inputs have changed cannot be foreseen, so these are written in any case, and stay if they have. They are read as wide as they were written.
template <class T> [[gnu::always_inline]] inline uint8_t* Recorder::changes(std::vector<Small>& inputs, uint8_t* p) {
    for (Small& i : inputs) {
        const T v = load<T>(i.at);
        const bool changed = v != i.old;
        i.old = v;
        *p = static_cast<uint8_t>(i.port + 1);
        memcpy(p + 1, &v, sizeof v);
        p += changed ? sizeof v + 1 : 0;
    }
    return p;
}

// The signals inside that were set, and the inputs that have changed.
[[gnu::always_inline]] inline uint8_t* Recorder::changes(uint8_t* p) {
    if (__builtin_expect(!pokes.empty(), 0)) {
        memcpy(p, pokes.data(), pokes.size());
        p += pokes.size();
        pokes.clear();
    }
    p = changes<uint8_t>(small[0], p);
    p = changes<uint16_t>(small[1], p);
    p = changes<uint32_t>(small[2], p);
    p = changes<uint64_t>(small[3], p);
    for (const Wide& i : wide) {
        uint8_t* const old = &shadow[i.shadow];
        if (!memcmp(i.at, old, i.bytes)) continue;
        memcpy(old, i.at, i.bytes);
        p = put_number(p, i.port + 1);
        memcpy(p, i.at, i.bytes);
        p += i.bytes;
    }
    return p;
}

void Recorder::note(uint64_t now) {
    if (broken) return;
    uint8_t* p = changes(put_number(room(), now - last));
    last = now;
    *p++ = 0;
    end(put_hash(p, outputs.hash()));
    if (++evaluations >= interval) checkpoint(now);
}

// The input that is the clock.
Recorder::Small* Recorder::find(int port) {
    for (Small& i : small[0])
        if (static_cast<int>(i.port) == port) clock_input = &i;
    return clock_input;
}

[[gnu::always_inline]] inline void Recorder::level(uint64_t now, int clock, uint8_t value, uint32_t hash) {
    clock_input->old = value;
    uint8_t* p = put_number(room(), now - last);
    last = now;
    *p++ = static_cast<uint8_t>(clock + 1);
    *p++ = value;
    *p++ = 0;
    end(put_hash(p, hash));
}

void Recorder::rose(uint64_t now, int clock) {
    if (broken) return;
    if (!clock_input && !find(clock)) return note(now); // one of very many ports
    level(now, clock, 1, edges++ % hashed ? 0 : outputs.hash());
    if ((evaluations += 2) >= interval) checkpoint(now);
}

void Recorder::fell(uint64_t edge, uint64_t now, int clock) {
    if (broken) return;
    if (!clock_input && !find(clock)) return note(now);
    clock_input->old = 0; // as it is already
    uint8_t* const p = changes(put_number(room(), edge - last));
    last = edge;
    *p = 0;
    end(put_hash(p + 1, 0));
    level(now, clock, 0, 0);
}

void Recorder::poke(uint32_t port, size_t offset, const uint8_t* from, size_t n) {
    uint8_t head[40];
    uint8_t* p = put_number(put_number(head, design.n_ports + 1), port);
    p = put_number(put_number(p, offset), n);
    pokes.insert(pokes.end(), head, p);
    pokes.insert(pokes.end(), from, from + n);
}

void Recorder::take(uint8_t** bytes, size_t* size) const {
    const Segment& first = segments[0].state.empty() ? segments[1] : segments[0];
    const size_t second = &first != &segments[1] ? segments[1].used : 0;
    *bytes = static_cast<uint8_t*>(malloc(20 + first.state.size() + first.used + second));
    uint8_t* p = put_number(put_number(*bytes, first.from), first.state.size());
    const auto put = [&p](const uint8_t* from, size_t n) {
        memcpy(p, from, n);
        p += n;
    };
    put(first.state.data(), first.state.size());
    put(first.log.data(), first.used);
    if (second) put(segments[1].log.data(), second);
    *size = p - *bytes;
}
