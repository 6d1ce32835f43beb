#include "document.hpp"

#include <set>
#include <span>
#include <string>
#include <vector>

#include "all_bodies.hpp"
#include "body.hpp"
#include "fatal.hpp"
#include "functions.hpp"
#include "json_writer.hpp"
#include "references.hpp"

namespace steelyard {

namespace {

/// What compilers write about themselves: `.comment`, and DW_AT_producer where it is a whole text.
std::set<std::string_view> producers(const ProgramFile& file) {
    std::set<std::string_view> found;
    for (const std::string_view name :
         {std::string_view(".comment"), std::string_view(".GCC.command.line"),
          std::string_view(".debug_str"), std::string_view(".debug_line_str")}) {
        const Section* const section = file.section(name);
        if (section == nullptr || (section->flags & 0x800U) != 0)  // SHF_COMPRESSED
            continue;
        const bool any = !name.starts_with(".debug");
        for (std::size_t at = 0; at < section->bytes.size();) {
            const std::string_view text = text_at(section->bytes, at);
            const bool names_compiler = text.starts_with("GNU ") || text.starts_with("clang ") ||
                                        text.starts_with("rustc ") || text.starts_with("Go cmd/");
            if (!text.empty() && (any || names_compiler))
                found.insert(text);
            at += text.size() + 1;
        }
    }
    return found;
}

/// What `take` gives of each item, as numbers of 32 bits, or of the width that is asked for.
template <typename Number = std::uint32_t, typename Items, typename Take>
void write_column(JsonWriter& writer, std::string_view name, const Items& items, Take take) {
    std::vector<Number> values;
    values.reserve(items.size());
    for (const auto& item : items)
        values.push_back(take(item));
    writer.column(name, std::span<const Number>(values));
}

void write_sketches(JsonWriter& writer, const std::vector<Body>& bodies) {
    std::vector<std::uint32_t> values;
    values.reserve(bodies.size() * sketch_values);
    for (const Body& one : bodies)
        values.insert(values.end(), one.sketch.begin(), one.sketch.end());
    writer.column("sketches", std::span<const std::uint32_t>(values));
}

/// Each reference is three numbers: its kind, its place in the list of its kind, its offset, of
/// which the lower half tells places of an object apart.
void write_references(JsonWriter& writer, const std::vector<Body>& bodies) {
    std::vector<std::uint32_t> values;
    for (const Body& one : bodies) {
        for (const Reference& reference : one.references) {
            values.push_back(static_cast<std::uint32_t>(reference.kind));
            values.push_back(reference.place);
            values.push_back(static_cast<std::uint32_t>(reference.offset));
        }
    }
    writer.column("references", std::span<const std::uint32_t>(values));
    write_column(writer, "reference_counts", bodies,
                 [](const Body& one) { return static_cast<std::uint32_t>(one.references.size()); });
}

void write_columns(JsonWriter& writer, const std::vector<Body>& bodies) {
    using Wide = std::uint64_t;
    write_column<Wide>(writer, "digests", bodies, [](const Body& one) { return one.digest; });
    write_column<Wide>(writer, "loop_digests", bodies,
                       [](const Body& one) { return one.loop_digest; });
    write_column(writer, "instructions", bodies, [](const Body& one) { return one.instructions; });
    write_column(writer, "floating", bodies, [](const Body& one) { return one.floating; });
    write_column(writer, "vector", bodies, [](const Body& one) { return one.vector; });
    write_column(writer, "branches", bodies, [](const Body& one) { return one.branches; });
    write_column(writer, "calls", bodies, [](const Body& one) { return one.calls; });
    write_column(writer, "memory", bodies, [](const Body& one) { return one.memory; });
    write_sketches(writer, bodies);
    write_references(writer, bodies);
}

std::vector<Function> some_functions(const ProgramFile& file) {
    std::vector<Function> functions = find_functions(file);
    if (functions.empty())
        throw Fatal("no function is found in it: neither symbols nor unwinding tables");
    return functions;
}

}  // namespace

void write_bodies(Bytes bytes, std::ostream& out) {
    const ProgramFile file(bytes);
    const std::vector<Function> functions = some_functions(file);
    References references(file, functions);
    const std::vector<Body> bodies = read_all(file, functions, references);
    const std::vector<DataObject> objects = references.objects();

    JsonWriter writer(out);
    writer.key("machine");
    writer.text(file.machine() == Machine::x86_64 ? "x86-64" : "aarch64");
    writer.key("build_id");
    writer.text(file.build_id());
    writer.key("stripped");
    writer.raw(file.is_stripped() ? "true" : "false");
    writer.texts("libraries", file.libraries(), [](std::string_view one) { return one; });
    writer.texts("producers", producers(file), [](std::string_view one) { return one; });
    writer.texts("names", functions, [](const Function& one) { return one.name; });
    write_columns(writer, bodies);
    writer.texts("externals", references.externals(), [](std::string_view one) { return one; });
    writer.texts("objects", objects, [](const DataObject& one) { return one.name; });
    write_column<std::uint64_t>(writer, "object_sizes_bytes", objects,
                                [](const DataObject& one) { return one.size; });
    write_column<std::uint64_t>(writer, "object_digests", objects,
                                [&](const DataObject& one) { return data_digest(file, one); });
    writer.raw("}\n");
}

void write_steps(Bytes bytes, std::span<const std::size_t> places, std::ostream& out) {
    const ProgramFile file(bytes);
    const std::vector<Function> functions = some_functions(file);
    References references(file, functions);
    BodyReader reader(file, functions, references);
    JsonWriter writer(out);
    writer.raw("[");
    for (const std::size_t& place : places) {
        if (place >= functions.size())
            throw Fatal("it has no function of that number");
        const Body body = reader.read(functions[place]);
        writer.raw(&place == places.data() ? "" : ",");
        // Halves of the tokens tell steps apart as well, and are half as long to read.
        const auto half = [](std::uint64_t value) { return value >> 32U; };
        std::vector<Step> steps = reader.steps();
        std::erase_if(steps, [](const Step& step) { return step.is_nothing; });
        writer.raw("[");
        writer.list(steps, [&](const Step& step) { writer.number(step.address); });
        writer.raw(",");
        writer.list(steps, [&](const Step& step) { writer.number(half(step.operation)); });
        writer.raw(",");
        writer.list(steps, [&](const Step& step) { writer.number(half(step.token)); });
        writer.raw(",");
        // No address is 1: where a table leads is not followed.
        writer.list(steps,
                    [&](const Step& step) { writer.number(step.has_table ? 1 : step.target); });
        writer.raw(",");
        writer.list(steps, [&](const Step& step) { writer.number(step.never_passes ? 1 : 0); });
        writer.raw(",");
        writer.list(steps, [&](const Step& step) { writer.number(half(step.constant)); });
        writer.raw(",");
        steps.push_back({.references = body.references.size()});
        writer.list(steps, [&](const Step& step) { writer.number(step.references); });
        writer.raw(",");
        writer.list(reader.table_targets(), [&](std::uint64_t target) { writer.number(target); });
        writer.raw("]\n");
    }
    writer.raw("]\n");
}

}  // namespace steelyard
