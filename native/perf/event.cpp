#include "event.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>
#include <string>

#include "fatal.hpp"

namespace steelyard {

namespace {

// The bits of the registers wanted, in asm/perf_regs.h, and the order in which they come.
#if defined(__x86_64__)
constexpr std::uint64_t base_pointer_bit = 6, stack_pointer_bit = 7, address_bit = 8;
// Their numbers in DWARF, by rising bit: ax bx cx dx si di bp sp ip, and r8 to r15.
constexpr std::uint64_t copied_registers = 0xff01ffULL;
constexpr std::array<std::size_t, register_count> copied_numbers{0, 3, 2,  1,  4,  5,  6,  7, 16,
                                                                 8, 9, 10, 11, 12, 13, 14, 15};
#elif defined(__aarch64__)
constexpr std::uint64_t base_pointer_bit = 29, stack_pointer_bit = 31, address_bit = 32;
constexpr std::uint64_t copied_registers = 0;
constexpr std::array<std::size_t, 0> copied_numbers{};
#else
#error "The sampler knows the registers of x86-64 and AArch64."
#endif
constexpr std::uint64_t registers_wanted =
    (1ULL << base_pointer_bit) | (1ULL << stack_pointer_bit) | (1ULL << address_bit);

// What `sample_from` reads of every sample.
constexpr std::uint64_t sample_fields = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                        PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER;

constexpr std::size_t sampling_pages = 16;
constexpr std::size_t copying_pages = 64;
// A round of samples of a KiB is less than half of it.
constexpr std::size_t round_pages = 64;
constexpr std::size_t tracking_pages = 64;
// Copied with each sample where a word of the frame is asked for: a frame of HotSpot's interpreter
// keeps at most some tens of words between the top of its stack and what stands below its base.
constexpr std::uint32_t frame_bytes = 1024;
// Copied with each chain by frame pointers. Functions without a frame keep little on the stack.
constexpr std::uint32_t leaf_bytes = 512;
// Where callers are looked for: as much as a record may hold, in whole pages.
constexpr std::uint32_t stack_bytes = 32U << 10U;
constexpr std::uint64_t never_by_itself = 1ULL << 62;

std::size_t ring_pages(Depth depth, bool in_group) {
    if (depth.stack_copy)
        return copying_pages;
    const bool is_long = depth.frame_pointers || depth.word_below_frame > 0;
    return is_long && in_group ? round_pages : sampling_pages;
}

/// What kernel.perf_event_paranoid is set to; nothing where that is not shown.
std::optional<int> paranoia() {
    std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
    int level = 0;
    if (file >> level)
        return level;
    return std::nullopt;
}

Fatal not_allowed(const char* what) {
    // The most that lets somebody watch programs of their own, perf_event_open(2).
    constexpr int own_programs = 2;
    const std::string begin = std::string("The kernel does not allow ") + what + ".\n";
    const auto level = paranoia();
    if (!level || *level > own_programs)
        return Fatal(begin +
                     "sysctl kernel.perf_event_paranoid=2 (or less) allows it for your own "
                     "programs.");
    return Fatal(begin + "kernel.perf_event_paranoid is " + std::to_string(*level) +
                 ", which allows it for your own programs: the process is another user's (let "
                 "that user or root record), or a container denies perf_event_open(2) (start it "
                 "with --cap-add PERFMON, or a seccomp profile that allows the call).");
}

Fatal too_many_files() {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    return Fatal("There are more threads or CPUs to watch than the " +
                 std::to_string(files.rlim_cur) +
                 " files that may be open.\nThe sampler has raised its limit to the hard one: "
                 "`ulimit -Hn` shows it, and root can raise it.");
}

Fatal refusal(const char* what) {
    if (errno == EACCES || errno == EPERM)
        return not_allowed(what);
    if (errno == ENOSYS)
        return Fatal("This kernel has no perf_event_open(2), or a container hides it.");
    if (errno == ENOENT || errno == EOPNOTSUPP || errno == ENODEV)
        return Fatal(std::string("This machine cannot give ") + what + "; use --event cpu-clock.");
    if (errno == EMFILE)
        return too_many_files();
    return Fatal::with_errno(std::string("The kernel refuses ") + what);
}

/// Takes values from a record, one after the other, and knows when it has ended.
class Cursor {
  public:
    explicit Cursor(const RawRecord& record) : at_(record.body), left_(record.body_bytes) {}

    template <typename Value>
    Value take() {
        Value value{};
        if (left_ < sizeof value) {
            cut_short_ = true;
            return value;
        }
        std::memcpy(&value, at_, sizeof value);
        skip(sizeof value);
        return value;
    }

    const std::byte* take_bytes(std::size_t bytes) {
        if (left_ < bytes) {
            cut_short_ = true;
            return nullptr;
        }
        const std::byte* here = at_;
        skip(bytes);
        return here;
    }

    bool cut_short() const { return cut_short_; }

  private:
    void skip(std::size_t bytes) {
        at_ += bytes;
        left_ -= bytes;
    }

