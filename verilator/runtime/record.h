// The recorder of what goes into a model, so that its last stretch can be run again with waves.
//
// A log holds, for every evaluation, the signals inside that were set before, the inputs that changed and for some of them a hash of all outputs. It is cut into segments, each
// beginning with a checkpoint; the last two are kept, so that there is always at least one interval to replay.
//
// A model with one clock whose falling edge is silent takes a short way: inputs are compared once a cycle, and edges of the clock are known.
#ifndef LM_RECORD_H
#define LM_RECORD_H

#include "abi.h"

#include <cstdlib>
#include <memory>
#include <vector>

// The outputs of a model, for comparing.
class Outputs {
    struct Part {
        const uint8_t* at;
        size_t bytes;
    };
    std::vector<Part> parts;

public:
    Outputs(const lm_design&, void* const* memory);
    uint32_t hash() const; // never 0, which stands for none
};

class Recorder {
public:
    Recorder(const lm_design&, void* top, void* const* memory, uint64_t interval);
    // Starts the first segment; false when the design cannot save its state.
    bool begin(uint64_t now) {
        segments[1] = Segment{};
        pokes.clear();
        return checkpoint(now);
    }
    // An evaluation has just happened.
    void note(uint64_t now);
    // The clock, a port, has just risen, and everything else is as it was noted.
    void rose(uint64_t now, int clock);
    // It has just fallen; inputs may have changed since an edge.
    void fell(uint64_t edge, uint64_t now, int clock);
    // A signal inside has been set.
    void poke(uint32_t port, size_t offset, const uint8_t* from, size_t n);
    // A recording of what is kept, malloc'ed.
    void take(uint8_t** bytes, size_t* size) const;
    bool failed() const { return broken; }

private:
    struct Small { // an input of up to 8 bytes
        const uint8_t* at;
        uint64_t old;
        uint32_t port;
    };
    struct Wide {
        uint32_t port;
        const uint8_t* at;
        size_t bytes, shadow;
    };
    struct Segment {
        std::vector<uint8_t> state, log; // the log has room at its end
        size_t used = 0;
        uint64_t from = 0;
    };

    const lm_design& design;
    void* top;
    uint64_t interval, evaluations = 0, last = 0, edges = 0;
    size_t most = 32; // bytes of an entry
    std::vector<Small> small[4]; // of 1, 2, 4 and 8 bytes
    std::vector<Wide> wide;
    std::vector<uint8_t> shadow, pokes; // pokes: since the last evaluation, as in the log
    Outputs outputs;
    Segment segments[2]; // the older first
    bool broken = false;

    bool checkpoint(uint64_t now);
    uint8_t* room(); // for an entry
    void end(const uint8_t* p) { segments[1].used = p - segments[1].log.data(); }
    void level(uint64_t now, int clock, uint8_t value, uint32_t hash);
    uint8_t* changes(uint8_t* p);
    Small* find(int port);
    template <class T> uint8_t* changes(std::vector<Small>&, uint8_t* p);
    Small* clock_input = nullptr;
};


#endif
