// A link: a field of one model's output that arrives, some cycles later, at a field of another model's input.
//
// The sending end stamps every sample with its time; the receiving end takes what is old enough. So it does not matter
// which thread runs which end, as long as the samples a receiver may take exist (network.cpp sees to that).
#ifndef LM_LINK_H
#define LM_LINK_H

#include "field.h"
#include "random.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

struct lm_link {
    // Written by the sending side only.
    alignas(LM_LINE) std::atomic<uint64_t> head{0};
    // Written by the receiving side only. It looks at head no more than it must, so that threads seldom share a line.
    alignas(LM_LINE) uint64_t tail = 0;
    uint64_t available = 0; // head when last looked at
    uint64_t current; // what arrived last
    // Set up before the run, but for the faults that are over and their counts.
    bool perfect = true; // nothing happens to samples
    uint64_t delay;
    alignas(LM_LINE) lm_link_stats stats{};
    std::vector<lm_sample> samples;
    uint64_t mask, latency, idle;
    uint32_t width;
    bool in_network = false; // between two models, which threads may run side by side
    const class Model* sender = nullptr; // null: outside
    int sender_clock = 0;
    uint64_t period = 0, next_sample = 0; // of a sender outside

    // Faults act on the receiving side.
    Random random;
    double rate = 0;
    uint64_t bits_to_error = 0; // good bits until the next bad one, when rate > 0
    std::vector<lm_fault> faults; // by time of the first sample hit
    bool unplugged = false;
    uint64_t unplugged_value = 0;

    lm_link(const lm_link_config& c, uint64_t period, uint64_t receiver_period)
        : current{c.idle}, delay{(c.latency - 1) * period}, latency{c.latency}, idle{c.idle}, width{c.from.width},
          random{c.seed} {
        uint64_t n = 64;
        while (n < 4 * (c.latency + receiver_period / period + 1)) n *= 2;
        samples.resize(n);
        mask = n - 1;
    }

    void set_rate(double r) {
        rate = r;
        bits_to_error = gap();
        judge();
    }

    // What a sender outside has sent at its next edges; returns for how many there was room.
    uint64_t put(const uint64_t* values, uint64_t n) {
        const uint64_t h = head.load(std::memory_order_relaxed);
        n = std::min(n, mask + 1 - (h - tail));
        for (uint64_t i = 0; i < n; ++i, next_sample += period) samples[(h + i) & mask] = {next_sample, values[i]};
        head.store(h + n, std::memory_order_release);
        return n;
    }

    // What there is for a receiver outside.
    uint64_t take(uint64_t* values, uint64_t n) {
        n = std::min(n, head.load(std::memory_order_acquire) - tail);
        for (uint64_t i = 0; i < n; ++i) values[i] = samples[(tail + i) & mask].value;
        tail += n;
        return n;
    }

    // What there is between the ends, for a checkpoint; a link with planned faults has none. The samples on their way follow it.
    struct State {
        uint64_t head, tail, current, next_sample, bits_to_error, unplugged, unplugged_value;
        double rate;
        Random random;
        lm_link_stats stats;
    };

    std::vector<uint8_t> save() const {
        const uint64_t h = head.load(std::memory_order_acquire);
        const State s{h, tail, current, next_sample, bits_to_error, unplugged, unplugged_value, rate, random, stats};
        std::vector<uint8_t> bytes(sizeof s + (h - tail) * sizeof(lm_sample));
        memcpy(bytes.data(), &s, sizeof s);
        for (uint64_t i = tail; i < h; ++i) memcpy(&bytes[sizeof s + (i - tail) * sizeof(lm_sample)], &samples[i & mask], sizeof(lm_sample));
        return bytes;
    }

    bool restore(const uint8_t* bytes, size_t size) {
        State s;
        if (size < sizeof s) return false;
        memcpy(&s, bytes, sizeof s);
        if (s.head - s.tail > mask + 1 || size != sizeof s + (s.head - s.tail) * sizeof(lm_sample)) return false;
        for (uint64_t i = s.tail; i < s.head; ++i) memcpy(&samples[i & mask], &bytes[sizeof s + (i - s.tail) * sizeof(lm_sample)], sizeof(lm_sample));
        head.store(s.head, std::memory_order_release);
        tail = s.tail;
        available = s.head;
        current = s.current;
        next_sample = s.next_sample;
        bits_to_error = s.bits_to_error;
        unplugged = s.unplugged;
        unplugged_value = s.unplugged_value;
        rate = s.rate;
        random = s.random;
        stats = s.stats;
        judge();
        return true;
    }

