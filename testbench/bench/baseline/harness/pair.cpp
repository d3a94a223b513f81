// Two network interfaces joined by their links, both hosts sending as fast as they may, driven by hand-written C++: the baseline of
// the figure sim_vs_cpp. Prints: clocks, payload bytes acknowledged, seconds.
#include <chrono>
#include "Vni_direct.h"
#include "host.h"
#include "verilated.h"

int main(int argc, char **argv) {
    const uint64_t clocks = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000000;
    const int payload = argc > 2 ? std::atoi(argv[2]) : 1500;
    const int page = argc > 3 ? std::atoi(argv[3]) : 2048;
    const int replay = argc > 4 ? std::atoi(argv[4]) : 8192;

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

    auto cycle = [&] {
        uint32_t out[2] = {a.line_tx, b.line_tx};
        for (int i = 0; i < 2; i++)
            ni[i]->line_rx = host[i].clock(out[i] & 0x1FF) | (out[1 - i] >> 9 & 0x1FF) << 9;
        for (int i = 0; i < 2; i++) { ni[i]->clk = 1; ni[i]->eval(); ni[i]->clk = 0; ni[i]->eval(); }
    };
    for (int i = 0; i < 2000; i++) cycle();
    for (auto &h : host) h.saturate(true);
    for (int i = 0; i < 20000; i++) cycle();
    const uint64_t before = host[0].bytes_freed() + host[1].bytes_freed();
    const auto start = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < clocks; i++) cycle();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double packets = double(host[0].bytes_freed() + host[1].bytes_freed() - before) / (payload + 7);
    std::printf("%llu %.0f %.6f\n", (unsigned long long)clocks, packets * payload, seconds);
}
