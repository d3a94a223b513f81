// Reading and writing up to 64 bits of a port.
#ifndef LM_FIELD_H
#define LM_FIELD_H

#include "burst.h"

#include <cstring>

class Field {
    enum Kind : uint8_t { none, b8, b16, b32, b64, wide };
    uint8_t* at = nullptr;
    Kind kind = none;
    uint8_t shift = 0;
    uint8_t words = 0; // words of a wide port that the field touches
    uint8_t spare = 0; // bits of 64 that the field lacks

public:
    Field() = default;

    Field(const lm_design& design, void* const* memory, const lm_field& f) {
        if (f.port < 0) return;
        const lm_port& port = design.ports[f.port];
        at = static_cast<uint8_t*>(memory[f.port]);
        spare = f.width >= 64 ? 0 : 64 - f.width;
        if (port.bytes <= 8) at += f.offset / (8 * port.bytes) * port.bytes; // the word of an array
        shift = f.offset % (8 * port.bytes);
        switch (port.bytes) {
        case 1: kind = b8; break;
        case 2: kind = b16; break;
        case 4: kind = b32; break;
        case 8: kind = b64; break;
        default:
            kind = wide;
            at += f.offset / 32 * 4;
            shift = f.offset % 32;
            words = (shift + f.width + 31) / 32;
        }
    }

    // Whether it fits into a lane, and its place there.
    bool lane(lm_lane& l) const {
        constexpr uint8_t sizes[] = {0, 1, 2, 4, 8};
        l.at = at;
        l.shift = shift;
        l.spare = spare;
        l.bytes = kind == wide ? words * 4 : sizes[kind];
        return kind != none && l.bytes <= 8;
    }

    explicit operator bool() const { return kind != none; }

    uint64_t get() const { return kind == none ? 0 : read(); }
    void set(uint64_t v) const {
        if (kind != none) write(v);
    }

private:
    // Not inlined: channels and links share one copy, which stays in the cache between two evaluations of a model.
    [[gnu::noinline]] uint64_t read() const {
        const uint64_t mask = ~0ULL >> spare;
        switch (kind) {
        case b8: return *at >> shift & mask;
        case b16: return load<uint16_t>() >> shift & mask;
        case b32: return load<uint32_t>() >> shift & mask;
        case b64: return load<uint64_t>() >> shift & mask;
        case wide: return static_cast<uint64_t>(span() >> shift) & mask;
        case none: break;
        }
        return 0;
    }

    [[gnu::noinline]] void write(uint64_t v) const {
        const uint64_t mask = ~0ULL >> spare;
        switch (kind) {
        case b8: *at = (*at & ~(mask << shift)) | (v & mask) << shift; break;
        case b16: merge<uint16_t>(v, mask); break;
        case b32: merge<uint32_t>(v, mask); break;
        case b64: merge<uint64_t>(v, mask); break;
        case wide: {
            const unsigned __int128 m = static_cast<unsigned __int128>(mask) << shift;
            const unsigned __int128 all = (span() & ~m) | static_cast<unsigned __int128>(v & mask) << shift;
            memcpy(at, &all, words * 4);
            break;
        }
        case none: break;
        }
    }

    template <class T> T load() const { return *reinterpret_cast<const T*>(at); }
    template <class T> void merge(uint64_t v, uint64_t mask) const {
        *reinterpret_cast<T*>(at) = static_cast<T>((load<T>() & ~(mask << shift)) | (v & mask) << shift);
    }
    unsigned __int128 span() const {
        unsigned __int128 all = 0;
        memcpy(&all, at, words * 4);
        return all;
    }
};

#endif
