/* What cgo calls: dlopen, dlsym and the functions of the two tables, which cgo cannot call through a pointer. */
#ifndef LM_CALL_H
#define LM_CALL_H

#include "abi.h"

#include <dlfcn.h>
#include <stdlib.h>

static inline void* lm_open(const char* path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static inline const char* lm_open_error(void) { return dlerror(); }
static inline void* lm_find(void* library, const char* name) { return dlsym(library, name); }

static inline int lm_step(lm_model* m) { return m->step(m); }

static inline lm_model* lm_model_new(const lm_engine* e, const lm_design* d, const char* name, uint64_t seed, int argc,
                                     const char** argv) {
    return e->model_new(d, name, seed, argc, argv);
}
static inline void lm_model_free(const lm_engine* e, lm_model* m) { e->model_free(m); }
static inline void lm_take_news(const lm_engine* e, lm_model* m) { e->take_news(m); }
static inline int lm_clock_add(const lm_engine* e, lm_model* m, int port, uint64_t period, uint64_t phase) {
    return e->clock_add(m, port, period, phase);
}
static inline int lm_eval(const lm_engine* e, lm_model* m) { return e->eval(m); }
static inline int lm_run(const lm_engine* e, lm_model* m, int clock, uint64_t cycles, lm_condition* c, int n) {
    return e->run(m, clock, cycles, c, n);
}
static inline lm_ring* lm_channel_add(const lm_engine* e, lm_model* m, const lm_channel* c) {
    return e->channel_add(m, c);
}
static inline uint64_t lm_next_event(const lm_engine* e, const lm_model* m) { return e->next_event(m); }
static inline int lm_run_to(const lm_engine* e, lm_model* m, uint64_t time, int wait) { return e->run_to(m, time, wait); }
static inline int lm_end_run(const lm_engine* e, lm_model* m) { return e->end_run(m); }

static inline int lm_trace_open(const lm_engine* e, lm_model* m, const char* path) { return e->trace_open(m, path); }
static inline void lm_trace_scope(const lm_engine* e, lm_model* m, int levels, const char* path) {
    e->trace_scope(m, levels, path);
}
static inline int lm_trace_close(const lm_engine* e, lm_model* m) { return e->trace_close(m); }
static inline int lm_save(const lm_engine* e, lm_model* m, uint8_t** bytes, size_t* size) {
    return e->save(m, bytes, size);
}
static inline int lm_restore(const lm_engine* e, lm_model* m, const uint8_t* bytes, size_t size) {
    return e->restore(m, bytes, size);
}
static inline int lm_coverage(const lm_engine* e, lm_model* m, const char* path) { return e->coverage(m, path); }

static inline int lm_poke(const lm_engine* e, lm_model* m, int port, size_t offset, const uint8_t* from, size_t n) {
    return e->poke(m, port, offset, from, n);
}

static inline int lm_record_start(const lm_engine* e, lm_model* m, uint64_t interval) {
    return e->record_start(m, interval);
}
static inline int lm_record_take(const lm_engine* e, lm_model* m, uint8_t** bytes, size_t* size) {
    return e->record_take(m, bytes, size);
}
typedef struct lm_replayed {
    uint64_t from, to, differs_at;
} lm_replayed;
static inline int lm_replay(const lm_engine* e, lm_model* m, const uint8_t* bytes, size_t size, const uint8_t* texts,
                            size_t texts_size, const char* path, lm_replayed* r) {
    return e->replay(m, bytes, size, texts, texts_size, path, &r->from, &r->to, &r->differs_at);
}

static inline lm_link* lm_link_add(const lm_engine* e, lm_model* from, lm_model* to, const lm_link_config* c) {
    return e->link_add(from, to, c);
}
static inline void lm_link_rate(const lm_engine* e, lm_link* l, double rate) { e->link_rate(l, rate); }
static inline void lm_link_fault(const lm_engine* e, lm_link* l, const lm_fault* f) { e->link_fault(l, f); }
static inline void lm_link_plug(const lm_engine* e, lm_link* l, int plugged, uint64_t value) {
    e->link_plug(l, plugged, value);
}
static inline void lm_link_count(const lm_engine* e, const lm_link* l, lm_link_stats* s) { e->link_stats(l, s); }

static inline uint64_t lm_link_put(const lm_engine* e, lm_link* l, const uint64_t* values, uint64_t n) {
    return e->link_put(l, values, n);
}
static inline int lm_link_save(const lm_engine* e, const lm_link* l, uint8_t** bytes, size_t* size) {
    return e->link_save(l, bytes, size);
}
static inline int lm_link_restore(const lm_engine* e, lm_link* l, const uint8_t* bytes, size_t size) {
    return e->link_restore(l, bytes, size);
}
static inline uint64_t lm_link_take(const lm_engine* e, lm_link* l, uint64_t* values, uint64_t n) {
    return e->link_take(l, values, n);
}

static inline lm_network* lm_network_new(const lm_engine* e, lm_model** models, int n, int threads) {
    return e->network_new(models, n, threads);
}
static inline void lm_network_free(const lm_engine* e, lm_network* n) { e->network_free(n); }
static inline int lm_network_run(const lm_engine* e, lm_network* n, int clock, uint64_t cycles,
                                 lm_condition** conditions, const int* n_conditions) {
    return e->network_run(n, clock, cycles, conditions, n_conditions);
}

#endif
