// Networks of models; see network.cpp.
#ifndef LM_NETWORK_H
#define LM_NETWORK_H

#include "model.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

// Where all threads wait for the last one; they spin first, as quanta are short.
class Barrier {
    alignas(LM_LINE) std::atomic<int> arrived{0};
    alignas(LM_LINE) std::atomic<bool> released{false};
    const int threads;

public:
    explicit Barrier(int n) : threads{n} {}
    void wait(bool& sense); // sense is the caller's own, false at first
};

// Learns whether the calling thread is faster alone.
struct Pace {
    bool alone = false;
    bool trying = false; // the way that is not known or was worse
    void note(uint64_t quanta, double seconds);

private:
    double costs[2] = {0, 0}; // of a quantum with all threads, and alone
    uint64_t quanta = 0;
    double seconds = 0;
    int left = 0, patience = 16;
};

struct lm_network {
    lm_network(lm_model**, int n, int threads);
    ~lm_network();
    // Returns why the run ended, or -1 when a link between different clocks has latency 1.
    int run(int clock, uint64_t cycles, lm_condition**, const int* n_conditions);

private:
    std::vector<Model*> models;
    std::vector<size_t> share; // thread i begins with models share[i] to share[i+1]
    struct alignas(LM_LINE) Cursor {
        std::atomic<size_t> next;
    };
    std::vector<Cursor> cursors[2]; // by thread: the next of its models, for even and odd quanta
    std::vector<std::thread> workers;
    Barrier barrier;
    bool caller_sense = false;

    Pace pace;

    // The run in hand: quanta begin at grid, the next one ends before until, the last one holds the edge at end.
    uint64_t grid = 0, quantum = 0, end = 0, until = 0;
    uint64_t length = 0, done = 0; // quanta of the segment, and those that are over
    int counted = 0;
    lm_condition** conditions = nullptr;
    const int* n_conditions = nullptr;
    // Why to stop, for even and odd quanta: a fast thread may be one ahead.
    alignas(LM_LINE) std::atomic<int> stop[2];

    alignas(LM_LINE) std::atomic<uint64_t> order{0}; // runs begun
    std::mutex mutex;
    std::condition_variable wake;
    bool quit = false;

    bool plan(int clock);
    void serve(int me);
    int work(int me, bool* sense);
    template <class F> void each(int me, int turn, F f);
};

#endif
