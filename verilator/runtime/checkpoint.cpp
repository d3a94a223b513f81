// Saving and restoring a model with its clocks. Channels and links are not part of it: they belong to the test bench.
#include "model.h"

#include <cstring>

namespace {

struct Header {
    uint64_t magic, now, clocks;
};
struct ClockState {
    uint64_t next, count, level;
};
constexpr uint64_t magic = 0x31304B43504D4C; // "LMPCK01"

} // namespace

int Model::save(uint8_t** bytes, size_t* size) {
    enter();
    uint8_t* state = nullptr;
    size_t n = 0;
    if (design.save(top, &state, &n)) return 1;
    const size_t front = sizeof(Header) + clocks.size() * sizeof(ClockState);
    *size = front + n;
    *bytes = static_cast<uint8_t*>(malloc(*size));
    const Header h{magic, now, clocks.size()};
    memcpy(*bytes, &h, sizeof h);
    for (size_t i = 0; i < clocks.size(); ++i) {
        const ClockState c{clocks[i].next, counts[i], clocks[i].level};
        memcpy(*bytes + sizeof h + i * sizeof c, &c, sizeof c);
    }
    memcpy(*bytes + front, state, n);
    free(state);
    return 0;
}

// Returns 0 for success, 1 when the checkpoint is of another design or other clocks, 2 when the design found that out
// after it had begun to read, so that the model is of no use any more.
int Model::restore(const uint8_t* bytes, size_t size) {
    enter();
    Header h{};
    const size_t front = sizeof h + clocks.size() * sizeof(ClockState);
    if (size < front) return 1;
    memcpy(&h, bytes, sizeof h);
    if (h.magic != magic || h.clocks != clocks.size()) return 1;
    if (design.restore(top, bytes + front, size - front)) {
        host.stop = LM_DEAD;
        return 2;
    }
    now = h.now;
    for (size_t i = 0; i < clocks.size(); ++i) {
        ClockState c{};
        memcpy(&c, bytes + sizeof h + i * sizeof c, sizeof c);
        clocks[i].next = c.next;
        clocks[i].level = c.level;
        counts[i] = c.count;
        for (Source& s : clocks[i].sources) s.rewind();
        for (Sink& s : clocks[i].sinks) s.drive();
        for (Watch& w : clocks[i].watches) w.rewind();
    }
    host.stop = LM_RUNNING;
    if (recorder) recorder->begin(now);
    refresh();
    return 0;
}
