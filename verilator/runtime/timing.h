// What generated code with delays includes of Verilator's runtime, with two changes.
#ifdef __cpp_impl_coroutine
#include <algorithm>
#include <cstdlib>

namespace std {
// A coroutine that throws would abort the program: a fatal error leaves it as it leaves other code.
[[noreturn]] inline void lm_rethrow() { throw; }

// Verilator before 5.020 keeps delays in a heap, which gives those that end at the same time any order: a sorted queue gives them that in which they began.
template <class I> void lm_push_heap(I first, I last) {
    rotate(upper_bound(first, last - 1, *(last - 1), [](const auto& a, const auto& b) { return b < a; }), last - 1, last);
}
template <class I> void lm_pop_heap(I first, I last) { rotate(first, first + 1, last); }
} // namespace std

#define abort lm_rethrow
#define push_heap lm_push_heap
#define pop_heap lm_pop_heap
#include "verilated_timing.h"
#ifdef LM_TIMING_IMPL
#include "verilated_timing.cpp"
#endif
#undef abort
#undef push_heap
#undef pop_heap
#endif
