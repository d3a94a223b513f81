// Two network interfaces joined by their links, both hosts sending as fast as they may, driven by hand-written C++: the baseline of
// the figure sim_vs_cpp. Prints: clocks, payload bytes acknowledged, seconds of CPU time.
#include <ctime>
#include "Vni_direct.h"
#include "host.h"
#include "verilated.h"

static double cpu_seconds() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

int main(int argc, char **argv) {
    const uint64_t clocks = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000000;
    const int payload = argc > 2 ? std::atoi(argv[2]) : 1500;
    const int page = argc > 3 ? std::atoi(argv[3]) : 2048;
    const int replay = argc > 4 ? std::atoi(argv[4]) : 8192;
    const int cable = argc > 5 ? std::atoi(argv[5]) : 1;  // 1 to 64

    VerilatedContext context;
    Vni_direct a(&context, "a"), b(&context, "b");
    Vni_direct *ni[2] = {&a, &b};
    lmmc::Host host[2] = {{0x31, payload, page, replay}, {0x77, payload, page, replay}};
    const uint32_t idle = lmmc::IDLE << 9 | lmmc::IDLE;
    for (auto *n : ni) { n->rst = 1; n->clk = 0; n->line_rx = idle; }
    for (int i = 0; i < 64; i++)
        for (int edge = 0; edge < 2; edge++)
            for (auto *n : ni) { n->clk = edge; n->eval(); }
    for (auto *n : ni) n->rst = 0;
    for (auto &h : host) h.write_register(0x400, 0x80000001u);

    // The cable: what leaves one side arrives at the other `cable` clocks later.
    uint16_t wire[2][64];
    for (auto &w : wire)
        for (auto &s : w) s = lmmc::IDLE;
    int now = 0;
    auto cycle = [&] {
        uint32_t out[2] = {a.line_tx, b.line_tx};
        const int then = (now + cable - 1) % 64;
        for (int i = 0; i < 2; i++) wire[i][then] = out[i] >> 9 & 0x1FF;
        for (int i = 0; i < 2; i++) ni[i]->line_rx = host[i].clock(out[i] & 0x1FF) | uint32_t(wire[1 - i][now]) << 9;
        now = (now + 1) % 64;
        for (int i = 0; i < 2; i++) { ni[i]->clk = 1; ni[i]->eval(); ni[i]->clk = 0; ni[i]->eval(); }
    };
    for (int i = 0; i < 2000; i++) cycle();
    for (auto &h : host) h.saturate(true);
    for (int i = 0; i < 20000; i++) cycle();
    const uint64_t before = host[0].bytes_freed() + host[1].bytes_freed();
    const double start = cpu_seconds();
    for (uint64_t i = 0; i < clocks; i++) cycle();
    const double seconds = cpu_seconds() - start;
    const double packets = double(host[0].bytes_freed() + host[1].bytes_freed() - before) / (payload + 7);
    std::printf("%llu %.0f %.6f\n", (unsigned long long)clocks, packets * payload, seconds);
}
