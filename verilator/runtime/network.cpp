// Networks: models that run in lock-step on several threads.
//
// Threads meet at a barrier once a quantum. Within one no model may need a sample of a link that another model has not
// taken yet. A receiver at time t uses samples of the sender's edges up to t - delay, delay = (latency - 1) periods.
//
// When all links between models share one clock, quanta begin at its edges and last the least latency: the samples for
// an edge are taken as soon as the model has settled before it (Model::prepare), so at the start of a quantum those of
// its first edge exist already. Otherwise quanta last the least delay, which must then not be 0.
//
// Which thread runs which model is of no consequence. So a thread that has run its share takes what is left of the others', and the engine is free to let the
// calling thread run all of them.
// It does when that is measured to be faster: when models are few and small, or when other programs keep the
// processors busy, so that every quantum would wait for a thread that has been put aside.
#include "network.h"

#include <algorithm>
#include <chrono>

namespace {

constexpr uint64_t most_cycles = 1024; // a quantum without links
constexpr uint64_t segment = 128;      // quanta between decisions for one or all threads
constexpr uint64_t trial = 32;         // quanta of a look at the other way
constexpr int most_patience = 64;      // segments between such looks

inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

} // namespace

void Barrier::wait(bool& sense) {
    sense = !sense;
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
        arrived.store(0, std::memory_order_relaxed);
        released.store(sense, std::memory_order_release);
        return;
    }
    for (int spins = 0; released.load(std::memory_order_acquire) != sense; ++spins) {
        if (spins < 2000)
            relax();
        else
            std::this_thread::yield();
    }
}

lm_network::lm_network(lm_model** list, int n, int t) : barrier{t} {
    for (int i = 0; i < n; ++i) models.push_back(static_cast<Model*>(list[i]));
    for (int i = 0; i <= t; ++i) share.push_back(static_cast<size_t>(n) * i / t);
    for (std::vector<Cursor>& of : cursors) of = std::vector<Cursor>(t);
    for (int i = 1; i < t; ++i) workers.emplace_back([this, i] { serve(i); });
}

lm_network::~lm_network() {
    {
        const std::lock_guard<std::mutex> lock{mutex};
        quit = true;
    }
    wake.notify_all();
    for (std::thread& w : workers) w.join();
}

void lm_network::serve(int me) {
    bool sense = false;
    for (uint64_t seen = 0;;) {
        // A run often follows the last at once: look before sleeping.
        for (int spins = 0; spins < 2000 && order.load(std::memory_order_acquire) == seen; ++spins) relax();
        if (order.load(std::memory_order_acquire) == seen) {
            std::unique_lock<std::mutex> lock{mutex};
            wake.wait(lock, [&] { return quit || order.load(std::memory_order_acquire) != seen; });
            if (quit) return;
        }
        ++seen;
        work(me, &sense);
    }
}

// Finds the quantum; returns false when a link forbids any.
bool lm_network::plan(int clock) {
    const Clock& first = models[0]->clocks[clock];
    grid = UINT64_MAX;
    uint64_t period = 0, least_latency = most_cycles, least_delay = UINT64_MAX;
    bool aligned = true;
    for (const Model* m : models) {
        for (const Clock& c : m->clocks) {
            for (const LinkIn& in : c.ins) {
                const lm_link& l = in.get();
                if (!l.in_network) continue;
                const Clock& from = l.sender ? l.sender->clocks[l.sender_clock] : c;
                const uint64_t edge = from.rising();
                if (!period) period = from.period, grid = edge;
                aligned = aligned && from.period == period && edge == grid && c.period == period && c.rising() == edge;
                least_latency = std::min(least_latency, l.latency);
                least_delay = std::min(least_delay, l.delay);
            }
        }
    }
    if (!period) {
        grid = first.rising();
        quantum = most_cycles * first.period;
    } else if (aligned) {
        quantum = least_latency * period;
    } else {
        grid = UINT64_MAX;
        for (const Model* m : models) grid = std::min(grid, m->next_edge);
        quantum = std::min(least_delay, most_cycles * period);
    }
    // A sink that cannot say no must have room for all of a quantum.
    for (const Model* m : models)
        for (const Clock& c : m->clocks)
            for (const Sink& s : c.sinks)
                if (!s.can_refuse()) quantum = std::min(quantum, std::max(s.ring->mask / 2, uint64_t{1}) * c.period);
    if (aligned && period) quantum = std::max(quantum / period, uint64_t{1}) * period;
    return quantum > 0;
}

