#include "table_writer.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#include "stack_switches.hpp"
#include "table.hpp"

namespace steelyard::layout {

namespace {

std::uint32_t narrow(std::uint64_t value) {
    if (value > std::numeric_limits<std::int32_t>::max())
        throw ImageError("is larger than 2 GiB");
    return static_cast<std::uint32_t>(value);
}

std::uint32_t rounded(std::uint32_t value, std::uint32_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

/// The arrays of the table while they grow.
struct Arrays {
    std::vector<FunctionEntry> functions;
    std::vector<Fixup> fixups;
    std::vector<JumpTable> jump_tables;
    std::vector<Label> labels;
    std::vector<std::uint32_t> pads;
    std::vector<BlockEntry> blocks;
    std::string exempted;
};

/// The jump table of `function` that holds `address`, counted from its first, or -1.
std::ptrdiff_t jump_table_of(const Function& function, std::uint64_t address) {
    auto after = function.jump_tables.upper_bound(address);
    if (after == function.jump_tables.begin())
        return -1;
    const auto found = std::prev(after);
    if (address >= found->first + found->second)
        return -1;
    return std::distance(function.jump_tables.begin(), found);
}

/// Turns functions into the entries of the table; `moving` gives each its index there.
class Writer {
  public:
    explicit Writer(const Functions& functions)
        : functions_(functions), moving_(functions.all().size(), target_fixed) {
        std::uint32_t count = 0;
        for (std::size_t index = 0; index < functions.all().size(); ++index) {
            if (functions.all()[index].moves())
                moving_[index] = count++;
        }
    }

    Arrays arrays() {
        for (std::size_t index = 0; index < functions_.all().size(); ++index) {
            const auto& function = functions_.all()[index];
            if (function.moves())
                add(function, moving_[index]);
            else
                found_.exempted += function.name + '\0' + function.exempted + '\0';
        }
        FunctionEntry last{};
        begin(last);
        found_.functions.push_back(last);
        return std::move(found_);
    }

  private:
    void begin(FunctionEntry& entry) const {
        entry.first_fixup = narrow(found_.fixups.size());
        entry.first_jump_table = narrow(found_.jump_tables.size());
        entry.first_pad = narrow(found_.pads.size());
        entry.first_block = narrow(found_.blocks.size());
    }

    void add(const Function& function, std::uint32_t index) {
        FunctionEntry entry{};
        begin(entry);
        entry.start = narrow(function.start);
        entry.size = narrow(function.end - function.start);
        entry.code_bytes = rounded(entry.size, jump_table_alignment_bytes);
        entry.checks_depth = function.checks_depth ? 1 : 0;
        const std::uint32_t first_table = entry.first_jump_table;
        for (const std::uint64_t pad : function.pads)
            found_.pads.push_back(narrow(pad - function.start));
        for (const auto& [start, bytes] : function.jump_tables) {
            found_.jump_tables.push_back({narrow(start), bytes, entry.table_bytes});
            entry.table_bytes += rounded(bytes, jump_table_alignment_bytes);
        }
        add_blocks(function, entry);
        for (const auto& use : function.fields) {
            if (use.bytes == sizeof(std::int32_t))
                add_fixup(function, index, first_table, use);
        }
        for (const std::uint64_t label : function.labels)
            found_.labels.push_back({narrow(label), index});
        found_.functions.push_back(entry);
    }

    void add_blocks(const Function& function, FunctionEntry& entry) {
        std::uint32_t bytes = 0;
        for (const auto& block : function.blocks) {
            bytes += block.bytes;
            if (block.end != BlockEnd::stops)
                bytes += jump_bytes;
            if (block.end == BlockEnd::branches)
                bytes += branch_bytes;
            found_.blocks.push_back(block);
        }
        entry.cut_bytes = rounded(bytes, jump_table_alignment_bytes);
    }

    void add_fixup(const Function& function, std::uint32_t index, std::uint32_t first_table,
                   const FieldUse& use) {
        const bool inside = use.target >= function.start && use.target < function.end;
        const bool branches = use.kind == Field::call || use.kind == Field::jump;
        if (branches && inside) {
            // Left out, these would stay in an old copy as long as it loops or recurs. A table's
            // address in a register and the pad of a frame belong to their copy, so functions with
            // them stay in theirs.
            const bool loops =
                use.backward && function.jump_tables.empty() && function.pads.empty();
            const bool recurs = use.kind == Field::call && use.target == function.start;
            if (recurs || loops)
                found_.fixups.push_back({use.offset, index});
            return;
        }
        if (use.kind == Field::memory && inside)
            return;
        std::uint32_t target = target_fixed;
        const std::ptrdiff_t other = functions_.find(use.target);
        const std::ptrdiff_t table = jump_table_of(function, use.target);
        if (branches && other >= 0)
            target = moving_[static_cast<std::size_t>(other)];
        else if (!branches && table >= 0)
            target = target_jump_table | (first_table + static_cast<std::uint32_t>(table));
        found_.fixups.push_back({use.offset, target});
    }

    const Functions& functions_;
    std::vector<std::uint32_t> moving_;
    Arrays found_;
};

template <typename T>
std::uint64_t append(std::vector<std::uint8_t>& bytes, const std::vector<T>& values) {
    bytes.resize((bytes.size() + alignof(std::uint64_t) - 1) / alignof(std::uint64_t) *
                 alignof(std::uint64_t));
    const std::uint64_t offset = bytes.size();
    bytes.resize(offset + values.size() * sizeof(T));
    if (!values.empty())
        std::memcpy(bytes.data() + offset, values.data(), values.size() * sizeof(T));
    return offset;
}

void describe_image(const ElfImage& image, const Functions& functions, TableHeader& header) {
    header.image_low = header.text_low = std::numeric_limits<std::uint64_t>::max();
    for (const auto& segment : image.segments()) {
        if (segment.p_type != PT_LOAD)
            continue;
        header.image_low = std::min(header.image_low, segment.p_vaddr);
        header.image_high = std::max(header.image_high, segment.p_vaddr + segment.p_memsz);
    }
    for (const auto& function : functions.all()) {
        if (!function.moves())
            continue;
        const std::uint64_t stub_end = function.start + stub_bytes;
        header.text_low = std::min(header.text_low, function.start);
        header.text_high = std::max({header.text_high, function.end, stub_end});
    }
}

}  // namespace

std::vector<std::uint8_t> layout_table(const ElfImage& image, const Functions& functions,
                                       const Wishes& wishes) {
    const Arrays arrays = Writer(functions).arrays();
    TableHeader header{};
    std::memcpy(header.magic, table_magic, sizeof header.magic);
    header.version = table_version;
    header.parts = wishes.parts;
    header.interval_ns = wishes.interval_ns;
    header.seed = wishes.seed;
    header.switches_stacks = may_switch_stacks(image, functions) ? 1 : 0;
    describe_image(image, functions, header);
    header.function_count = narrow(arrays.functions.size() - 1);
    header.fixup_count = narrow(arrays.fixups.size());
    header.jump_table_count = narrow(arrays.jump_tables.size());
    header.label_count = narrow(arrays.labels.size());
    header.pad_count = narrow(arrays.pads.size());
    header.block_count = narrow(arrays.blocks.size());
    header.exempted_count = narrow(functions.all().size() - header.function_count);
    std::vector<std::uint8_t> bytes(sizeof header);
    header.functions = append(bytes, arrays.functions);
    header.fixups = append(bytes, arrays.fixups);
    header.jump_tables = append(bytes, arrays.jump_tables);
    header.labels = append(bytes, arrays.labels);
    header.pads = append(bytes, arrays.pads);
    header.blocks = append(bytes, arrays.blocks);
    header.exempted =
        append(bytes, std::vector<char>(arrays.exempted.begin(), arrays.exempted.end()));
    header.size = bytes.size();
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

}  // namespace steelyard::layout
