#include "planner.hpp"

#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "byte_reader.hpp"
#include "call_frames.hpp"
#include "decode.hpp"
#include "elf_tables.hpp"
#include "entry_code.hpp"
#include "fatal.hpp"
#include "program_code.hpp"

namespace steelyard {

namespace {

constexpr std::int64_t word = sizeof(std::uint64_t);

struct Jump {
    std::uint64_t target;
    std::uint32_t from;
    bool conditional;
};

struct Code {
    std::uint64_t address = 0;
    std::span<const std::uint8_t> bytes;

    bool holds(std::uint64_t start, std::uint64_t end) const {
        return start >= address && end > start && end - address <= bytes.size();
    }
    std::span<const std::uint8_t> from(std::uint64_t start) const {
        return bytes.subspan(static_cast<std::size_t>(start - address));
    }
};

class Planner {
  public:
    /// `wrappers`: what was put between callers and what they call.
    Planner(const ProgramCode& program, Code wrappers, CallFrames& frames)
        : program_(program),
          code_{program.bytes().address, program.bytes().bytes},
          wrappers_(wrappers),
          frames_(frames) {}

    void read(Plan& plan) {
        find_functions(plan.functions);
        read_wrappers(plan.wrapped_calls);
        for (std::uint32_t index = 0; index < plan.functions.size(); ++index)
            read_code(plan.functions, index);
        place_wrapped_calls(plan.wrapped_calls);
        find_parts(plan.functions);
        plan_entries(plan.functions);
        place_call_sites(plan);
    }

  private:
    void find_functions(std::vector<PlannedFunction>& functions) {
        for (const auto& [start, end] : frames_.ranges()) {
            if (!code_.holds(start, end) || (!functions.empty() && start < functions.back().end))
                continue;
            PlannedFunction function{};
            function.start = function.place = start;
            function.end = end;
            function.owner = static_cast<std::uint32_t>(functions.size());
            const UnwindRow* const row = frames_.at(start);
            const auto& rule = row == nullptr ? RegisterRule{} : row->cfa;
            const bool begins = rule.kind == RegisterRule::Kind::in_register &&
                                rule.other_register == stack_register && rule.distance == word;
            if (!begins)
                function.unwatched = Unwatched::part;
            if (row != nullptr &&
                row->registers[address_register].kind == RegisterRule::Kind::undefined)
                function.unwatched = Unwatched::start;
            functions.push_back(function);
        }
    }

    void read_code(std::vector<PlannedFunction>& functions, std::uint32_t index) {
        PlannedFunction& function = functions[index];
        const auto code = code_.from(function.start);
        const std::uint64_t own_bytes = function.end - function.start;
        for (std::uint64_t at = 0; at < own_bytes;) {
            const auto rest = code.subspan(at);
            const auto instruction = decode(rest);
            if (!instruction) {
                function.unwatched = Unwatched::unreadable;
                return;
            }
            const std::uint64_t next = function.start + at + instruction->length;
            note(*instruction, rest, next, index);
            at += instruction->length;
        }
    }

    void note(const Instruction& instruction, std::span<const std::uint8_t> bytes,
              std::uint64_t next, std::uint32_t index) {
        if (instruction.field == Field::call || instruction.field == Field::jump) {
            const std::uint64_t target =
                next + static_cast<std::uint64_t>(field_distance(instruction, bytes));
            const bool always = instruction.map == one_byte &&
                                (instruction.opcode == 0xe9 || instruction.opcode == 0xeb);
            if (instruction.field == Field::call)
                called_.insert(target);
            else
                jumps_.push_back({target, index, !always});
        }
        // FF /2 and E8.
        const bool indirect = instruction.map == one_byte && instruction.opcode == 0xff &&
                              (instruction.modrm >> 3U & 7U) == 2;
        if (instruction.field == Field::call)
            calls_.emplace_back(sites_.size(), next + static_cast<std::uint64_t>(
                                                          field_distance(instruction, bytes)));
        if (instruction.field == Field::call || indirect)
            note_call(next, index);
    }

    void note_call(std::uint64_t next, std::uint32_t index) {
        CallSite site{next, index, CallSite::Frame::none, 0};
        const UnwindRow* const row = frames_.at(next - 1);
        if (row != nullptr && row->cfa.kind == RegisterRule::Kind::in_register) {
            if (row->cfa.other_register == stack_register) {
                site.frame = CallSite::Frame::by_stack_pointer;
                site.distance = row->cfa.distance;
            } else if (row->cfa.other_register == frame_register) {
                site.frame = CallSite::Frame::by_frame_pointer;
                site.distance = row->cfa.distance - word;
            }
        }
        sites_.push_back(site);
    }

