// A host of the network interface, written by hand in C++: it brings the link up, sends WRITE packets as fast as SPACE allows, and
// acknowledges what comes back. It is the baseline that the Go-driven simulation is measured against, so it does what the Go side
// does in that measurement and nothing more: no replay, because the link is clean.
#pragma once
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace lmmc {

constexpr uint16_t IDLE = 0x1BC, SOP = 0x11C, EOP = 0x17C, LSW = 0x19C;

inline const std::array<uint32_t, 256> &crc32c_table() {
    static const auto table = [] {
        std::array<uint32_t, 256> t{};
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = i;
            for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0x82F63B78u : c >> 1;
            t[i] = c;
        }
        return t;
    }();
    return table;
}

inline uint16_t crc16(const uint8_t *p, int n) {
    uint16_t c = 0xFFFF;
    for (int i = 0; i < n; i++) {
        c ^= uint16_t(p[i] << 8);
        for (int k = 0; k < 8; k++) c = c & 0x8000 ? uint16_t(c << 1 ^ 0x1021) : uint16_t(c << 1);
    }
    return c;
}

class Host {
  public:
    Host(uint8_t epoch, int payload, int page_bytes, int replay_bytes)
        : epoch_(epoch), payload_(payload), limit_(replay_bytes - page_bytes - 8) {}

    uint64_t bytes_freed() const { return freed_total_; }
    void saturate(bool on) { saturate_ = on; }
    void write_register(uint16_t reg, uint32_t value) {
        uint8_t p[10] = {0x11, 7, 0, 0x42, uint8_t(reg), uint8_t(reg >> 8), uint8_t(value), uint8_t(value >> 8),
                         uint8_t(value >> 16), uint8_t(value >> 24)};
        queue_.insert(queue_.end(), p, p + 10);
        pending_.push_back(10);
    }

    // One clock: the symbol that arrived, the symbol to send.
    uint16_t clock(uint16_t in) {
        if (in != IDLE) receive(in);
        age_++;
        if (word_at_ == 0 && (urgent_ || (moved_ && (at_ == line_.size() || age_ > 512)) || age_ > 4096)) start_word();
        if (word_at_ > 0) {
            uint16_t s = word_[6 - word_at_];
            word_at_--;
            return s;
        }
        if (at_ == line_.size()) next_frame();
        return up_ && !peer_stop_ && at_ < line_.size() ? line_[at_++] : IDLE;
    }

  private:
    void start_word() {
        uint8_t b[3] = {uint8_t(up_ ? 0x00 : 0x80), up_ ? expected_ : epoch_, peer_epoch_};
        uint16_t c = crc16(b, 3);
        word_ = {LSW, b[0], b[1], b[2], uint16_t(c >> 8), uint16_t(c & 0xFF)};
        word_at_ = 6;
        urgent_ = moved_ = false;
        age_ = 0;
    }

    void next_frame() {
        if (!up_) return;
        std::vector<uint8_t> &p = packet_;
        p.clear();
        if (!pending_.empty()) {
            p.assign(queue_.begin(), queue_.begin() + pending_.front());
            queue_.erase(queue_.begin(), queue_.begin() + pending_.front());
            pending_.erase(pending_.begin());
        } else if (saturate_ && uint16_t(sent_bytes_ - freed_bytes_) <= limit_ && uint8_t(sent_packets_ - freed_packets_) < 120) {
            int length = payload_ + 4;
            uint32_t addr = 0;
            p = {uint8_t(1 << 5 | 1), uint8_t(length), uint8_t(length >> 8), uint8_t(addr), uint8_t(addr >> 8),
                 uint8_t(addr >> 16), uint8_t(addr >> 24)};
            for (int i = 0; i < payload_; i++) {
                rng_ = rng_ * 1664525u + 1013904223u;
                p.push_back(uint8_t(rng_ >> 24));
            }
            sent_bytes_ += uint16_t(p.size());
            sent_packets_++;
        } else {
            return;
        }
        line_.clear();
        at_ = 0;
        uint32_t c = 0xFFFFFFFFu;
        const auto &table = crc32c_table();
        auto put = [&](uint8_t b) {
            line_.push_back(b);
            c = c >> 8 ^ table[(c ^ b) & 0xFF];
        };
        line_.push_back(SOP);
        put(seq_++);
        for (uint8_t b : p) put(b);
        c = ~c;
        for (int i = 0; i < 4; i++) line_.push_back(uint8_t(c >> 8 * i));
        line_.push_back(EOP);
    }

    void receive(uint16_t s) {
        if (s == LSW) { in_word_ = 5; return; }
        if (in_word_ > 0) {
            got_[5 - in_word_] = uint8_t(s);
            if (--in_word_ == 0) take_word();
            return;
        }
        if (s == SOP) { frame_.clear(); in_frame_ = true; crc_ = 0xFFFFFFFFu; return; }
        if (s == EOP) { if (in_frame_) take_frame(); in_frame_ = false; return; }
        if (in_frame_) {
            frame_.push_back(uint8_t(s));
            crc_ = crc_ >> 8 ^ crc32c_table()[(crc_ ^ s) & 0xFF];
        }
    }

    void take_word() {
        if (crc16(got_, 3) != (got_[3] << 8 | got_[4])) return;
        int kind = got_[0] >> 6;
        if (kind == 2) peer_epoch_ = got_[1];
        if (got_[2] == epoch_ && peer_epoch_) { urgent_ |= !up_; up_ = true; } else if (kind == 2) urgent_ = true;
        peer_stop_ = got_[0] & 0x20;
    }

    void take_frame() {
        if (frame_.size() < 8 || crc_ != 0xB798B438u || frame_[0] != expected_) {
            std::fprintf(stderr, "baseline: bad frame on a clean link\n");
            std::exit(1);
        }
        expected_++;
        moved_ = true;
        if ((frame_[1] & 0x1F) == 0x1D) {
            uint16_t freed = uint16_t(frame_[4] | frame_[5] << 8);
            freed_total_ += uint16_t(freed - freed_bytes_);
            freed_bytes_ = freed;
            freed_packets_ = frame_[6];
        }
    }

    uint8_t epoch_, peer_epoch_ = 0, expected_ = 0, seq_ = 0;
    bool up_ = false, peer_stop_ = false, urgent_ = true, moved_ = false, saturate_ = false, in_frame_ = false;
    int payload_, word_at_ = 0, in_word_ = 0;
    int limit_;
    uint32_t age_ = 0, rng_ = 1, crc_ = 0;
    uint16_t sent_bytes_ = 0, freed_bytes_ = 0;
    uint8_t sent_packets_ = 0, freed_packets_ = 0;
    uint64_t freed_total_ = 0;
    std::array<uint16_t, 6> word_{};
    uint8_t got_[5]{};
    std::vector<uint8_t> queue_, packet_, frame_;
    std::vector<int> pending_;
    std::vector<uint16_t> line_;
    size_t at_ = 0;
};

}  // namespace lmmc
