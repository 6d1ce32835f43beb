#include "side_band.hpp"

#include <dirent.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>

#include "elf_file.hpp"
#include "memory_mapping.hpp"

namespace steelyard {

namespace {

template <typename Value>
Value value_at(const RawRecord& record, std::size_t offset) {
    Value value{};
    if (offset + sizeof value <= record.body_bytes)
        std::memcpy(&value, record.body + offset, sizeof value);
    return value;
}

std::string text_at(const RawRecord& record, std::size_t offset) {
    if (offset >= record.body_bytes)
        return {};
    const char* text = reinterpret_cast<const char*>(record.body + offset);
    return {text, strnlen(text, record.body_bytes - offset)};
}

/// Of records with sample_id_all the time is last: process and thread, then time.
std::uint64_t time_of(const RawRecord& record) {
    constexpr std::size_t time_bytes = sizeof(std::uint64_t);
    return record.body_bytes < time_bytes
               ? 0
               : value_at<std::uint64_t>(record, record.body_bytes - time_bytes);
}

// Offsets in struct bodies as perf_event_open(2) gives them, from the end of the header.
Lifetime lifetime_from(const RawRecord& record) {
    Lifetime life;
    life.process = value_at<std::uint32_t>(record, 0);
    life.parent_process = value_at<std::uint32_t>(record, 4);
    life.thread = value_at<std::uint32_t>(record, 8);
    life.parent_thread = value_at<std::uint32_t>(record, 12);
    life.time_ns = value_at<std::uint64_t>(record, 16);
    return life;
}

Mapping mapping_from(const RawRecord& record) {
    Mapping mapping;
    mapping.process = value_at<std::uint32_t>(record, 0);
    mapping.start = value_at<std::uint64_t>(record, 8);
    mapping.length = value_at<std::uint64_t>(record, 16);
    mapping.offset = value_at<std::uint64_t>(record, 24);
    mapping.path = text_at(record, 64);
    if ((record.header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0) {
        constexpr std::size_t size_at = 32, build_id_at = 36, most_bytes = 20;
        const std::size_t bytes =
            std::min<std::size_t>(value_at<std::uint8_t>(record, size_at), most_bytes);
        if (record.body_bytes >= build_id_at + bytes)
            mapping.build_id.assign(reinterpret_cast<const char*>(record.body + build_id_at),
                                    bytes);
    } else {
        mapping.inode = value_at<std::uint64_t>(record, 40);
    }
    mapping.time_ns = time_of(record);
    return mapping;
}

Comm comm_from(const RawRecord& record) {
    Comm comm;
    comm.process = value_at<std::uint32_t>(record, 0);
    comm.thread = value_at<std::uint32_t>(record, 4);
    comm.name = text_at(record, 8);
    comm.after_exec = (record.header->misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
    comm.time_ns = time_of(record);
    return comm;
}

/// Of a file that was mapped before, which only /proc tells of.
std::string present_build_id(const Mapping& mapping) {
    if (!mapping.path.starts_with('/'))
        return {};
    const auto elf = ElfFile::open(path_in_process(mapping.path, mapping.process));
    return elf ? elf->build_id() : std::string();
}

}  // namespace

SideBandRecord side_band_record_from(const RawRecord& record) {
    switch (record.header->type) {
        case PERF_RECORD_FORK:
            return Started{lifetime_from(record)};
        case PERF_RECORD_EXIT:
            return Ended{lifetime_from(record)};
        case PERF_RECORD_MMAP2:
            return mapping_from(record);
        case PERF_RECORD_COMM:
            return comm_from(record);
        case PERF_RECORD_LOST:
            return Lost{value_at<std::uint64_t>(record, 8)};
        default:
            return std::monostate{};
    }
}

std::vector<pid_t> threads_of(pid_t process) {
    std::vector<pid_t> threads;
    const std::string path = "/proc/" + std::to_string(process) + "/task";
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
    if (!folder)
        return threads;
    while (const dirent* entry = readdir(folder.get())) {
        pid_t thread = 0;
        const char* end = entry->d_name + std::strlen(entry->d_name);
        if (std::from_chars(entry->d_name, end, thread).ec == std::errc())
            threads.push_back(thread);
    }
    return threads;
}

std::vector<Mapping> present_mappings(pid_t process, std::uint64_t now_ns) {
    std::vector<Mapping> state;
    std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
    for (std::string line; std::getline(maps, line);) {
        const auto mapping = mapping_of_line(line);
        if (!mapping || !mapping->executable)
            continue;
        state.push_back(Mapping{now_ns, static_cast<std::uint32_t>(process), mapping->start,
                                mapping->end - mapping->start, mapping->offset,
                                mapping->path.empty() ? "//anon" : mapping->path, mapping->inode,
                                std::string()});
        state.back().build_id = present_build_id(state.back());
    }
    return state;
}

std::vector<Comm> present_comms(pid_t process, std::uint64_t now_ns) {
    std::vector<Comm> state;
    for (const pid_t thread : threads_of(process)) {
        std::ifstream comm("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) +
                           "/comm");
        std::string name;
        std::getline(comm, name);
        state.push_back(Comm{now_ns, static_cast<std::uint32_t>(process),
                             static_cast<std::uint32_t>(thread), false, name});
    }
    return state;
}

}  // namespace steelyard