    /// The calls that wrappers make, by where each wrapper begins.
    void read_wrappers(std::unordered_map<std::uint64_t, WrappedCall>& found) {
        std::uint64_t start = wrappers_.address;
        const std::uint64_t end = start + wrappers_.bytes.size();
        for (std::uint64_t at = start; at < end;) {
            const auto rest = wrappers_.from(at);
            const auto instruction = decode(rest);
            if (!instruction)
                return;
            at += instruction->length;
            if (instruction->field == Field::call) {
                const std::uint64_t callee =
                    at + static_cast<std::uint64_t>(field_distance(*instruction, rest));
                called_.insert(callee);
                const UnwindRow* const row = frames_.at(at - 1);
                if (row != nullptr)
                    found[start] = {callee, at, row->cfa.distance};
            }
            constexpr std::uint8_t return_near = 0xc3, trap = 0xcc;
            if (instruction->map == one_byte &&
                (instruction->opcode == return_near || instruction->opcode == trap))
                start = at;
        }
    }

    /// A wrapper's call is one of the function that calls the wrapper, with more on the stack.
    void place_wrapped_calls(const std::unordered_map<std::uint64_t, WrappedCall>& wrapped_calls) {
        for (const auto& [site, target] : calls_) {
            const auto wrapped = wrapped_calls.find(target);
            if (wrapped == wrapped_calls.end())
                continue;
            CallSite through = sites_[site];
            through.return_address = wrapped->second.return_address;
            if (through.frame == CallSite::Frame::by_stack_pointer)
                through.distance += wrapped->second.bytes;
            sites_.push_back(through);
        }
    }

    static std::size_t containing(const std::vector<PlannedFunction>& functions,
                                  std::uint64_t address) {
        const auto after =
            std::ranges::upper_bound(functions, address, {}, &PlannedFunction::start);
        if (after == functions.begin() || address >= std::prev(after)->end)
            return functions.size();
        return static_cast<std::size_t>(std::prev(after) - functions.begin());
    }

    /// Which function jumps to which other.
    std::set<std::pair<std::size_t, std::size_t>> ways_between(
        const std::vector<PlannedFunction>& functions) const {
        std::set<std::pair<std::size_t, std::size_t>> found;
        for (const Jump& jump : jumps_) {
            const std::size_t to = containing(functions, jump.target);
            if (to != functions.size() && to != jump.from)
                found.emplace(jump.from, to);
        }
        return found;
    }

    /// What is reached by jumps of another function alone, and never called, is a part of that one
    /// if its frame is there already, or if some jump is conditional.
    void find_parts(std::vector<PlannedFunction>& functions) {
        std::vector<std::uint32_t> jumped_from(functions.size(), UINT32_MAX);
        const std::set<std::pair<std::size_t, std::size_t>> ways = ways_between(functions);
        for (const Jump& jump : jumps_) {
            const std::size_t index = containing(functions, jump.target);
            if (index == functions.size() || index == jump.from)
                continue;
            PlannedFunction& function = functions[index];
            const bool inside = jump.target != function.start;
            // A part goes back to what it is a part of.
            const bool is_back = inside && ways.contains({index, jump.from});
            if (is_back && function.unwatched != Unwatched::part)
                continue;
            const bool is_part = function.unwatched == Unwatched::part || inside ||
                                 (jump.conditional && !called_.contains(jump.target));
            if (is_part && !called_.contains(function.start))
                jumped_from[index] = jump.from;
        }
        for (std::uint32_t index = 0; index < functions.size(); ++index) {
            if (jumped_from[index] == UINT32_MAX)
                continue;
            functions[index].unwatched = Unwatched::part;
            functions[index].owner = jumped_from[index];
        }
        for (PlannedFunction& function : functions) {
            for (int steps = 0; steps < 8 && functions[function.owner].owner != function.owner;
                 ++steps)
                function.owner = functions[function.owner].owner;
        }
    }

