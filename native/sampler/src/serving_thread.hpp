// A thread of a sampler: begins, is told to end, and hands its failure to whom waits for it.

#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <utility>

namespace steelyard {

/// A thread of a sampler that serves until it is told to end, and keeps what went wrong in it. What
/// it uses outlives it where it is the last member.
class ServingThread {
  public:
    ServingThread() : ending_(eventfd(0, EFD_CLOEXEC)) {}
    ~ServingThread() {
        end();
        close(ending_);
    }
    ServingThread(const ServingThread&) = delete;
    ServingThread& operator=(const ServingThread&) = delete;

    /// Readable from when the thread has to end.
    int ending() const { return ending_; }

    /// Serve until `ending` is readable.
    template <class Serve>
    void start(Serve serve) {
        thread_ = std::thread([this, serve = std::move(serve)] {
            try {
                serve();
            } catch (...) {
                failure_ = std::current_exception();
                has_failed_ = true;
            }
        });
    }

    /// Let it end, and wait for that.
    void end() {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = write(ending_, &one, sizeof one);
        if (thread_.joinable())
            thread_.join();
    }

    /// The same; throws what the thread threw.
    void stop() {
        end();
        if (failure_)
            std::rethrow_exception(failure_);
    }

    bool failed() const { return has_failed_; }

  private:
    int ending_;
    std::exception_ptr failure_;
    std::atomic<bool> has_failed_ = false;
    std::thread thread_;
};

}  // namespace steelyard
