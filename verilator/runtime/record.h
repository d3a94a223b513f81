// The recorder of what goes into a model, so that its last stretch can be run again with waves.
//
// A log holds, for every evaluation, the signals inside that were set before, the inputs that changed and a hash of all outputs. It is cut into segments, each
// beginning with a checkpoint; the last two are kept, so that there is always at least one interval to replay.
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
    uint32_t hash() const;
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
    // A signal inside has been set.
    void poke(uint32_t port, size_t offset, const uint8_t* from, size_t n);
    // A recording of what is kept, malloc'ed.
    void take(uint8_t** bytes, size_t* size) const;
    bool failed() const { return broken; }

private:
    struct Input {
        uint32_t port;
        const uint8_t* at;
        size_t bytes, shadow;
    };
    struct Segment {
        std::vector<uint8_t> state, log;
        uint64_t from = 0;
    };

    const lm_design& design;
    void* top;
    uint64_t interval, evaluations = 0, last = 0;
    std::vector<Input> inputs;
    std::vector<uint8_t> shadow, pokes; // pokes: since the last evaluation, as in the log
    Outputs outputs;
    Segment segments[2]; // the older first
    bool broken = false;

    bool checkpoint(uint64_t now);
};


#endif
