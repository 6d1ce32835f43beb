// Which looks at a program copy its stack: a small program in the kernel (BPF) knows the places
// that are believed, and drops a look there before anything is copied.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace steelyard {

/// Where a look was: the instruction, and how high the stack.
struct LookPlace {
    std::uint64_t stack_pointer = 0;
    std::uint64_t address = 0;
};

/// What became of looks.
struct FilteredLooks {
    std::uint64_t all = 0;
    std::uint64_t spared = 0;     ///< at places that are believed
    std::uint64_t checked = 0;    ///< at such places, copied nevertheless
    std::uint64_t elsewhere = 0;  ///< in code that nothing is asked of
};

class WalkFilter {
  public:
    /// `check_ratio`: the part of the looks at believed places that is copied, drawn for each of
    /// them. Null where this kernel or this user has no such programs: all looks are copied then.
    static std::unique_ptr<WalkFilter> make(double check_ratio);
    /// The other way about: stacks are copied at believed places alone, by one of two events that
    /// look at the same thread; the other has all other looks. Null as of `make`.
    static std::unique_ptr<WalkFilter> make_parting();
    ~WalkFilter();
    WalkFilter(const WalkFilter&) = delete;
    WalkFilter& operator=(const WalkFilter&) = delete;

    /// Asks before each sample of an event. Whether the kernel took that.
    bool attach(int event_file) const;
    /// The same of the event that copies nothing, and has the looks that the first has not; of a
    /// filter that parts them.
    bool attach_rest(int event_file) const;
    bool parts() const { return rest_program_ >= 0; }

    /// Code is copied from there on, and from nowhere that no call named. Beyond some tens of calls
    /// from everywhere.
    void watch(std::uint64_t start, std::uint64_t end);
    /// The function at each granule of the code that calls of `watch` named, which are all mapped
    /// alike: what is believed of an instruction holds for its function then. Where a granule has
    /// several functions, or none, it holds for the instruction alone.
    class Functions {
      public:
        static constexpr std::uint64_t granule_bytes = 16;

        /// Of code from `start` to `end`, as distances from where `watch` began.
        void add(std::uint64_t start, std::uint64_t end);

      private:
        friend class WalkFilter;
        std::vector<std::uint64_t> starts_;  // of functions, each one more; 0: none, or several
        std::vector<bool> is_shared_;
    };
    /// In the place of what was known before.
    void know(const Functions& functions);

    /// There may be so many; those beyond are copied always.
    void believe(LookPlace place) const;
    void doubt(LookPlace place) const;

    FilteredLooks looks() const;

  private:
    static constexpr std::size_t most_ranges = 24;

    /// As the program in the kernel has it.
    struct State {
        FilteredLooks looks;
        std::uint64_t check_threshold = 0;  // of 2^32
        std::array<std::array<std::uint64_t, 2>, most_ranges> ranges{};
    };

    WalkFilter() = default;
    bool load(bool is_parting);
    void store();

    int state_map_ = -1;
    int believed_map_ = -1;
    int functions_map_ = -1;
    std::uint64_t* functions_ = nullptr;  // of that map, in this process
    int program_ = -1;
    int rest_program_ = -1;
    std::size_t known_granules_ = 0;
    std::size_t ranges_ = 0;
    State state_;
};

}  // namespace steelyard
