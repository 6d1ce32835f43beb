// Records the call paths of events of the next program that a process starts.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "call_paths.hpp"
#include "event_depths.hpp"
#include "program.hpp"
#include "tracepoint.hpp"
#include "unwinder.hpp"

namespace steelyard {

class Recorder {
  public:
    /// With a file of notes registers alone are recorded, and told by their distance from where the
    /// stack of their thread begins. Throws Fatal where the kernel gives none of `wanted`.
    Recorder(const std::vector<Wanted>& wanted, pid_t process, const std::string& notes);

    /// What to wait for until there is something to take.
    std::vector<int> files() const;

    /// Takes what was written until now, of all CPUs in the order of time: a stack is to be read by
    /// what was mapped at its moment.
    void take();

    /// After the last `take`.
    std::string json();

  private:
    /// What is watched on one CPU.
    struct Cpu {
        Cpu(const std::vector<Wanted>& wanted, Watched watched, Taken taken);

        TrackingEvent tracking;
        std::vector<std::unique_ptr<Tracepoint>> events;
    };

    /// A ring with its oldest record.
    struct Source {
        Ring* ring;
        std::uint64_t time_ns = 0;
        bool is_empty = true;

        void look(std::uint64_t until_ns);
    };

    void take_record(const RawRecord& record);
    void take_sample(const RawRecord& record);
    void take_side_band(const SideBandRecord& record);
    void take_stack(unsigned kind, const Sample& sample);
    void take_registers(unsigned kind, const Sample& sample);
    CodePlace place(std::uint32_t process, std::uint64_t address);
    void settle();
    std::vector<CodePlace> places(std::uint32_t process, const std::vector<std::uint64_t>& chain);

    std::vector<std::unique_ptr<Cpu>> cpus_;
    std::unordered_map<std::uint64_t, unsigned> kinds_;
    Program program_;
    Unwinder unwinder_;
    CallPaths paths_;
    std::unique_ptr<EventDepths> depths_;  // null: stacks are copied
    std::vector<RegisterEvent> waiting_;
    std::uint64_t lost_ = 0;
};

}  // namespace steelyard