    const std::byte* at_;
    std::size_t left_;
    bool cut_short_ = false;
};

/// The part of the stack that was copied, from the stack pointer up.
std::span<const std::byte> take_stack(Cursor& cursor) {
    const auto size = cursor.take<std::uint64_t>();
    if (size == 0)
        return {};
    const std::byte* const copy = cursor.take_bytes(static_cast<std::size_t>(size));
    const auto copied = cursor.take<std::uint64_t>();
    if (copy == nullptr || copied > size)
        return {};
    return {copy, static_cast<std::size_t>(copied)};
}

/// The word at `address` in the copy, which begins at the stack pointer; 0 where it has none.
std::uint64_t word_in(std::span<const std::byte> copy, std::uint64_t stack_pointer,
                      std::uint64_t address) {
    const std::uint64_t offset = address - stack_pointer;
    std::uint64_t word = 0;
    if (address >= stack_pointer && copy.size() >= sizeof word &&
        offset <= copy.size() - sizeof word)
        std::memcpy(&word, copy.data() + offset, sizeof word);
    return word;
}

void take_registers(Cursor& cursor, Depth depth, Sample& sample) {
    if (cursor.take<std::uint64_t>() == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    if (depth.stack_copy) {
        for (const std::size_t number : copied_numbers)
            sample.copy.registers[number] = cursor.take<std::uint64_t>();
        sample.base_pointer = sample.copy.registers[frame_register];
        sample.stack_pointer = sample.copy.registers[stack_register];
        sample.user_address = sample.copy.registers[address_register];
        return;
    }
    sample.base_pointer = cursor.take<std::uint64_t>();
    sample.stack_pointer = cursor.take<std::uint64_t>();
    sample.user_address = cursor.take<std::uint64_t>();
    sample.copy.registers[frame_register] = sample.base_pointer;
    sample.copy.registers[stack_register] = sample.stack_pointer;
    sample.copy.registers[address_register] = sample.user_address;
}

/// How much of the stack is copied with each sample.
std::uint32_t bytes_copied(Depth depth) {
    if (depth.stack_copy)
        return stack_bytes;
    if (depth.word_below_frame > 0)
        return frame_bytes;
    return depth.frame_pointers && copied_registers != 0 ? leaf_bytes : 0;
}

}  // namespace

int open_event(perf_event_attr& attributes, Watched watched) {
    return static_cast<int>(syscall(SYS_perf_event_open, &attributes, watched.thread, watched.cpu,
                                    watched.leader, PERF_FLAG_FD_CLOEXEC));
}

perf_event_attr monotonic_attributes(bool kernel) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.exclude_kernel = kernel ? 0 : 1;
    attributes.exclude_hv = 1;
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_MONOTONIC;
    return attributes;
}

perf_event_attr copying_attributes(std::uint32_t copied_bytes) {
    if (copied_registers == 0)
        throw Fatal("Call stacks by DWARF are found on x86-64 alone; use --stacks frame-pointers.");
    perf_event_attr attributes = monotonic_attributes(true);
    attributes.sample_type = sample_fields | PERF_SAMPLE_STACK_USER;
    attributes.sample_regs_user = copied_registers;
    attributes.sample_stack_user = copied_bytes;
    return attributes;
}

std::optional<Sample> sample_from(const RawRecord& record, Depth depth) {
    Cursor cursor(record);
    Sample sample;
    const auto mode = record.header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    sample.in_kernel = mode == PERF_RECORD_MISC_KERNEL;
    sample.address = cursor.take<std::uint64_t>();
    sample.process = cursor.take<std::uint32_t>();
    sample.thread = cursor.take<std::uint32_t>();
    sample.time_ns = cursor.take<std::uint64_t>();
    cursor.take<std::uint64_t>();  // of the event
    sample.cpu = cursor.take<std::uint32_t>();
    cursor.take<std::uint32_t>();  // reserved
    if (depth.frame_pointers) {
        const auto length = cursor.take<std::uint64_t>();
        if (length > record.body_bytes)
            return std::nullopt;
        sample.chain_length = static_cast<std::size_t>(length);
        sample.chain = reinterpret_cast<const std::uint64_t*>(
            cursor.take_bytes(sample.chain_length * sizeof(std::uint64_t)));
    }
    take_registers(cursor, depth, sample);
    if (bytes_copied(depth) > 0)
        sample.copy.bytes = take_stack(cursor);
    if (depth.word_below_frame > 0)
        sample.frame_word = word_in(sample.copy.bytes, sample.stack_pointer,
                                    sample.base_pointer - depth.word_below_frame);
    if (cursor.cut_short())
        return std::nullopt;
    return sample;
}

Origin origin_of(const RawRecord& record) {
    Cursor cursor(record);
    cursor.take<std::uint64_t>();  // address
    cursor.take<std::uint64_t>();  // process and thread
    Origin origin;
    origin.time_ns = cursor.take<std::uint64_t>();
    origin.event = cursor.take<std::uint64_t>();
    return origin;
}

Rights rights_here() {
    perf_event_attr attributes = monotonic_attributes(true);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.disabled = 1;
    const int everywhere = open_event(attributes, {-1, 0});
    if (everywhere >= 0) {
        close(everywhere);
        return {true, true};
    }
    const int own = open_event(attributes, {0, -1});
    if (own >= 0)
        close(own);
    return {false, own >= 0};
}

SamplingEvent::SamplingEvent(Watched watched, Clock clock, Depth depth, bool kernel,
                             std::optional<EventGroup> group) {
    perf_event_attr attributes = monotonic_attributes(kernel);
    attributes.type = clock == Clock::software ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE;
    attributes.config = clock == Clock::software
                            ? static_cast<std::uint64_t>(PERF_COUNT_SW_CPU_CLOCK)
                            : static_cast<std::uint64_t>(PERF_COUNT_HW_CPU_CYCLES);
    // Switching on one of many costs a look at all, so those of a group are on from the beginning.
    attributes.disabled = group ? 0 : 1;
    attributes.sample_period = never_by_itself;
    attributes.sample_type = sample_fields;
    attributes.sample_regs_user = depth.stack_copy ? copied_registers : registers_wanted;
    attributes.wakeup_events = group ? 0 : 1;
    if (depth.frame_pointers) {
        attributes.sample_type |= PERF_SAMPLE_CALLCHAIN;
        attributes.exclude_callchain_kernel = 1;
    }
    if (depth.stack_copy && copied_registers == 0)
        throw Fatal("Call stacks by DWARF are found on x86-64 alone; use --stacks frame-pointers.");
    if (const std::uint32_t bytes = bytes_copied(depth)) {
        attributes.sample_type |= PERF_SAMPLE_STACK_USER;
        attributes.sample_stack_user = bytes;
    }
    file_ = open_event(attributes, watched);
    if (file_ < 0)
        throw refusal(clock == Clock::software ? "samples by its software clock"
                                               : "samples by the cycles of the processor");
    try {
        if (!group || group->first == nullptr)
            ring_ = std::make_unique<Ring>(file_, ring_pages(depth, group.has_value()));
        else if (ioctl(file_, PERF_EVENT_IOC_SET_OUTPUT, group->first->file()) != 0)
            throw Fatal::with_errno("The kernel does not put the samples of events together");
    } catch (const Fatal&) {
        close(file_);
        throw;
    }
}

SamplingEvent::~SamplingEvent() {
    ring_.reset();
    close(file_);
}

void SamplingEvent::postpone(std::uint64_t interval_ns) {
    if (ioctl(file_, PERF_EVENT_IOC_PERIOD, &interval_ns) != 0)
        throw Fatal::with_errno("The kernel takes no new time to the next sample");
}

void SamplingEvent::sample_once(std::uint64_t interval_ns) {
    // The kernel turns it off by an interrupt of its own, after the sample that may be read
    // already. One that is still on would take no refresh, be turned off then, and never sample
    // again. For one that is off this is no more than a call.
    if (ioctl(file_, PERF_EVENT_IOC_DISABLE, 0) != 0)
        throw Fatal::with_errno("The kernel does not stop to sample");
    postpone(interval_ns);
    if (ioctl(file_, PERF_EVENT_IOC_REFRESH, 1) != 0)
        throw Fatal::with_errno("The kernel does not go on sampling");
}

void SamplingEvent::run(std::uint64_t interval_ns) {
    postpone(interval_ns);
    if (ioctl(file_, PERF_EVENT_IOC_ENABLE, 0) != 0)
        throw Fatal::with_errno("The kernel does not start to sample");
}

std::uint64_t SamplingEvent::identity() const {
    std::uint64_t identity = 0;
    if (ioctl(file_, PERF_EVENT_IOC_ID, &identity) != 0)
        throw Fatal::with_errno("The kernel does not tell one event from another");
    return identity;
}

TrackingEvent::TrackingEvent(Watched watched, bool kernel) {
    perf_event_attr attributes = monotonic_attributes(kernel);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    attributes.sample_id_all = 1;
    attributes.mmap = 1;
    attributes.mmap2 = 1;
    attributes.comm = 1;
    attributes.comm_exec = 1;
    attributes.task = 1;
    attributes.inherit = watched.thread >= 0 ? 1 : 0;
    // Records that are no samples wake by the bytes that they take alone.
    attributes.watermark = 1;
    attributes.wakeup_watermark = 1;
    // Kernels from 5.12 on tell which build of a file is mapped.
    attributes.build_id = 1;
    file_ = open_event(attributes, watched);
    if (file_ < 0 && errno == EINVAL) {
        attributes.build_id = 0;
        file_ = open_event(attributes, watched);
    }
    if (file_ < 0)
        throw refusal("to be told of new threads and mappings");
    try {
        ring_ = std::make_unique<Ring>(file_, tracking_pages);
    } catch (const Fatal&) {
        close(file_);
        throw;
    }
}

TrackingEvent::~TrackingEvent() {
    ring_.reset();
    close(file_);
}

}  // namespace steelyard
