#include "walk_filter.hpp"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "bpf_code.hpp"

namespace steelyard {

namespace {

constexpr std::uint32_t most_believed = 1U << 16U;
// 16 MiB of code, by 8 MiB of the kernel's memory.
constexpr std::uint32_t most_granules = 1U << 20U;
constexpr std::int32_t granule_shift = 4;
static_assert(WalkFilter::Functions::granule_bytes == 1U << granule_shift);
// Before Linux 6.10 a look that the program drops counts as one of those asked for
// (c4fcc7d1f415, perf/bpf: Allow a BPF program to suppress all sample side effects).
constexpr int first_version = 6, first_patch_level = 10;

// Of struct pt_regs, asm/ptrace.h, which struct bpf_perf_event_data begins with.
constexpr std::int16_t address_at = 128, code_segment_at = 136, stack_pointer_at = 152;
constexpr std::int32_t user_mode_bits = 3;

// Of the struct State.
constexpr std::int16_t all_at = 0, spared_at = 8, checked_at = 16, elsewhere_at = 24;
constexpr std::int16_t threshold_at = 32, ranges_at = 40;
constexpr std::int16_t word = 8;
// Of the frame of the program: a number that is 0, and a LookPlace.
constexpr std::int16_t zero_at = -8, place_at = -24;

bool drops_looks_whole() {
    utsname name{};
    if (uname(&name) != 0)
        return false;
    const char* const end = name.release + std::strlen(name.release);
    int version = 0, patch_level = 0;
    const auto [dot, error] = std::from_chars(name.release, end, version);
    if (error != std::errc() || dot == end)
        return false;
    std::from_chars(dot + 1, end, patch_level);
    return std::pair{version, patch_level} >= std::pair{first_version, first_patch_level};
}

/// The answer 1 with the probability of the threshold, and else 0.
void answer_by_chance(Assembler& code, std::int16_t drawn_counts) {
    code.call(BPF_FUNC_get_prandom_u32);
    code.load(BPF_REG_2, BPF_REG_9, threshold_at);
    const auto is_spared = code.jump(BPF_JGE, BPF_REG_0, BPF_REG_2);
    code.count(BPF_REG_9, drawn_counts);
    code.leave(1);
    code.land(is_spared);
    code.count(BPF_REG_9, spared_at);
    code.leave(0);
}

/// In register 7 the function in the place of its instruction, where that is known. Register 6 is
/// where the code begins.
void take_function(Assembler& code, int functions_map) {
    code.move(BPF_REG_2, BPF_REG_7);
    code.subtract(BPF_REG_2, BPF_REG_6);
    code.shift_right(BPF_REG_2, granule_shift);
    const auto is_far = code.jump_by(BPF_JGE, BPF_REG_2, most_granules);
    code.store(BPF_REG_10, zero_at, BPF_REG_2);
    code.load_map(BPF_REG_1, functions_map);
    code.move(BPF_REG_2, BPF_REG_10);
    code.add(BPF_REG_2, zero_at);
    code.call(BPF_FUNC_map_lookup_elem);
    const auto is_none = code.jump_by(BPF_JEQ, BPF_REG_0, 0);
    code.load(BPF_REG_2, BPF_REG_0, 0);
    const auto is_unknown = code.jump_by(BPF_JEQ, BPF_REG_2, 0);
    code.move(BPF_REG_7, BPF_REG_6);
    code.add_to(BPF_REG_7, BPF_REG_2);
    code.add(BPF_REG_7, -1);
    for (const std::size_t jump : {is_far, is_none, is_unknown})
        code.land(jump);
}

/// 1: a look is a sample; 0: it is none; `drawn`: by chance.
struct Answers {
    std::int32_t elsewhere, in_kernel, unknown, believed;
};
constexpr std::int32_t drawn = 2;
constexpr Answers of_spared{0, drawn, 1, drawn};
constexpr Answers of_parted{0, 0, 0, 1}, of_rest{1, 1, 1, 0};

void answer(Assembler& code, std::int32_t wanted) {
    if (wanted == drawn)
        answer_by_chance(code, checked_at);
    else
        code.leave(wanted);
}

struct Maps {
    int state, believed, functions;
};

/// What answers so. Registers 6 to 9 are the event, the address, the stack pointer and the state.
std::vector<bpf_insn> filter_program(Maps maps, std::size_t ranges, Answers answers) {
    Assembler code;
    code.move(BPF_REG_6, BPF_REG_1);
    code.store_zero(BPF_REG_10, zero_at);
    code.load_map(BPF_REG_1, maps.state);
    code.move(BPF_REG_2, BPF_REG_10);
    code.add(BPF_REG_2, zero_at);
    code.call(BPF_FUNC_map_lookup_elem);
    const auto has_state = code.jump_by(BPF_JNE, BPF_REG_0, 0);
    code.leave(1);
    code.land(has_state);
    code.move(BPF_REG_9, BPF_REG_0);
    code.count(BPF_REG_9, all_at);
    // Inside the kernel the registers are the kernel's: what the program's are is not known here.
    code.load(BPF_REG_2, BPF_REG_6, code_segment_at);
    const auto is_user = code.jump_by(BPF_JSET, BPF_REG_2, user_mode_bits);
    answer(code, answers.in_kernel);
    code.land(is_user);
    code.load(BPF_REG_7, BPF_REG_6, address_at);
    code.load(BPF_REG_8, BPF_REG_6, stack_pointer_at);
    std::vector<std::size_t> inside;
    for (std::size_t range = 0; range < ranges; ++range) {
        const auto at = static_cast<std::int16_t>(ranges_at + 2 * word * static_cast<int>(range));
        code.load(BPF_REG_6, BPF_REG_9, at);
        const auto is_below = code.jump(BPF_JLT, BPF_REG_7, BPF_REG_6);
        code.load(BPF_REG_2, BPF_REG_9, static_cast<std::int16_t>(at + word));
        inside.push_back(code.jump(BPF_JLT, BPF_REG_7, BPF_REG_2));
        code.land(is_below);
    }
    code.count(BPF_REG_9, elsewhere_at);
    answer(code, answers.elsewhere);
    for (const std::size_t jump : inside)
        code.land(jump);
    take_function(code, maps.functions);
    code.store(BPF_REG_10, place_at, BPF_REG_8);
    code.store(BPF_REG_10, place_at + word, BPF_REG_7);
    code.load_map(BPF_REG_1, maps.believed);
    code.move(BPF_REG_2, BPF_REG_10);
    code.add(BPF_REG_2, place_at);
    code.call(BPF_FUNC_map_lookup_elem);
    const auto is_believed = code.jump_by(BPF_JNE, BPF_REG_0, 0);
    answer(code, answers.unknown);
    code.land(is_believed);
    answer(code, answers.believed);
    return code.code();
}

}  // namespace

std::unique_ptr<WalkFilter> WalkFilter::make(double check_ratio) {
#if defined(__x86_64__)
    std::unique_ptr<WalkFilter> filter(new WalkFilter);
    filter->state_.check_threshold = static_cast<std::uint64_t>(check_ratio * 4294967296.0);
    if (drops_looks_whole() && filter->load(false))
        return filter;
#else
    static_cast<void>(check_ratio);
#endif
    return nullptr;
}

std::unique_ptr<WalkFilter> WalkFilter::make_parting() {
#if defined(__x86_64__)
    std::unique_ptr<WalkFilter> filter(new WalkFilter);
    if (drops_looks_whole() && filter->load(true))
        return filter;
#endif
    return nullptr;
}

bool WalkFilter::load(bool is_parting) {
    static_assert(offsetof(State, check_threshold) == threshold_at &&
                  offsetof(State, ranges) == ranges_at);
    state_map_ = make_map(BPF_MAP_TYPE_ARRAY, sizeof(std::uint32_t), sizeof(State), 1);
    believed_map_ =
        make_map(BPF_MAP_TYPE_HASH, sizeof(LookPlace), sizeof(std::uint64_t), most_believed);
    functions_map_ = make_map(BPF_MAP_TYPE_ARRAY, sizeof(std::uint32_t), sizeof(std::uint64_t),
                              most_granules, BPF_F_MMAPABLE);
    if (state_map_ < 0 || believed_map_ < 0 || functions_map_ < 0)
        return false;
    void* const mapped = mmap(nullptr, most_granules * sizeof(std::uint64_t),
                              PROT_READ | PROT_WRITE, MAP_SHARED, functions_map_, 0);
    if (mapped == MAP_FAILED)
        return false;
    functions_ = static_cast<std::uint64_t*>(mapped);
    const Maps maps{state_map_, believed_map_, functions_map_};
    program_ = load_program(filter_program(maps, most_ranges, is_parting ? of_parted : of_spared));
    if (is_parting)
        rest_program_ = load_program(filter_program(maps, most_ranges, of_rest));
    if (program_ < 0 || (is_parting && rest_program_ < 0))
        return false;
    store();
    return true;
}

WalkFilter::~WalkFilter() {
    if (functions_ != nullptr)
        munmap(functions_, most_granules * sizeof(std::uint64_t));
    for (const int file : {state_map_, believed_map_, functions_map_, program_, rest_program_})
        if (file >= 0)
            close(file);
}

bool WalkFilter::attach(int event_file) const {
    return ioctl(event_file, PERF_EVENT_IOC_SET_BPF, program_) == 0;
}

bool WalkFilter::attach_rest(int event_file) const {
    return ioctl(event_file, PERF_EVENT_IOC_SET_BPF, rest_program_) == 0;
}

void WalkFilter::watch(std::uint64_t start, std::uint64_t end) {
    if (ranges_ == most_ranges)
        state_.ranges.front() = {0, UINT64_MAX};
    else
        state_.ranges[ranges_++] = {start, end};
    store();
}

void WalkFilter::Functions::add(std::uint64_t start, std::uint64_t end) {
    if (start >= end || end > most_granules * granule_bytes)
        return;
    const std::uint64_t last = (end - 1) / granule_bytes;
    if (starts_.size() <= last) {
        starts_.resize(last + 1);
        is_shared_.resize(last + 1);
    }
    for (std::uint64_t at = start / granule_bytes; at <= last; ++at) {
        is_shared_[at] = is_shared_[at] || starts_[at] != 0;
        starts_[at] = is_shared_[at] ? 0 : start + 1;
    }
}

void WalkFilter::know(const Functions& functions) {
    const std::vector<std::uint64_t>& starts = functions.starts_;
    const std::size_t until = std::max(known_granules_, starts.size());
    for (std::size_t at = 0; at < until; ++at)
        __atomic_store_n(&functions_[at], at < starts.size() ? starts[at] : 0, __ATOMIC_RELAXED);
    known_granules_ = starts.size();
}

void WalkFilter::store() {
    // What was counted meanwhile would be lost by a moment's counts at most.
    if (ranges_ > 0)
        state_.looks = looks();
    const std::uint32_t first = 0;
    bpf_attr attributes = element_of(state_map_, first);
    attributes.value = reinterpret_cast<std::uintptr_t>(&state_);
    bpf(BPF_MAP_UPDATE_ELEM, attributes);
}

void WalkFilter::believe(LookPlace place) const {
    const std::uint64_t present = 1;
    bpf_attr attributes = element_of(believed_map_, place);
    attributes.value = reinterpret_cast<std::uintptr_t>(&present);
    bpf(BPF_MAP_UPDATE_ELEM, attributes);
}

void WalkFilter::doubt(LookPlace place) const {
    bpf_attr attributes = element_of(believed_map_, place);
    bpf(BPF_MAP_DELETE_ELEM, attributes);
}

FilteredLooks WalkFilter::looks() const {
    State state;
    const std::uint32_t first = 0;
    bpf_attr attributes = element_of(state_map_, first);
    attributes.value = reinterpret_cast<std::uintptr_t>(&state);
    return bpf(BPF_MAP_LOOKUP_ELEM, attributes) == 0 ? state.looks : FilteredLooks{};
}

}  // namespace steelyard
