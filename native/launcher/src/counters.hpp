// Counts hardware and software events of perf_event_open(2) over one program and all that it
// starts.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steelyard {

/// What one counter counted, scaled up for the time in which it shared the hardware.
struct Count {
    std::int64_t value;
    std::int64_t enabled_ns;
    std::int64_t running_ns;
    bool kernel;  ///< whether time in the kernel was counted too
};

/// `raw` times `enabled_ns` / `running_ns`, rounded; nothing where it never ran.
std::optional<std::int64_t> scaled_count(std::uint64_t raw, std::uint64_t enabled_ns,
                                         std::uint64_t running_ns);

/// Performance counters over one program and all that it starts.
///
/// They are opened on the launcher, disabled; the child inherits them and execve(2) switches
/// them on, so that they count the program alone and from its first instruction.
class Counters {
  public:
    Counters() = default;
    Counters(const Counters&) = delete;
    Counters& operator=(const Counters&) = delete;
    ~Counters();

    /// Adds the counter that perf(1) calls `name`. Throws Fatal where there is none such.
    void add(std::string_view name);

    bool empty() const { return counters_.empty(); }

    /// Opens all of them, for one trial.
    void open();

    /// Reads and closes them.
    void read();

    std::size_t size() const { return counters_.size(); }
    std::string_view name(std::size_t index) const { return counters_[index].name; }

    /// The last count; nothing where the machine lacks the counter or it never ran.
    const std::optional<Count>& count(std::size_t index) const { return counters_[index].count; }

  private:
    enum class Access { untried, everything, user_only, none };

    struct Counter {
        std::string_view name;
        std::uint32_t type;
        std::uint64_t config;
        bool needs_kernel;
        Access access = Access::untried;
        int file = -1;
        std::optional<Count> count;
    };

    static void open(Counter& counter);
    static int open_with(const Counter& counter, bool kernel);

    std::vector<Counter> counters_;
};

}  // namespace steelyard
