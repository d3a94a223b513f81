// Bursts: many cycles of a model with one clock, in one call into the design's own library.
//
// Between two evaluations of a large model little of other code and data stays in the first-level caches, so a burst
// touches as little as it can: every symbol source, symbol sink and end of a link is a lane of one cache line. The
// engine fills the lanes before a burst and takes the indices of rings back after it. What does not fit, such as streams
// with valid and ready, throttles and faulty links, takes the general way (channel.h, link.h), which does the same.
#ifndef LM_BURST_H
#define LM_BURST_H

#include "abi.h"

#include <cstring>

struct lm_sample { // what travels on a link
    uint64_t time, value;
};

struct alignas(LM_LINE) lm_lane {
    uint8_t* at;
    union {
        lm_item* items;
        lm_sample* samples;
    };
    uint64_t ring; // length - 1
    uint64_t head, tail;
    uint64_t value; // what stands on the port, or is passed over, when there is nothing else
    union {
        uint64_t delay;  // of a link
        uint64_t frames; // of a source
    };
    uint8_t bytes, shift, spare; // as in Field, with 4 or 8 bytes of a wide port
    bool offered;                // of a source

    uint64_t get() const { return load() >> shift & ~0ULL >> spare; }
    void set(uint64_t v) const {
        const uint64_t mask = ~0ULL >> spare;
        const uint64_t all = (load() & ~(mask << shift)) | (v & mask) << shift;
        if (__builtin_expect(bytes == 4, 1))
            memcpy(at, &all, 4);
        else if (bytes == 8)
            memcpy(at, &all, 8);
        else if (bytes == 2)
            memcpy(at, &all, 2);
        else
            *at = static_cast<uint8_t>(all);
    }

private:
    uint64_t load() const {
        if (__builtin_expect(bytes == 4, 1)) return read<uint32_t>();
        if (bytes == 8) return read<uint64_t>();
        return bytes == 2 ? read<uint16_t>() : *at;
    }
    template <class T> T read() const {
        T v;
        memcpy(&v, at, sizeof v);
        return v;
    }
};
static_assert(sizeof(lm_lane) == LM_LINE, "a lane is a cache line");

struct lm_burst {
    uint8_t* clock;
    uint64_t* time;
    uint64_t high, low; // how long the clock is either
    uint64_t now, next; // next: time of the next edge
    uint64_t cycle;     // rising edges so far
    bool level, prepared;
    lm_lane *sources, *sinks, *outs, *ins, *end; // the lanes in this order

    // Runs the edges before time until, the first of which is a rising one.
    template <class Rise, class Fall> void run(uint64_t until, Rise rise, Fall fall) {
        while (next < until) {
            if (!prepared) sample();
            now = *time = next;
            next += high;
            level = prepared = true;
            ++cycle;
            *clock = 1;
            rise();
            drive();
            if (next >= until) return;
            now = *time = next;
            next += low;
            level = prepared = false;
            *clock = 0;
            fall();
        }
    }

private:
    // Just before a rising edge.
    void sample() {
        for (lm_lane* l = sinks; l != outs; ++l) {
            const uint64_t v = l->get();
            if (v != l->value) l->items[l->head++ & l->ring] = lm_item{v, (cycle + 1) << 1};
        }
        for (lm_lane* l = outs; l != ins; ++l) l->samples[l->head++ & l->ring] = lm_sample{next, l->get()};
    }

    // Just after it.
    void drive() {
        for (lm_lane* l = sources; l != sinks; ++l) {
            if (l->offered) l->frames += l->items[l->tail++ & l->ring].tag & 1;
            l->offered = l->tail != l->head;
            l->set(l->offered ? l->items[l->tail & l->ring].data : l->value);
        }
        for (lm_lane* l = ins; l != end; ++l) {
            for (; l->tail != l->head; ++l->tail) {
                const lm_sample& s = l->samples[l->tail & l->ring];
                if (s.time + l->delay > now) break;
                l->value = s.value;
            }
            l->set(l->value);
        }
    }
};

#endif
