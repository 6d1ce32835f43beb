// How to step from functions of libraries to their callers, as a walk found it before: callbacks
// from libraries come from few places, however the library got there.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace steelyard {

/// From where the return address lies that leads into a function of a library, to where that
/// function's own lies.
struct LibraryStep {
    std::uint64_t return_address;  ///< 0: none
    std::uint32_t distance;        ///< bytes, from the first place or from the frame pointer
    /// From the second place down to where the function saved the frame pointer; 0: it kept it.
    std::uint32_t frame_pointer_below;
    bool by_frame_pointer;
};

class LibrarySteps {
  public:
    const LibraryStep* find(std::uint64_t return_address) const {
        const LibraryStep& step = steps_[place_of(return_address)];
        return step.return_address == return_address ? &step : nullptr;
    }

    void remember(const LibraryStep& step) { steps_[place_of(step.return_address)] = step; }

  private:
    static constexpr std::size_t places = 256;

    static std::size_t place_of(std::uint64_t return_address) {
        constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
        return (return_address * golden >> 40U) % places;
    }

    std::array<LibraryStep, places> steps_;
};

}  // namespace steelyard
