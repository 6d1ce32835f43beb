#include "stack_walk.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>

#include "byte_reader.hpp"
#include "call_frames.hpp"
#include "caller_registers.hpp"

namespace {

// The program's own allocator may be at work when its functions are entered, and may be watched.
constexpr std::size_t block_bytes = 1U << 20U, alignment = 16;
std::byte* block = nullptr;
std::size_t left_bytes = 0;

void* memory_of_our_own(std::size_t bytes) {
    bytes = (bytes + alignment - 1) / alignment * alignment;
    if (bytes > left_bytes) {
        const std::size_t wanted = std::max(bytes, block_bytes);
        void* const memory =
            mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            std::abort();
        block = static_cast<std::byte*>(memory);
        left_bytes = wanted;
    }
    left_bytes -= bytes;
    return std::exchange(block, block + bytes);
}

}  // namespace

void* operator new(std::size_t bytes) {
    return memory_of_our_own(bytes);
}
void operator delete(void*) noexcept {}
void operator delete(void*, std::size_t) noexcept {}

namespace steelyard {

namespace {

struct Mapped {
    std::uint64_t start, end, offset;
    std::string path;
};

std::uint64_t take_hex(std::string_view& text) {
    std::uint64_t value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value, 16).ptr;
    text.remove_prefix(
        std::min<std::size_t>(static_cast<std::size_t>(end - text.data()) + 1, text.size()));
    return value;
}

class Memory {
  public:
    const Mapped* at(std::uint64_t address) {
        if (const Mapped* const found = find(address))
            return found;
        read();
        return find(address);
    }

  private:
    const Mapped* find(std::uint64_t address) const {
        const auto after = std::ranges::upper_bound(mapped_, address, {}, &Mapped::start);
        if (after == mapped_.begin() || address >= std::prev(after)->end)
            return nullptr;
        return &*std::prev(after);
    }

    void read() {
        const int file = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
        std::string text;
        char part[4096];
        for (ssize_t count = 0; (count = ::read(file, part, sizeof part)) > 0;)
            text.append(part, static_cast<std::size_t>(count));
        ::close(file);
        mapped_.clear();
        std::string_view rest = text;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
            add(rest.substr(0, end));
            rest.remove_prefix(end + 1);
        }
    }

    void add(std::string_view line) {
        Mapped mapped{};
        mapped.start = take_hex(line);
        mapped.end = take_hex(line);
        line.remove_prefix(std::min<std::size_t>(line.find(' ') + 1, line.size()));
        mapped.offset = take_hex(line);
        const std::size_t path = line.find_first_of("/[");
        if (path != std::string_view::npos)
            mapped.path = line.substr(path);
        mapped_.push_back(std::move(mapped));
    }

    std::vector<Mapped> mapped_;
};

/// Never destroyed: threads may go on while the program ends.
Memory& memory() {
    static Memory* const found = new Memory();
    return *found;
}

CallFrames* frames_of(const std::string& path) {
    static auto* const files = new std::unordered_map<std::string, std::unique_ptr<CallFrames>>();
    auto known = files->find(path);
    if (known == files->end()) {
        auto elf = path == "[vdso]" ? ElfFile::vdso() : ElfFile::open(path);
        known = files->emplace(path, elf ? std::make_unique<CallFrames>(std::move(elf)) : nullptr)
                    .first;
    }
    return known->second.get();
}

const UnwindRow* row_at(std::uint64_t address, std::uint64_t back) {
    const Mapped* const mapped = memory().at(address);
    if (mapped == nullptr || mapped->path.empty())
        return nullptr;
    CallFrames* const frames = frames_of(mapped->path);
    if (frames == nullptr)
        return nullptr;
    const auto virtual_address = frames->elf().address_of(address - mapped->start + mapped->offset);
    return virtual_address ? frames->at(*virtual_address - back) : nullptr;
}

const PlannedFunction* function_at(std::span<const PlannedFunction> functions,
                                   std::uint64_t address) {
    const auto after = std::ranges::upper_bound(functions, address, {}, &PlannedFunction::start);
    if (after == functions.begin() || address >= std::prev(after)->end)
        return nullptr;
    return &*std::prev(after);
}

/// The memory that a stack is in, and where it was left last.
struct Stack {
    std::uint64_t start, end, top;
};

std::optional<Stack> stack_at(std::uint64_t top, const std::optional<Stack>& before) {
    if (before && top >= before->start && top < before->end)
        return before;
    const Mapped* const mapped = memory().at(top);
    if (mapped == nullptr)
        return std::nullopt;
    return Stack{mapped->start, mapped->end, top};
}

/// Whether a walk has come to another stack. Stacks grow by their start alone. Two may be in one
/// part of memory: from a handler to what it interrupted it is not far where the stack is the same.
bool is_another(const Stack& before, const Stack& now, std::uint64_t top, bool was_interrupted) {
    constexpr std::uint64_t most_saved_bytes = 1U << 16U;
    const bool is_far = top < before.top || top - before.top > most_saved_bytes;
    return before.end != now.end || (was_interrupted && is_far);
}

