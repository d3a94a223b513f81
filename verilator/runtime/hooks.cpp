// Verilator's own runtime with the hooks of hooks.h in place of what would print, stop or abort.
#include <cstdint>

// Weak, so that the definitions at the end of this library win over Verilator's: its generator of random numbers
// belongs to a thread, ours to a model.
uint64_t vl_rand64() __attribute__((weak));

#define VL_USER_FINISH
#define VL_USER_STOP
#define VL_USER_FATAL
#define VL_USER_STOP_MAYBE
#define VL_USER_WARN
#define VL_PRINTF lm_printf
extern int lm_printf(const char* format, ...);
#include <cstdio>
namespace std {
FILE* lm_fopen(const char* path, const char* mode);
}
using std::lm_fopen; // Verilator calls it with and without its namespace
#define fopen lm_fopen
extern void vl_stop_maybe(const char* file, int line, const char* scope, bool maybe);
#include "verilated.cpp"
