// Watches: channels that drive nothing. They collect what moves on a stream of the design and keep an eye on its handshake.
#ifndef LM_WATCH_H
#define LM_WATCH_H

#include "channel.h"

class Watch : public Channel {
    const bool has_ready;
    const uint64_t max_stall;
    int32_t* const stop; // of the host
    bool stalled = false; // valid without ready at the last edge
    bool resetting = false, told = false;
    uint64_t waited = 0;
    std::vector<uint64_t> before; // data, last and the parts, as they stalled

    void push(uint64_t cycle, uint64_t v, uint64_t tag, uint64_t what) {
        RingMemory& r = *ring;
        if (what > LM_RESET) {
            ++r.notes;
            if (!*stop) *stop = LM_FLUSH; // so that Go looks
        }
        if (!r.room()) { // counted; Go reads often enough
            ++r.stalls;
            return;
        }
        r.items[r.head & r.mask] = lm_item{v, cycle << 1 | tag};
        uint64_t* word = r.with(r.head);
        if (what == LM_MOVED)
            for (const Field& part : parts) *word++ = part.get();
        else
            word += parts.size();
        *word = what | waited << 8;
        ++r.head;
    }

    void compare(uint64_t cycle) {
        const uint64_t* old = before.data();
        uint64_t which = 0;
        if (data.get() != *old++) return push(cycle, which, 0, LM_CHANGED);
        ++which;
        if (last.get() != *old++) return push(cycle, which, 0, LM_CHANGED);
        for (const Field& part : parts) {
            ++which;
            if (part.get() != *old++) return push(cycle, which, 0, LM_CHANGED);
        }
    }

    void remember() {
        before.clear();
        before.push_back(data.get());
        before.push_back(last.get());
        for (const Field& part : parts) before.push_back(part.get());
    }

public:
    Watch(const lm_design& d, void* const* memory, const lm_channel& c, int32_t* s)
        : Channel{d, memory, c}, has_ready{c.ready.port >= 0}, max_stall{c.max_stall}, stop{s} {}

    // The model went back to an earlier state.
    void rewind() { stalled = resetting = told = false; }

    void sample(uint64_t cycle) {
        const bool v = !valid || valid.get();
        if (in_reset()) {
            stalled = false;
            waited = 0;
            if (!resetting) { // at this edge the design learns of it
                push(cycle, 0, 0, LM_RESET);
                resetting = true;
            } else if (v && valid && !told) {
                push(cycle, 0, 0, LM_VALID_IN_RESET);
                told = true;
            }
            return;
        }
        if (resetting) {
            if (v && valid && !told) push(cycle, 0, 0, LM_VALID_IN_RESET);
            resetting = told = false;
        }
        if (stalled) v ? compare(cycle) : push(cycle, 0, 0, LM_WITHDRAWN);
        stalled = v && has_ready && !ready.get();
        if (!v) {
            waited = 0;
            return;
        }
        if (!stalled) {
            const uint64_t tag = last.get();
            ring->frames += tag;
            push(cycle, data.get(), tag, LM_MOVED);
            waited = 0;
            return;
        }
        remember();
        if (++waited == max_stall) push(cycle, 0, 0, LM_STALLED);
    }
};

#endif
