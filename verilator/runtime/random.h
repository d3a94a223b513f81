// A small generator for throttles and bit errors; equal seeds give equal runs on every machine.
#ifndef LM_RANDOM_H
#define LM_RANDOM_H

#include <cstdint>

class Random {
    uint64_t state;

public:
    explicit Random(uint64_t seed = 0) : state{seed} {}
    uint64_t next() {
        uint64_t z = (state += 0x9E3779B97F4A7C15ULL);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }
    // True in share of 2^32 cases.
    bool chance(uint64_t share) { return share && (next() >> 32) < share; }
    // Uniform in (0, 1].
    double unit() { return (static_cast<double>(next() >> 11) + 1) * (1.0 / 9007199254740992.0); }
};

#endif