/// Notes what of the stack leads from a function to its caller.
class Evidence {
  public:
    explicit Evidence(Walk& walk) : walk_(walk) {}

    /// The walk went from a function with this row to its caller.
    void add(const UnwindRow& row, std::uint64_t cfa, const Registers& caller) {
        const RegisterRule& address = row.registers[address_register];
        const RegisterRule& frame = row.registers[frame_register];
        end(row);
        if (row.of_signal || address.kind != RegisterRule::Kind::offset ||
            row.registers[stack_register].kind != RegisterRule::Kind::same_value)
            walk_.rests_on_words = false;
        walk_.words.push_back(
            {cfa + static_cast<std::uint64_t>(address.distance), caller[address_register]});
        if (frame.kind == RegisterRule::Kind::offset)
            saved_ = {cfa + static_cast<std::uint64_t>(frame.distance), caller[frame_register]};
        else if (frame.kind != RegisterRule::Kind::same_value)
            walk_.rests_on_words = false;
    }

    /// The frame of a function with this row was found: by the stack pointer, by the frame pointer
    /// that was saved last, or by that at the entry.
    void end(const UnwindRow& row) {
        const bool by_frame = row.cfa.other_register == frame_register;
        if (row.cfa.kind != RegisterRule::Kind::in_register ||
            (!by_frame && row.cfa.other_register != stack_register))
            walk_.rests_on_words = false;
        else if (by_frame && saved_)
            walk_.words.push_back(*saved_);
        else if (by_frame)
            walk_.uses_frame_pointer = true;
    }

  private:
    Walk& walk_;
    std::optional<ReadWord> saved_;
};

/// How a function with this row is left, where the words that say so lie at fixed distances.
std::optional<LibraryStep> step_by(const UnwindRow& row, std::uint64_t return_address) {
    using Kind = RegisterRule::Kind;
    constexpr std::int64_t word = sizeof(std::uint64_t), most_bytes = 1 << 16;
    const RegisterRule &cfa = row.cfa, &address = row.registers[address_register],
                       &frame = row.registers[frame_register];
    const bool by_frame = cfa.other_register == frame_register;
    const bool is_fixed = !row.of_signal && cfa.kind == Kind::in_register &&
                          (by_frame || cfa.other_register == stack_register) &&
                          cfa.distance >= word && cfa.distance < most_bytes &&
                          address.kind == Kind::offset && address.distance == -word &&
                          row.registers[stack_register].kind == Kind::same_value;
    const bool is_saved =
        frame.kind == Kind::offset && frame.distance < -word && frame.distance > -most_bytes;
    if (!is_fixed || (!is_saved && frame.kind != Kind::same_value))
        return std::nullopt;
    return LibraryStep{return_address,
                       static_cast<std::uint32_t>(by_frame ? cfa.distance - word : cfa.distance),
                       is_saved ? static_cast<std::uint32_t>(-word - frame.distance) : 0, by_frame};
}

}  // namespace

Walk walk_stack(Registers registers, std::span<const PlannedFunction> functions, std::uint64_t bias,
                bool (*is_known)(const Activation&)) {
    constexpr std::uint64_t word = sizeof(std::uint64_t);
    Walk walk;
    bool was_interrupted = false;
    std::optional<Stack> stack;
    Evidence evidence(walk);
    try {
        while (registers[address_register] != 0) {
            const std::uint64_t address = registers[address_register];
            const std::uint64_t top = registers[stack_register];
            const std::uint64_t back = was_interrupted ? 0 : 1;
            const UnwindRow* const row = row_at(address, back);
            if (row == nullptr) {
                // No call stands before a function: makecontext(3) and the like put the address
                // where a stack begins.
                if (row_at(address, 0) != nullptr)
                    walk.start = top;
                return walk;
            }
            const auto below = std::exchange(stack, stack_at(top, stack));
            if (!stack)
                return walk;
            if (below && is_another(*below, *stack, top, was_interrupted))
                ++walk.last_stack;
            stack->top = top;
            const StackMemory bytes({reinterpret_cast<const std::byte*>(top), stack->end - top},
                                    top);
            const std::uint64_t frame = value_by(row->cfa, stack_register, 0, registers, bytes);
            const PlannedFunction* const function = function_at(functions, address - bias - back);
            if (function != nullptr && function->unwatched != Unwatched::start) {
                const Activation activation{frame - word, function->owner, walk.last_stack};
                auto& led_here =
                    walk.activations.empty() ? walk.call_site : walk.activations.back().call_site;
                led_here = was_interrupted ? 0 : address - bias;
                if (is_known(activation)) {
                    walk.known = activation;
                    evidence.end(*row);
                    return walk;
                }
                walk.activations.push_back(activation);
            } else if (const auto step = step_by(*row, address);
                       step && function == nullptr && !was_interrupted) {
                walk.steps.push_back(*step);
            }
            registers = caller_by(*row, registers, bytes);
            evidence.add(*row, frame, registers);
            was_interrupted = row->of_signal;
            if (registers[address_register] == 0)
                walk.start = top;
        }
    } catch (const Malformed&) {
        return walk;
    }
    return walk;
}

}  // namespace steelyard
