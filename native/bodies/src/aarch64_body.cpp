// Bodies of AArch64: encodings as in the Arm Architecture Reference Manual, section C4.

#include <algorithm>
#include <array>
#include <optional>

#include "body.hpp"
#include "mixing.hpp"
#include "value_at.hpp"

namespace steelyard {

namespace {

constexpr std::uint32_t nop = 0xd503201f;

std::int64_t signed_field(std::uint32_t word, unsigned low, unsigned bits) {
    const std::uint64_t raw = (word >> low) & ((std::uint64_t{1} << bits) - 1);
    const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
    return static_cast<std::int64_t>((raw ^ sign) - sign);
}

/// A branch that holds where it goes: how many bits of its word say so.
struct Branch {
    bool is_call = false;
    unsigned low = 0;
    unsigned bits = 0;
};

std::optional<Branch> branch_of(std::uint32_t word) {
    if ((word & 0x7c000000U) == 0x14000000U)
        return Branch{(word >> 31U) != 0, 0, 26};  // b, bl
    if ((word & 0xff000000U) == 0x54000000U)
        return Branch{false, 5, 19};  // b.cond, bc.cond
    if ((word & 0x7e000000U) == 0x34000000U)
        return Branch{false, 5, 19};  // cbz, cbnz
    if ((word & 0x7e000000U) == 0x36000000U)
        return Branch{false, 5, 14};  // tbz, tbnz
    return std::nullopt;
}

/// `b`, `br`, `ret`, `udf`, `brk`: what follows it is reached by jumps alone.
bool never_passes(std::uint32_t word) {
    return (word & 0xfc000000U) == 0x14000000U || (word & 0xfffffc1fU) == 0xd61f0000U ||
           (word & 0xfffffc1fU) == 0xd65f0000U || (word & 0xffff0000U) == 0 ||
           (word & 0xffe0001fU) == 0xd4200000U;
}

/// Of a number that is moved to a register, or added to one and compared with it, but for the stack
/// pointer; 0 where there is none.
std::uint64_t constant_of(std::uint32_t word) {
    constexpr std::uint32_t stack_pointer = 31;
    if ((word & 0x1f800000U) == 0x12800000U)
        return mixed(word & 0x007fffe0U, 1);
    const bool is_added = (word & 0x1f000000U) == 0x11000000U;
    return is_added && (word >> 5U & 31U) != stack_pointer ? mixed(word & 0x007ffc00U, 1) : 0;
}

bool is_page_address(std::uint32_t word) {
    return (word & 0x9f000000U) == 0x90000000U;
}
bool is_near_address(std::uint32_t word) {
    return (word & 0x9f000000U) == 0x10000000U;
}
bool is_literal_load(std::uint32_t word) {
    return (word & 0x3b000000U) == 0x18000000U;
}
bool is_added_constant(std::uint32_t word) {
    return (word & 0xffc00000U) == 0x91000000U;
}
bool is_offset_access(std::uint32_t word) {
    return (word & 0x3b000000U) == 0x39000000U;
}
bool is_memory(std::uint32_t word) {
    return (word & 0x0a000000U) == 0x08000000U;
}
bool is_vector_or_floating(std::uint32_t word) {
    return (word & 0x0e000000U) == 0x0e000000U;
}
bool is_scalar_floating(std::uint32_t word) {
    return (word & 0x5e000000U) == 0x1e000000U;
}
bool is_indirect_call(std::uint32_t word) {
    return (word & 0xfffffc1fU) == 0xd63f0000U;
}

}  // namespace

/// Turns the instructions of one function into steps.
class Aarch64Steps {
  public:
    Aarch64Steps(BodyReader& reader, const Function& function, Body& body)
        : reader_(reader), function_(function), body_(body) {
        pages_.fill(no_page);
    }

    void read() {
        const Bytes all = reader_.file_.bytes_at(function_.address);
        const auto size = std::min<std::uint64_t>(function_.size, all.size());
        for (std::uint64_t at = 0; at + 4 <= size; at += 4)
            add(function_.address + at, value_at<std::uint32_t>(all, at));
    }

