// Reads the samples that a program with marked calls takes of itself.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "mark_ring.hpp"
#include "sample_record.hpp"

namespace steelyard {

class MarkReader {
  public:
    /// Throws Fatal where the file is no ring.
    explicit MarkReader(const std::string& path);
    ~MarkReader();
    MarkReader(const MarkReader&) = delete;
    MarkReader& operator=(const MarkReader&) = delete;

    /// Calls `take` with each sample since the last call. One that is being written is waited for,
    /// unless more than so many came behind it: its thread was ended then.
    template <typename Take>
    void drain(Take take) {
        const std::uint64_t end = ring_->taken;
        if (end - read_ > mark_ring_places) {
            lost_ += end - read_ - mark_ring_places;
            read_ = end - mark_ring_places;
        }
        for (; read_ < end; ++read_) {
            Sample sample;
            if (take_record(sample))
                take(sample);
            else if (end - read_ <= most_unfinished)
                return;
            else
                ++lost_;
        }
    }

    std::uint64_t lost() const { return lost_; }
    std::uint64_t before_ns() const { return ring_->before_ns; }
    std::uint64_t programs() const { return ring_->programs; }
    std::uint64_t unwatched() const { return ring_->unwatched; }
    /// Why a thread could not be sampled, as an errno; 0: all could.
    int error() const { return static_cast<int>(ring_->error); }
    bool has_taken_signal() const { return ring_->took_signal != 0; }

  private:
    static constexpr std::uint64_t most_unfinished = 1024;

    bool take_record(Sample& sample) const;

    MarkRing* ring_;
    std::span<MarkRecord> records_;
    std::uint64_t read_ = 0;
    std::uint64_t lost_ = 0;
};

}  // namespace steelyard
