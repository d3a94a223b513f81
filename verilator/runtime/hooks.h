// What a design's code calls back into: the model that the calling thread is evaluating, its random numbers, and
// the exception that carries a fatal error out of Verilator's code, which would abort the process instead.
#ifndef LM_HOOKS_H
#define LM_HOOKS_H

#include "abi.h"

struct lm_hooks {
    lm_host* host;
    uint64_t random[2]; // xoroshiro128+ state: one a model, so that results do not depend on threads
};

extern __thread lm_hooks* lm_now;

struct lm_fatal {};

void lm_seed(lm_hooks& hooks, uint64_t seed);
int lm_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));

#endif