    void plan_entries(std::vector<PlannedFunction>& functions) const {
        std::vector<std::uint64_t> targets;
        targets.reserve(jumps_.size());
        for (const Jump& jump : jumps_)
            targets.push_back(jump.target);
        std::ranges::sort(targets);
        for (std::size_t index = 0; index < functions.size(); ++index) {
            PlannedFunction& function = functions[index];
            if (function.unwatched != Unwatched::none)
                continue;
            std::uint64_t next = program_.section_end(function.start);
            if (index + 1 < functions.size())
                next = std::min(next, functions[index + 1].start);
            plan_entry(function, code_.from(function.start), next);
            const std::uint64_t replaced =
                std::max<std::uint64_t>(function.replaced_bytes, jump_bytes);
            const auto first = std::ranges::upper_bound(targets, function.place);
            if (function.unwatched == Unwatched::none && first != targets.end() &&
                *first < function.place + replaced)
                function.unwatched = Unwatched::branch_inside;
        }
    }

    void place_call_sites(Plan& plan) const {
        const std::uint64_t places = std::bit_ceil(std::max<std::uint64_t>(2 * sites_.size(), 2));
        plan.call_sites.assign(places, CallSite{});
        for (CallSite site : sites_) {
            site.function = plan.functions[site.function].owner;
            std::uint64_t place = call_site_place(site.return_address, places);
            while (plan.call_sites[place].return_address != 0)
                place = (place + 1) & (places - 1);
            plan.call_sites[place] = site;
        }
        plan.header.call_site_places = places;
    }

    const ProgramCode& program_;
    Code code_, wrappers_;
    CallFrames& frames_;
    std::vector<Jump> jumps_;
    std::vector<CallSite> sites_;
    std::vector<std::pair<std::size_t, std::uint64_t>> calls_;  ///< index of site, target
    std::unordered_set<std::uint64_t> called_;
};

std::vector<std::byte> bytes_of(const std::string& path, PlanHeader& header) {
    struct stat status{};
    std::ifstream in(path, std::ios::binary);
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || !in)
        throw Fatal::with_errno("The program " + path + " cannot be read");
    constexpr std::uint64_t second_ns = 1'000'000'000;
    header.device = status.st_dev;
    header.inode = status.st_ino;
    header.bytes = static_cast<std::uint64_t>(status.st_size);
    header.modified_ns = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * second_ns +
                         static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
    std::vector<char> data{std::istreambuf_iterator<char>(in), {}};
    const auto view = std::as_bytes(std::span(data));
    return {view.begin(), view.end()};
}

Code code_of(const ElfTables& tables, std::string_view section) {
    for (const auto& [name, header] : tables.sections()) {
        if (name != section || header.sh_type == SHT_NOBITS)
            continue;
        const Bytes bytes = tables.part(header.sh_offset, header.sh_size);
        return {header.sh_addr,
                {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}};
    }
    return {};
}

void check_program(const ElfTables& tables, PlanHeader& header) {
    if (tables.header().e_machine != EM_X86_64)
        throw Fatal("It is not for x86-64.");
    bool dynamic = false;
    for (const Elf64_Phdr& segment : tables.segments()) {
        dynamic = dynamic || segment.p_type == PT_INTERP;
        if (segment.p_type == PT_LOAD)
            header.image_end = std::max(header.image_end, segment.p_vaddr + segment.p_memsz);
    }
    if (!dynamic)
        throw Fatal(
            "It is linked statically; its paths are learnt in a program that loads "
            "libraries.");
}

}  // namespace

Plan plan_of(const std::string& path) try {
    Plan plan;
    plan.header.magic = plan_magic;
    const auto bytes = bytes_of(path, plan.header);
    const ElfTables tables(bytes);
    check_program(tables, plan.header);
    const ProgramCode code(tables);
    const Code wrappers = code_of(tables, ".steelyard.calls");
    auto elf = ElfFile::open(path);
    if (!elf)
        throw Malformed();
    CallFrames frames(std::move(elf));
    Planner(code, wrappers, frames).read(plan);
    if (plan.functions.empty())
        throw Fatal(
            "It has no tables of frames (.eh_frame, indexed by .eh_frame_hdr) for its code. "
            "gcc and clang write them with -fasynchronous-unwind-tables and "
            "-Wl,--eh-frame-hdr.");
    plan.header.function_count = plan.functions.size();
    return plan;
} catch (const Malformed&) {
    throw Fatal("It is no ELF program that can be read.");
}

}  // namespace steelyard