    void judge() { perfect = rate <= 0 && faults.empty() && !unplugged; }

    // How many bits pass between two bad ones.
    uint64_t gap() {
        constexpr double forever = 1e18;
        if (rate <= 0) return static_cast<uint64_t>(forever);
        if (rate >= 1) return 0;
        const double n = std::floor(std::log(random.unit()) / std::log1p(-rate));
        return static_cast<uint64_t>(n < forever ? n : forever);
    }

    uint64_t impair(uint64_t index, uint64_t value) {
        if (rate > 0) {
            uint64_t at = bits_to_error;
            for (; at < width; at += 1 + gap()) {
                value ^= 1ULL << at;
                ++stats.bit_errors;
            }
            bits_to_error = at - width;
        }
        for (size_t i = 0; i < faults.size();) {
            const lm_fault& f = faults[i];
            if (index < f.at) break;
            if (index - f.at >= f.count) {
                faults.erase(faults.begin() + static_cast<std::ptrdiff_t>(i));
                continue;
            }
            switch (f.kind) {
            case LM_FLIP: value ^= f.value, ++stats.flipped; break;
            case LM_IDLE: value = idle, ++stats.idled; break;
            case LM_STUCK: value = f.value, ++stats.stuck; break;
            case LM_UNPLUG: value = f.value, ++stats.unplugged; break;
            case LM_REPEAT: value = current, ++stats.repeated; break;
            }
            ++i;
        }
        if (unplugged) value = unplugged_value, ++stats.unplugged;
        judge();
        return value;
    }
};

class alignas(LM_LINE) LinkOut {
    Field field;
    std::shared_ptr<lm_link> link;
    lm_sample* const samples = link->samples.data();
    const uint64_t mask = link->mask;

public:
    LinkOut(Field f, std::shared_ptr<lm_link> l) : field{f}, link{std::move(l)} {}

    bool lane(lm_lane& l) const {
        l.samples = samples;
        l.ring = mask;
        return field.lane(l);
    }
    void lend(lm_lane& l) const { l.head = link->head.load(std::memory_order_relaxed); }
    void take_back(const lm_lane& l) { link->head.store(l.head, std::memory_order_release); }

    void sample(uint64_t time) {
        const uint64_t h = link->head.load(std::memory_order_relaxed);
        samples[h & mask] = {time, field.get()};
        link->head.store(h + 1, std::memory_order_release);
    }
};

class alignas(LM_LINE) LinkIn {
    Field field;
    std::shared_ptr<lm_link> link;
    const lm_sample* const samples = link->samples.data();
    const uint64_t mask = link->mask;

public:
    LinkIn(Field f, std::shared_ptr<lm_link> l) : field{f}, link{std::move(l)} {}
    const lm_link& get() const { return *link; }

    // What comes from another model within a burst has been sent before it; from the model itself it may not.
    bool lane(lm_lane& l) const {
        l.samples = link->samples.data();
        l.ring = mask;
        l.delay = link->delay;
        return field.lane(l) && link->in_network;
    }
    bool lend(lm_lane& l) const {
        l.head = link->head.load(std::memory_order_acquire);
        l.tail = link->tail;
        l.value = link->current;
        return link->perfect;
    }
    void take_back(const lm_lane& l) {
        link->available = l.head;
        link->tail = l.tail;
        link->current = l.value;
    }

    void drive(uint64_t now) {
        lm_link& l = *link;
        for (;; ++l.tail) {
            if (l.tail == l.available) l.available = l.head.load(std::memory_order_acquire);
            if (l.tail == l.available) break;
            const lm_sample& s = samples[l.tail & mask];
            if (s.time + l.delay > now) break;
            l.current = l.perfect ? s.value : l.impair(l.tail, s.value);
        }
        field.set(l.current);
    }
};

#endif
