#include "recorder.hpp"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "cpus.hpp"
#include "fatal.hpp"
#include "sampling_clocks.hpp"

namespace steelyard {

namespace {

constexpr Depth stacks{false, true, 0};
constexpr Depth registers{};

/// Whether code from there has names: files, and what the kernel maps; not `//anon` and the like.
bool is_known_code(std::string_view path) {
    return (path.starts_with('/') && !path.starts_with("//")) || path.starts_with("[vdso");
}

/// Of what tells of processes the time is last; of what tells of losses there is none.
std::uint64_t time_of(const RawRecord& record) {
    if (record.header->type == PERF_RECORD_SAMPLE)
        return origin_of(record).time_ns;
    std::uint64_t time_ns = 0;
    if (record.header->type != PERF_RECORD_LOST && record.body_bytes >= sizeof time_ns)
        std::memcpy(&time_ns, record.body + record.body_bytes - sizeof time_ns, sizeof time_ns);
    return time_ns;
}

}  // namespace

Recorder::Cpu::Cpu(const std::vector<Wanted>& wanted, Watched watched, Taken taken)
    : tracking(watched, true) {
    for (const Wanted& one : wanted) {
        const Tracepoint* const first = events.empty() ? nullptr : events.front().get();
        events.push_back(std::make_unique<Tracepoint>(one, watched, taken, first));
    }
}

Recorder::Recorder(const std::vector<Wanted>& wanted, pid_t process, const std::string& notes) {
    if (!notes.empty())
        depths_ = std::make_unique<EventDepths>(notes, [this](const StackNote& note) {
            return stack_beginning(note, unwinder_, [&](std::uint64_t address) {
                return program_.place_of(note.process, address);
            });
        });
    const Taken taken = depths_ ? Taken::registers : Taken::stacks;
    for (const int cpu : online_cpus()) {
        cpus_.push_back(std::make_unique<Cpu>(wanted, Watched{process, cpu}, taken));
        for (unsigned kind = 0; kind < wanted.size(); ++kind)
            kinds_.emplace(cpus_.back()->events[kind]->identity(), kind);
    }
}

std::vector<int> Recorder::files() const {
    std::vector<int> found;
    for (const auto& cpu : cpus_) {
        found.push_back(cpu->tracking.file());
        found.push_back(cpu->events.front()->file());
    }
    return found;
}

void Recorder::Source::look(std::uint64_t until_ns) {
    const auto record = ring->front();
    time_ns = record ? time_of(*record) : 0;
    is_empty = !record || time_ns > until_ns;
}

std::string Recorder::json() {
    settle();
    return paths_.json(lost_);
}

/// Of events that were taken before: the stacks of their threads, and what code those began in, are
/// told of by now.
void Recorder::settle() {
    if (!depths_)
        return;
    depths_->take_notes();
    for (const RegisterEvent& event : waiting_)
        paths_.add_key(event.kind, event.place, depths_->of(event));
    waiting_.clear();
}

void Recorder::take() {
    settle();
    const std::uint64_t now_ns = monotonic_ns();
    std::vector<Source> sources;
    for (const auto& cpu : cpus_) {
        sources.push_back({&cpu->tracking.ring()});
        sources.push_back({&cpu->events.front()->ring()});
    }
    for (Source& source : sources)
        source.look(now_ns);
    while (true) {
        const auto first = std::ranges::min_element(sources, {}, [](const Source& source) {
            return std::pair{source.is_empty, source.time_ns};
        });
        const auto record = first->is_empty ? std::nullopt : first->ring->front();
        if (!record)
            return;
        take_record(*record);
        first->ring->pop();
        first->look(now_ns);
    }
}

void Recorder::take_record(const RawRecord& raw) {
    if (raw.header->type == PERF_RECORD_SAMPLE)
        take_sample(raw);
    else
        take_side_band(side_band_record_from(raw));
}

void Recorder::take_side_band(const SideBandRecord& record) {
    if (const auto* lost = std::get_if<Lost>(&record))
        lost_ += lost->records;
    program_.take(record);
    if (depths_)
        depths_->take(record);
}

void Recorder::take_sample(const RawRecord& record) {
    const auto sample = sample_from(record, depths_ ? registers : stacks);
    const auto kind = kinds_.find(origin_of(record).event);
    if (!sample || kind == kinds_.end())
        return;
    const Whose whose = program_.whose(sample->process, sample->time_ns, sample->user_address);
    if (whose == Whose::strangers)
        return;
    const CodePlace kernels{paths_.file_number("[execve]"), 0};
    if (depths_ && whose == Whose::kernels)
        paths_.add_key(kind->second, kernels, {});
    else if (depths_)
        take_registers(kind->second, *sample);
    else if (whose == Whose::kernels)
        paths_.add(kind->second, {kernels}, true);
    else
        take_stack(kind->second, *sample);
}

void Recorder::take_stack(unsigned kind, const Sample& sample) {
    const auto& chain = unwinder_.chain(sample.copy, [&](std::uint64_t address) {
        return program_.place_of(sample.process, address);
    });
    paths_.add(kind, places(sample.process, chain), unwinder_.reached_start());
}

void Recorder::take_registers(unsigned kind, const Sample& sample) {
    depths_->look_at(sample.process);
    waiting_.push_back({kind, sample.process, sample.thread, sample.time_ns,
                        place(sample.process, sample.user_address), sample.stack_pointer,
                        sample.base_pointer});
}

CodePlace Recorder::place(std::uint32_t process, std::uint64_t address) {
    const auto found = program_.place_of(process, address);
    if (found && is_known_code(*found->path))
        return {paths_.file_number(*found->path), found->offset};
    return {paths_.file_number("//anon:" + std::to_string(process)), address};
}

std::vector<CodePlace> Recorder::places(std::uint32_t process,
                                        const std::vector<std::uint64_t>& chain) {
    std::vector<CodePlace> found;
    found.reserve(chain.size());
    // A return address stands behind the call; one byte before it is inside.
    for (const std::uint64_t address : chain)
        found.push_back(place(process, found.empty() ? address : address - 1));
    return found;
}

}  // namespace steelyard
