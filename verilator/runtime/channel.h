// Channels: a ring that Go fills and the design empties (Source), or the other way round (Sink), one item a clock. watch.h has those that only look.
//
// They work in two halves. sample() runs just before a rising edge, when everything is settled, and finds out whether
// an item moves at that edge. drive() runs just after it and sets the inputs for the next one.
#ifndef LM_CHANNEL_H
#define LM_CHANNEL_H

#include "field.h"
#include "random.h"

#include <cstdlib>
#include <memory>
#include <vector>

struct alignas(LM_LINE) RingMemory : lm_ring {
    std::vector<lm_item> store;
    std::vector<uint64_t> extra;
    RingMemory(uint64_t depth, uint64_t words_each) : lm_ring{}, store(depth), extra(depth * words_each) {
        items = store.data();
        words = extra.data();
        per_item = words_each;
        mask = depth - 1;
    }
    uint64_t* with(uint64_t at) const { return words + (at & mask) * per_item; }
    uint64_t used() const { return head - tail; }
    uint64_t room() const { return mask + 1 - used(); }
};

class alignas(LM_LINE) Channel {
protected:
    Field data, valid, ready, last, reset;
    std::vector<Field> parts;
    const bool has_idle, reset_low;
    const uint64_t idle;
    Random random;

    bool in_reset() const { return reset && (reset.get() != 0) != reset_low; }

public:
    std::unique_ptr<RingMemory> ring;
    const int clock;

    Channel(const lm_design& d, void* const* memory, const lm_channel& c)
        : data{d, memory, c.data}, valid{d, memory, c.valid}, ready{d, memory, c.ready}, last{d, memory, c.last},
          reset{d, memory, c.reset}, has_idle{c.has_idle != 0}, reset_low{c.reset_low != 0}, idle{c.idle}, random{c.seed},
          ring{new RingMemory{c.depth, c.n_parts + (c.kind == LM_WATCH)}}, clock{c.clock} {
        for (uint32_t i = 0; i < c.n_parts; ++i) parts.emplace_back(d, memory, c.parts[i]);
    }

    // For bursts: a symbol at every clock fits into a lane; how the ring stands before and after.
    bool lane(lm_lane& l) const {
        l.items = ring->items;
        l.ring = ring->mask;
        l.value = idle;
        return data.lane(l) && has_idle && !valid && !ready && !last && !reset && parts.empty();
    }
};

class Source : public Channel {
    bool offered = false; // a ring item stands on the port
    bool stalled = false; // and is not taken at the coming edge

public:
    using Channel::Channel;

    // Offers the item at the tail again, for a model that went back to an earlier state.
    void rewind() {
        offered = stalled = false;
        drive();
    }

    bool lend(lm_lane& l) const {
        l.head = ring->head;
        l.tail = ring->tail;
        l.frames = ring->frames;
        l.offered = offered;
        return !ring->throttle;
    }
    void take_back(const lm_lane& l) {
        ring->tail = l.tail;
        ring->frames = l.frames;
        offered = l.offered;
    }

    void sample() {
        if (ready) stalled = offered && !ready.get();
        if (in_reset()) stalled = offered;
    }

    void drive() {
        RingMemory& r = *ring;
        if (in_reset()) {
            offered = stalled = false; // what stood on the port is offered again
            valid.set(0);
            return;
        }
        if (stalled) {
            ++r.stalls;
            return;
        }
        const lm_item* item = &r.items[r.tail & r.mask];
        if (offered) {
            r.frames += item->tag & 1;
            item = &r.items[++r.tail & r.mask];
        }
        offered = r.used() && !random.chance(r.throttle);
        if (offered) {
            data.set(item->data);
            last.set(item->tag & 1);
            const uint64_t* word = r.with(r.tail);
            for (const Field& part : parts) part.set(*word++);
            valid.set(1);
        } else if (has_idle) {
            data.set(idle);
            last.set(0);
            valid.set(1);
        } else {
            valid.set(0);
        }
    }
};

class Sink : public Channel {
    bool willing = !ready; // ready stands at 1, or there is none

public:
    using Channel::Channel;

    bool lend(lm_lane& l, uint64_t cycles) const {
        l.head = ring->head;
        return ring->room() >= cycles;
    }
    void take_back(const lm_lane& l) { ring->head = l.head; }

    // Nothing is lost as long as there is room, or can_refuse(); the caller sees to that.
    void sample(uint64_t cycle) {
        if (valid && !valid.get()) return;
        if (in_reset()) return;
        if (!willing) {
            ++ring->stalls;
            return;
        }
        const uint64_t v = data.get();
        if (has_idle && v == idle) return;
        if (!ring->room()) return;
        const uint64_t tag = last ? last.get() : 0;
        ring->items[ring->head & ring->mask] = lm_item{v, cycle << 1 | tag};
        uint64_t* word = ring->with(ring->head);
        for (const Field& part : parts) *word++ = part.get();
        ring->frames += tag;
        ++ring->head;
    }

    bool can_refuse() const { return bool(ready); }
    uint64_t room() const { return ring->room(); }

    void drive() {
        if (!ready) return;
        willing = ring->room() && !random.chance(ring->throttle);
        ready.set(willing);
    }
};

#endif
