#include "document.hpp"

#include <cstdio>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "body.hpp"
#include "fatal.hpp"
#include "functions.hpp"
#include "references.hpp"

namespace steelyard {

namespace {

/// Writes JSON into one text, and that out at the end.
class Writer {
  public:
    explicit Writer(std::ostream& out) : out_(out) {}
    ~Writer() { flush(); }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    Writer(Writer&&) = delete;
    Writer& operator=(Writer&&) = delete;

    void raw(std::string_view text) { text_ += text; }
    void number(std::uint64_t value) { text_ += std::to_string(value); }

    /// Bytes that are no ASCII become what Python's surrogateescape makes of them.
    void text(std::string_view value) {
        text_ += '"';
        for (const char one : value) {
            const auto byte = static_cast<unsigned char>(one);
            if (byte >= 0x80)
                escaped("\\udc%02x", byte);
            else if (byte < 0x20 || byte == 0x7f)
                escaped("\\u00%02x", byte);
            else if (one == '"' || one == '\\')
                (text_ += '\\') += one;
            else
                text_ += one;
        }
        text_ += '"';
        if (text_.size() > flush_bytes)
            flush();
    }

    template <typename Items, typename Write>
    void list(const Items& items, Write write) {
        text_ += '[';
        bool first = true;
        for (const auto& item : items) {
            if (!first)
                text_ += ',';
            first = false;
            write(item);
            if (text_.size() > flush_bytes)
                flush();
        }
        text_ += ']';
    }

    template <typename Items, typename Take>
    void column(std::string_view name, const Items& items, Take take) {
        key(name);
        list(items, [&](const auto& item) { number(take(item)); });
    }

    template <typename Items, typename Take>
    void texts(std::string_view name, const Items& items, Take take) {
        key(name);
        list(items, [&](const auto& item) { text(take(item)); });
    }

    void key(std::string_view name) {
        text_ += needs_comma_ ? ",\n" : "{";
        needs_comma_ = true;
        text(name);
        text_ += ':';
    }

  private:
    static constexpr std::size_t flush_bytes = 1U << 20U;

    void escaped(const char* format, unsigned byte) {
        char buffer[8];
        std::snprintf(buffer, sizeof buffer, format, byte);
        text_ += buffer;
    }

    void flush() {
        out_ << text_;
        text_.clear();
    }

    std::ostream& out_;
    std::string text_;
    bool needs_comma_ = false;
};

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

void write_columns(Writer& writer, const std::vector<Body>& bodies) {
    writer.column("digests", bodies, [](const Body& one) { return one.digest; });
    writer.column("loop_digests", bodies, [](const Body& one) { return one.loop_digest; });
    writer.column("instructions", bodies, [](const Body& one) { return one.instructions; });
    writer.column("floating", bodies, [](const Body& one) { return one.floating; });
    writer.column("vector", bodies, [](const Body& one) { return one.vector; });
    writer.column("branches", bodies, [](const Body& one) { return one.branches; });
    writer.column("calls", bodies, [](const Body& one) { return one.calls; });
    writer.column("memory", bodies, [](const Body& one) { return one.memory; });
    writer.key("sketches");
    writer.list(bodies, [&](const Body& one) {
        writer.list(one.sketch, [&](std::uint32_t value) { writer.number(value); });
    });
    // Each reference is three numbers: its kind, its place in the list of its kind, its offset.
    writer.key("references");
    writer.list(bodies, [&](const Body& one) {
        writer.raw("[");
        for (std::size_t at = 0; at < one.references.size(); ++at) {
            const Reference& reference = one.references[at];
            writer.raw(at == 0 ? "" : ",");
            writer.number(static_cast<std::uint64_t>(reference.kind));
            writer.raw(",");
            writer.number(reference.place);
            writer.raw(",");
            writer.number(reference.offset);
        }
        writer.raw("]");
    });
}

}  // namespace

namespace {

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
    BodyReader reader(file, functions, references);
    std::vector<Body> bodies;
    bodies.reserve(functions.size());
    for (const Function& function : functions)
        bodies.push_back(reader.read(function));
    const std::vector<DataObject> objects = references.objects();

    Writer writer(out);
    writer.key("machine");
    writer.text(file.machine() == Machine::x86_64 ? "x86-64" : "aarch64");
    writer.key("build_id");
    writer.text(file.build_id());
    writer.key("stripped");
    writer.raw(file.is_stripped() ? "true" : "false");
    writer.texts("libraries", file.libraries(), [](std::string_view one) { return one; });
    writer.texts("producers", producers(file), [](std::string_view one) { return one; });
    writer.texts("names", functions, [](const Function& one) { return one.name; });
    writer.column("addresses", functions, [](const Function& one) { return one.address; });
    writer.column("sizes_bytes", functions, [](const Function& one) { return one.size; });
    write_columns(writer, bodies);
    writer.texts("externals", references.externals(), [](std::string_view one) { return one; });
    writer.texts("objects", objects, [](const DataObject& one) { return one.name; });
    writer.column("object_sizes_bytes", objects, [](const DataObject& one) { return one.size; });
    writer.column("object_digests", objects,
                  [&](const DataObject& one) { return data_digest(file, one); });
    writer.raw("}\n");
}

void write_steps(Bytes bytes, std::span<const std::size_t> places, std::ostream& out) {
    const ProgramFile file(bytes);
    const std::vector<Function> functions = some_functions(file);
    References references(file, functions);
    BodyReader reader(file, functions, references);
    Writer writer(out);
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