  private:
    void add(std::uint64_t address, std::uint32_t word) {
        Step step{.address = address,
                  .operation = mixed(word >> 21U),
                  .constant = constant_of(word),
                  .references = body_.references.size(),
                  .is_nothing = word == nop};
        const std::size_t tables = reader_.tables_.size();
        const auto branch = branch_of(word);
        if (branch) {
            add_branch(*branch, word, step);
        } else if (!step.is_nothing) {
            count(word);
            step.token = token_of(address, word);
        }
        step.has_table = reader_.tables_.size() != tables;
        step.never_passes = never_passes(word);
        reader_.steps_.push_back(step);
    }

    void add_branch(const Branch& branch, std::uint32_t word, Step& step) {
        const std::uint32_t mask = ((std::uint32_t{1} << branch.bits) - 1) << branch.low;
        step.token = mixed(word & ~mask);
        step.operation = step.token;
        body_.calls += branch.is_call ? 1 : 0;
        body_.branches += branch.is_call ? 0 : 1;
        const std::uint64_t target =
            step.address +
            static_cast<std::uint64_t>(signed_field(word, branch.low, branch.bits) * 4);
        if (function_.holds(target))
            step.target = target;
        else
            leave(branch, target, step);
    }

    void leave(const Branch& branch, std::uint64_t target, Step& step) {
        const Reference reference = reader_.references_.resolve(target);
        if (!branch.is_call)
            reader_.note_exit(reference);
        refer(reference, step.token);
    }

    void count(std::uint32_t word) {
        const bool wide = is_vector_or_floating(word);
        body_.floating += wide && is_scalar_floating(word) ? 1 : 0;
        body_.vector += wide && !is_scalar_floating(word) ? 1 : 0;
        body_.memory += is_memory(word) ? 1 : 0;
        body_.calls += is_indirect_call(word) ? 1 : 0;
    }

    std::uint64_t token_of(std::uint64_t address, std::uint32_t word) {
        const unsigned written = word & 31U;
        const unsigned base = (word >> 5U) & 31U;
        if (is_page_address(word) || is_near_address(word)) {
            const std::int64_t value = signed_field(word, 5, 19) * 4 + ((word >> 29U) & 3U);
            std::uint64_t token = mixed(word & 0x9f00001fU);
            if (is_page_address(word))
                pages_[written] =
                    (address & ~std::uint64_t{0xfff}) + static_cast<std::uint64_t>(value) * 4096;
            else
                refer(reader_.references_.resolve(address + static_cast<std::uint64_t>(value)),
                      token);
            return token;
        }
        if (is_literal_load(word)) {
            std::uint64_t token = mixed(word & 0xff00001fU);
            refer(reader_.references_.resolve(
                      address + static_cast<std::uint64_t>(signed_field(word, 5, 19) * 4)),
                  token);
            return token;
        }
        if (pages_[base] != no_page && (is_added_constant(word) || is_offset_access(word)))
            return page_access(word, base);
        // A register that is written holds no page any more; stores write none, and are rare.
        if (!is_memory(word))
            pages_[written] = no_page;
        return mixed(word);
    }

    /// The low twelve bits of an address whose page is in a register.
    std::uint64_t page_access(std::uint32_t word, unsigned base) {
        const bool adds = is_added_constant(word);
        std::uint64_t scale = adds ? 0 : word >> 30U;
        if (!adds && (word & 0x04800000U) == 0x04800000U && scale == 0)
            scale = 4;  // q registers
        const std::uint64_t target = pages_[base] + (((word >> 10U) & 0xfffU) << scale);
        std::uint64_t token = mixed(word & 0xffc003ffU);
        const Relocation* const relocation = adds ? nullptr : reader_.file_.relocation_at(target);
        if (relocation != nullptr)
            refer(reader_.references_.resolve(*relocation), token);
        else
            refer(reader_.references_.resolve(target), token);
        if (adds && (word & 31U) != base)
            pages_[word & 31U] = no_page;
        return token;
    }

    void refer(const Reference& reference, std::uint64_t& token) {
        token = mixed(token, kind_without_names(reference.kind));
        body_.references.push_back(reference);
    }

    BodyReader& reader_;
    const Function& function_;
    Body& body_;
    static constexpr std::uint64_t no_page = ~std::uint64_t{0};

    std::array<std::uint64_t, 32> pages_{};  ///< which page a register holds
};

void BodyReader::read_aarch64(const Function& function, Body& body) {
    Aarch64Steps(*this, function, body).read();
}

}  // namespace steelyard
