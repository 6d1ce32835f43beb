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

Recorder::Cpu::Cpu(const std::vector<Wanted>& wanted, Watched watched) : tracking(watched, true) {
    for (const Wanted& one : wanted) {
        const Tracepoint* const first = events.empty() ? nullptr : events.front().get();
        events.push_back(std::make_unique<Tracepoint>(one, watched, first));
    }
}

Recorder::Recorder(const std::vector<Wanted>& wanted, pid_t process) {
    for (const int cpu : online_cpus()) {
        cpus_.push_back(std::make_unique<Cpu>(wanted, Watched{process, cpu}));
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

void Recorder::take() {
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
    if (raw.header->type == PERF_RECORD_SAMPLE) {
        take_stack(raw);
        return;
    }
    const SideBandRecord record = side_band_record_from(raw);
    if (const auto* lost = std::get_if<Lost>(&record))
        lost_ += lost->records;
    program_.take(record);
}

void Recorder::take_stack(const RawRecord& record) {
    const auto sample = sample_from(record, stacks);
    const auto kind = kinds_.find(origin_of(record).event);
    if (!sample || kind == kinds_.end())
        return;
    const Whose whose = program_.whose(sample->process, sample->time_ns, sample->user_address);
    if (whose == Whose::strangers)
        return;
    if (whose == Whose::kernels) {
        paths_.add(kind->second, {{paths_.file_number("[execve]"), 0}}, true);
        return;
    }
    const auto& chain = unwinder_.chain(sample->copy, [&](std::uint64_t address) {
        return program_.place_of(sample->process, address);
    });
    paths_.add(kind->second, places(sample->process, chain), unwinder_.reached_start());
}

std::vector<CodePlace> Recorder::places(std::uint32_t process,
                                        const std::vector<std::uint64_t>& chain) {
    std::vector<CodePlace> found;
    for (const std::uint64_t address : chain) {
        // A return address stands behind the call; one byte before it is inside.
        const std::uint64_t at = found.empty() ? address : address - 1;
        const auto place = program_.place_of(process, at);
        if (place && is_known_code(*place->path))
            found.push_back({paths_.file_number(*place->path), place->offset});
        else
            found.push_back({paths_.file_number("//anon:" + std::to_string(process)), at});
    }
    return found;
}

}  // namespace steelyard
