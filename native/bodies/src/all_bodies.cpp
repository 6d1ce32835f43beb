#include "all_bodies.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

namespace steelyard {

namespace {

constexpr std::size_t most_threads = 4;
// What takes some milliseconds is read by one thread.
constexpr std::uint64_t bytes_per_thread = 256U << 10U;

/// Functions that lie one after the other, and what they refer to.
struct Part {
    std::size_t begin = 0;
    std::size_t end = 0;
    References references;
    std::vector<Body> bodies;
    std::exception_ptr failure;
};

std::uint64_t code_bytes(const std::vector<Function>& functions) {
    std::uint64_t sum = 0;
    for (const Function& one : functions)
        sum += one.size;
    return sum;
}

/// Parts with about as much code each.
std::vector<Part> parts_of(const std::vector<Function>& functions, const References& references,
                           std::size_t count) {
    std::vector<Part> parts;
    const std::uint64_t share = code_bytes(functions) / count;
    std::size_t begin = 0;
    std::uint64_t bytes = 0;
    for (std::size_t place = 0; place < functions.size(); ++place) {
        bytes += functions[place].size;
        const bool is_last = place + 1 == functions.size();
        if (!is_last && (bytes <= share || parts.size() + 1 == count))
            continue;
        parts.push_back({begin, place + 1, references, {}, nullptr});
        begin = place + 1;
        bytes = 0;
    }
    return parts;
}

void read_part(const ProgramFile& file, const std::vector<Function>& functions, Part& part) {
    try {
        BodyReader reader(file, functions, part.references);
        part.bodies.reserve(part.end - part.begin);
        for (std::size_t place = part.begin; place < part.end; ++place)
            part.bodies.push_back(reader.read(functions[place]));
    } catch (...) {
        part.failure = std::current_exception();
    }
}

void renumber(const References::Places& places, Body& body) {
    for (Reference& one : body.references) {
        if (one.kind == ReferenceKind::external)
            one.place = places.externals[one.place];
        else if (one.kind == ReferenceKind::data)
            one.place = places.objects[one.place];
    }
}

}  // namespace

std::vector<Body> read_all(const ProgramFile& file, const std::vector<Function>& functions,
                           References& references, std::size_t threads) {
    std::vector<Part> parts = parts_of(functions, references, std::max<std::size_t>(1, threads));
    {
        std::vector<std::jthread> running;
        for (std::size_t at = 1; at < parts.size(); ++at) {
            try {
                running.emplace_back([&, at] { read_part(file, functions, parts[at]); });
            } catch (const std::system_error&) {
                read_part(file, functions, parts[at]);
            }
        }
        if (!parts.empty())
            read_part(file, functions, parts.front());
    }
    std::vector<Body> all;
    all.reserve(functions.size());
    for (Part& part : parts) {
        if (part.failure)
            std::rethrow_exception(part.failure);
        const References::Places places = references.take(part.references);
        for (Body& body : part.bodies) {
            renumber(places, body);
            all.push_back(std::move(body));
        }
    }
    return all;
}

std::vector<Body> read_all(const ProgramFile& file, const std::vector<Function>& functions,
                           References& references) {
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    const auto wanted = static_cast<std::size_t>(code_bytes(functions) / bytes_per_thread);
    return read_all(file, functions, references, std::min({processors, most_threads, wanted}));
}

}  // namespace steelyard
