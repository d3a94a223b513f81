// The hooks themselves.
#include "hooks.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

__thread lm_hooks* lm_now = nullptr;

static uint64_t splitmix(uint64_t& state) {
    uint64_t z = (state += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

void lm_seed(lm_hooks& hooks, uint64_t seed) {
    hooks.random[0] = splitmix(seed);
    hooks.random[1] = splitmix(seed) | 1;
}

uint64_t vl_rand64() {
    static lm_hooks nobody = {nullptr, {1, 2}};
    uint64_t* const s = lm_now ? lm_now->random : nobody.random;
    const uint64_t a = s[0], b = s[0] ^ s[1], result = s[0] + s[1];
    s[0] = (a << 24 | a >> 40) ^ b ^ b << 16;
    s[1] = b << 37 | b >> 27;
    return result;
}

int lm_printf(const char* format, ...) {
    va_list args;
    char* text = nullptr;
    va_start(args, format);
    const int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0) return n;
    if (lm_now && lm_now->host) lm_now->host->print(lm_now->host, text, static_cast<size_t>(n));
    free(text);
    return n;
}

// Every file that a design opens.
namespace std {
FILE* lm_fopen(const char* path, const char* mode) {
    if (*mode == 'r' && lm_now && lm_now->host) lm_now->host->reads(lm_now->host, path);
    return fopen(path, mode);
}
} // namespace std

static void halt(int kind, const char* file, int line, const char* message) {
    if (lm_now && lm_now->host) lm_now->host->halt(lm_now->host, kind, file, line, message);
}

// Names and signatures that Verilator calls.
void vl_finish(const char* file, int line, const char*) { halt(LM_FINISH, file, line, "$finish"); }
void vl_stop(const char* file, int line, const char*) { halt(LM_STOP, file, line, "$stop"); }
void vl_stop_maybe(const char* file, int line, const char*, bool) { halt(LM_STOP, file, line, "$stop"); }
void vl_warn(const char* file, int line, const char*, const char* message) {
    lm_printf("%%Warning: %s:%d: %s\n", file, line, message);
}
void vl_fatal(const char* file, int line, const char*, const char* message) {
    halt(LM_DEAD, file, line, message);
    throw lm_fatal{};
}
