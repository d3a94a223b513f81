// A model: one instance of a design with its clocks and everything attached to them.
#ifndef LM_MODEL_H
#define LM_MODEL_H

#include "channel.h"
#include "link.h"
#include "record.h"
#include "watch.h"

#include <memory>
#include <string>
#include <vector>

// Apart from each other in memory, as neighbours may run on other threads.
struct alignas(LM_LINE) Clock {
    uint8_t* at;
    uint64_t period, high, next; // next: time of the next edge
    bool level = false;
    bool attached = false; // to anything of the following
    int port;
    std::vector<Source> sources;
    std::vector<Sink> sinks;
    std::vector<Watch> watches;
    std::vector<LinkOut> outs;
    std::vector<LinkIn> ins;

    uint64_t rising() const { return level ? next + period - high : next; }

    // The two halves of channels and links: before a rising edge, and after it.
    void sample(uint64_t cycle);
    void drive(uint64_t now);
};

class Model;

struct Host : lm_host {
    Model* model;
};

class alignas(LM_LINE) Model : public lm_model {
public:
    const lm_design& design;
    void* top = nullptr;
    Host host;
    std::vector<Clock> clocks;
    uint64_t now = 0;
    std::unique_ptr<Recorder> recorder;
    bool tracing = false;
    uint64_t next_edge = UINT64_MAX; // or event of a design with delays

    Model(const lm_design&, const char* name, uint64_t seed, int argc, const char** argv);
    ~Model();
    Model(const Model&) = delete;

    bool alive() const { return top && host.stop != LM_DEAD; }
    void enter();
    int eval_now();
    int poke(int port, size_t offset, const uint8_t* from, size_t n);
    void refresh(); // after the attachments, clocks, trace or recorder changed

    // Evaluates if an input may have changed.
    void settle() {
        if (!dirty) return;
        dirty = false;
        evaluate();
    }

    // What has to happen just before the next edge. Networks call it early, so that links carry this edge's values.
    void prepare() {
        if (!prepared) prepare_clocks();
    }
    // Runs the edges at next_edge; returns the clocks that rose, a bit each.
    uint32_t edge();

    // For networks: the start of a run, the edges before time until, and whether a sink that cannot refuse may
    // overflow in the time [from, until).
    void begin(lm_condition*, int n);
    void quantum(uint64_t until, int clock, lm_condition*, int n);
    bool full(uint64_t from, uint64_t until) { return until > roomy && full_now(from, until); }

    int save(uint8_t** bytes, size_t* size);
    int restore(const uint8_t* bytes, size_t size);
    int replay(const uint8_t* bytes, size_t size, const uint8_t* texts, size_t texts_size, const char* path,
               uint64_t* from, uint64_t* to, uint64_t* differs_at);

    int run(int clock, uint64_t cycles, lm_condition*, int n);
    int run_to(uint64_t time, bool wait);
    int step_plain();
    int finish_run(); // reports why the run ended and clears it
    int test(lm_condition*, int n) const;
    void watch(lm_condition*, int n) const;

    void print(const char* text, size_t bytes);
    void report(int kind, const char* file, int line, const char* message);
    void note_read(const char* file);
    void take_news();
    void dump_trace();

private:
    bool dirty = true;
    bool fresh = true; // never evaluated: initial blocks have not run
    bool prepared = false;
    bool single = false; // one clock, no delays, and nobody traces
    bool silent = false; // and its falling edge does nothing
    lm_burst burst{};
    std::vector<lm_lane> lanes; // empty when bursts are not for this model
    uint64_t roomy = 0;  // no sink overflows before this time
    uint64_t id;
    uint64_t counts[32] = {};
    std::vector<void*> addresses;
    std::string printed, opened, last_line, file, message;

    void evaluate() {
        fresh = false;
        if (design.eval(top)) host.stop = LM_DEAD;
        if (recorder) recorder->note(now);
    }
    void prepare_clocks();
    void rise();
    void fall();
    bool plain() const { return single && !recorder && !clocks[0].attached; }
    bool blocked(const Clock&);
    bool full_now(uint64_t from, uint64_t until);
    int run_plain(uint64_t cycles);
    void plan_burst();
    bool lend(uint64_t until);
    bool run_burst(uint64_t until);
    void find_next();
};

#endif
