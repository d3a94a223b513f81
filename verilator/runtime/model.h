// A model: one instance of a design with its clocks and everything attached to them.
#ifndef LM_MODEL_H
#define LM_MODEL_H

#include "channel.h"
#include "link.h"
#include "record.h"

#include <memory>
#include <string>
#include <vector>

struct Clock {
    uint8_t* at;
    uint64_t period, high, next; // next: time of the next edge
    bool level = false;
    std::vector<Source> sources;
    std::vector<Sink> sinks;
    std::vector<LinkOut> outs;
    std::vector<LinkIn> ins;

    bool attached() const { return !(sources.empty() && sinks.empty() && outs.empty() && ins.empty()); }
};

class Model;

struct Host : lm_host {
    Model* model;
};

class Model : public lm_model {
public:
    const lm_design& design;
    void* top = nullptr;
    Host host;
    std::vector<Clock> clocks;
    uint64_t now = 0;
    std::unique_ptr<Recorder> recorder;
    bool tracing = false;
    bool linked = false; // to another model, so that it can only run in a network
    uint64_t next_edge = UINT64_MAX;

    Model(const lm_design&, const char* name, uint64_t seed, int argc, const char** argv);
    ~Model();
    Model(const Model&) = delete;

    bool alive() const { return top && host.stop != LM_DEAD; }
    void enter();
    int eval_now();
    void refresh(); // after the attachments, clocks, trace or recorder changed
    void touch() { dirty = true; }

    // Evaluates if an input may have changed.
    void settle() {
        if (!dirty) return;
        dirty = false;
        evaluate();
    }

    // What has to happen just before the next edge. Networks call it early, so that links carry this edge's values.
    void prepare();
    // Runs the edges at next_edge; returns the clocks that rose, a bit each.
    uint32_t edge();
    // Runs all edges before time end.
    void run_before(uint64_t end) {
        while (next_edge < end && host.stop < LM_FINISH) edge();
    }

    int run(int clock, uint64_t cycles, lm_condition*, int n);
    int step_plain();
    int finish_run(); // reports why the run ended and clears it
    bool plain() const;
    bool blocked(const Clock&, uint64_t cycles) const;
    int test(lm_condition*, int n) const;
    void watch(lm_condition*, int n) const;

    void print(const char* text, size_t bytes);
    void report(int kind, const char* file, int line, const char* message);
    void take_text();
    void dump_trace();

private:
    std::vector<void*> addresses;
    std::vector<uint64_t> counts;
    std::string printed, last_line, file, message;
    uint64_t id;
    bool dirty = true;
    bool prepared = false;

    void evaluate() {
        if (design.eval(top)) host.stop = LM_DEAD;
        if (recorder) recorder->note(now);
    }
    int run_plain(uint64_t cycles);
    void find_next();
};

#endif
