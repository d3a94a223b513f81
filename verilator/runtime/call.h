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
static inline void lm_take_text(const lm_engine* e, lm_model* m) { e->take_text(m); }
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

#endif