int lm_network::run(int clock, uint64_t cycles, lm_condition** list, const int* n) {
    if (!plan(clock)) return -1;
    if (!cycles) return LM_RUNNING;
    const Clock& first = models[0]->clocks[clock];
    end = first.rising() + (cycles - 1) * first.period;
    for (Model* m : models)
        if (m->full(std::min(m->now, grid), std::min(grid + quantum, end + 1))) return LM_FULL;
    counted = clock;
    conditions = list;
    n_conditions = n;
    for (size_t i = 0; i < models.size(); ++i) models[i]->begin(list[i], n[i]);
    stop[0] = stop[1] = LM_RUNNING;
    until = std::min(grid, end + 1); // to the first edge of the grid, so that links are primed
    int why = LM_RUNNING;
    do {
        const bool alone = workers.empty() || pace.alone;
        const auto began = std::chrono::steady_clock::now();
        done = 0;
        length = pace.trying ? trial : segment;
        if (alone) {
            why = work(0, nullptr);
        } else {
            for (std::vector<Cursor>& of : cursors)
                for (size_t i = 0; i < of.size(); ++i) of[i].next = share[i];
            {
                const std::lock_guard<std::mutex> lock{mutex};
                order.fetch_add(1, std::memory_order_release);
            }
            wake.notify_all();
            why = work(0, &caller_sense);
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
        pace.note(done, took.count());
    } while (!why && until <= end + 1);
    return why;
}

// Calls f for the models that a thread runs in a quantum: those of its share, and then what is left of the others'.
template <class F> void lm_network::each(int me, int turn, F f) {
    const size_t threads = cursors[turn].size();
    // Of the next quantum; all threads have done with the last one, which had the same cursors.
    cursors[turn ^ 1][me].next.store(share[me], std::memory_order_relaxed);
    for (size_t k = 0; k < threads; ++k) {
        const size_t of = (me + k) % threads;
        for (size_t i; (i = cursors[turn][of].next.fetch_add(1, std::memory_order_relaxed)) < share[of + 1];) f(i);
    }
}

// Runs models for a segment, or to the end of the run. Without sense no other thread takes part.
int lm_network::work(int me, bool* sense) {
    uint64_t now = until, next = now, quanta = 0;
    int why = LM_RUNNING;
    for (int turn = 0;; turn ^= 1) {
        next = now > end ? now : std::min(now + quantum, end + 1);
        const auto run = [&](size_t i) {
            Model& m = *models[i];
            m.quantum(now, counted, conditions[i], n_conditions[i]);
            if (now <= end && m.alive()) m.prepare();
            why = std::max(why, static_cast<int>(m.host.stop));
            if (why < LM_FULL && m.full(now, next)) why = LM_FULL;
        };
        if (sense)
            each(me, turn, run);
        else
            for (size_t i = 0; i < models.size(); ++i) run(i);
        if (sense) {
            std::atomic<int>& shared = stop[turn];
            for (int seen = shared; why > seen && !shared.compare_exchange_weak(seen, why);) {}
            barrier.wait(*sense);
            why = shared.load(std::memory_order_relaxed);
        }
        const bool last = why || now > end || ++quanta == length;
        const bool ended = now > end;
        now = next;
        if (!last) continue;
        if (sense) barrier.wait(*sense); // the caller may change everything once it goes on
        if (me == 0) {
            until = ended ? end + 2 : now;
            done = quanta;
        }
        return why;
    }
}

// Looks at the other way again now and then, the less often the longer it stays the worse one.
void Pace::note(uint64_t n, double took) {
    quanta += n;
    seconds += took;
    if (quanta < (trying ? trial : segment)) return;
    const double cost = seconds / static_cast<double>(quanta);
    quanta = 0;
    seconds = 0;
    const bool first = !costs[alone];
    // One thread that is put aside once does not prove anything.
    double& mean = costs[alone];
    mean = first || trying ? cost : 0.75 * mean + 0.25 * std::min(cost, 2 * mean);
    const bool better = costs[1] && costs[1] < costs[0];
    if (first || trying) {
        patience = !first && better != alone ? std::min(2 * patience, most_patience) : 16;
        trying = first && !alone; // the one way is known now, the other is next
        alone = trying || better;
        left = patience;
    } else if (--left <= 0) {
        trying = true;
        alone = !alone;
    }
}
