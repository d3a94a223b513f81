#include "record.h"

#include <cstring>

namespace {

size_t port_bytes(const lm_port& p) { return static_cast<size_t>(p.bytes) * p.elems; }

void put_number(std::vector<uint8_t>& to, uint64_t v) {
    for (; v >= 0x80; v >>= 7) to.push_back(static_cast<uint8_t>(v) | 0x80);
    to.push_back(static_cast<uint8_t>(v));
}

void put_bytes(std::vector<uint8_t>& to, const void* from, size_t n) {
    const uint8_t* const p = static_cast<const uint8_t*>(from);
    to.insert(to.end(), p, p + n);
}

} // namespace

Outputs::Outputs(const lm_design& d, void* const* memory) {
    for (uint32_t i = 0; i < d.n_ports; ++i)
        if (d.ports[i].dir == LM_OUT) parts.push_back({static_cast<const uint8_t*>(memory[i]), port_bytes(d.ports[i])});
}

uint32_t Outputs::hash() const {
    uint64_t h = 0x9E3779B97F4A7C15ULL;
    for (const Part& p : parts) {
        for (size_t i = 0; i < p.bytes; i += 8) {
            uint64_t v = 0;
            memcpy(&v, p.at + i, p.bytes - i < 8 ? p.bytes - i : 8);
            h = (h ^ v) * 0xD6E8FEB86659FD93ULL;
            h ^= h >> 32;
        }
    }
    return static_cast<uint32_t>(h);
}

Recorder::Recorder(const lm_design& d, void* t, void* const* memory, uint64_t n)
    : design{d}, top{t}, interval{n}, outputs{d, memory} {
    size_t total = 0;
    for (uint32_t i = 0; i < d.n_ports; ++i) {
        if (d.ports[i].dir != LM_IN) continue;
        inputs.push_back({i, static_cast<const uint8_t*>(memory[i]), port_bytes(d.ports[i]), total});
        total += inputs.back().bytes;
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
    segments[1].log.clear();
    segments[1].from = now;
    free(bytes);
    for (const Input& i : inputs) memcpy(&shadow[i.shadow], i.at, i.bytes);
    evaluations = 0;
    last = now;
    return true;
}

void Recorder::note(uint64_t now) {
    if (broken) return;
    std::vector<uint8_t>& log = segments[1].log;
    put_number(log, now - last);
    last = now;
    log.insert(log.end(), pokes.begin(), pokes.end());
    pokes.clear();
    for (const Input& i : inputs) {
        if (!memcmp(&shadow[i.shadow], i.at, i.bytes)) continue;
        memcpy(&shadow[i.shadow], i.at, i.bytes);
        put_number(log, i.port + 1);
        put_bytes(log, i.at, i.bytes);
    }
    put_number(log, 0);
    const uint32_t h = outputs.hash();
    put_bytes(log, &h, sizeof h);
    if (++evaluations >= interval) checkpoint(now);
}

void Recorder::poke(uint32_t port, size_t offset, const uint8_t* from, size_t n) {
    put_number(pokes, design.n_ports + 1);
    put_number(pokes, port);
    put_number(pokes, offset);
    put_number(pokes, n);
    put_bytes(pokes, from, n);
}

void Recorder::take(uint8_t** bytes, size_t* size) const {
    std::vector<uint8_t> all;
    const Segment& first = segments[0].state.empty() ? segments[1] : segments[0];
    put_number(all, first.from);
    put_number(all, first.state.size());
    put_bytes(all, first.state.data(), first.state.size());
    put_bytes(all, first.log.data(), first.log.size());
    if (&first != &segments[1]) put_bytes(all, segments[1].log.data(), segments[1].log.size());
    *size = all.size();
    *bytes = static_cast<uint8_t*>(malloc(all.size()));
    memcpy(*bytes, all.data(), all.size());
}
