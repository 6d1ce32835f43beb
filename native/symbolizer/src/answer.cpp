#include "answer.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "debug_file.hpp"
#include "fatal.hpp"
#include "function_names.hpp"
#include "inlining.hpp"
#include "request.hpp"
#include "split_units.hpp"

namespace steelyard {

namespace {

/// On one line, and within its field.
std::string as_field(std::string text) {
    std::ranges::replace_if(
        text, [](char letter) { return letter == '\t' || letter == '\n' || letter == '\r'; }, ' ');
    return text;
}

std::optional<Skeleton> readable_skeleton(const Unit& unit) {
    try {
        return skeleton_of(unit);
    } catch (const Malformed&) {
        return std::nullopt;
    }
}

/// Asks for the files of units, and takes what is there of them.
SplitUnits split_units(const std::vector<Skeleton>& skeletons, std::istream& in, std::ostream& out,
                       MappedFiles& files) {
    out << std::hex;
    for (const Skeleton& skeleton : skeletons)
        out << "dwo\t" << skeleton.id << '\t' << as_field(skeleton.file) << '\t'
            << as_field(skeleton.folder) << '\n';
    out << "wanted\n" << std::flush;
    Request found;
    read_request(in, files, found);
    SplitUnits units;
    for (const auto& [name, sections] : found.sets) {
        constexpr int hexadecimal = 16;
        if (name == "dwp")
            units.set_package(sections);
        else
            units.add_file(std::stoull(name, nullptr, hexadecimal), sections);
    }
    return units;
}

void add_split(Inlining& inlining, SplitUnits& units, const Skeleton& skeleton) {
    try {
        if (const Unit* unit = units.unit_of(skeleton))
            inlining.add(*unit);
    } catch (const Malformed&) {
        return;  // A damaged package has no names.
    }
}

FunctionName name_of(FunctionNames& names, const Place& function, std::uint64_t language) {
    try {
        return names.of(function, language);
    } catch (const Malformed&) {
        return {};
    }
}

void print(const Inlining& inlining, std::ostream& out) {
    FunctionNames names;
    for (std::size_t number = 0; number < inlining.functions().size(); ++number) {
        const Place& function = inlining.functions()[number];
        const FunctionName name = name_of(names, function, inlining.language(number));
        out << "function\t" << std::hex << inlining.entry(function) << std::dec << '\t'
            << (name.is_linkage ? "linkage" : "plain") << '\t' << as_field(name.text) << '\t'
            << as_field(name.last_part) << '\t' << as_field(name.source) << '\n';
    }
    for (const auto& chain : inlining.chains()) {
        out << "at";
        for (const std::uint32_t number : chain)
            out << '\t' << number;
        out << '\n';
    }
    out << "done\n" << std::flush;
}

}  // namespace

void answer(std::istream& in, std::ostream& out) {
    MappedFiles files;
    Request request;
    read_request(in, files, request);
    if (!std::ranges::is_sorted(request.addresses))
        throw Fatal("The symbolizer takes addresses in rising order.");
    std::unique_ptr<DebugFile> shared;
    if (request.sets.contains("alt"))
        shared = std::make_unique<DebugFile>(request.sets["alt"]);
    DebugFile main(request.sets["main"], shared.get());
    Inlining inlining(std::move(request.addresses), std::move(request.code));
    std::vector<Skeleton> skeletons;
    for (const Unit& unit : main.units()) {
        if (!inlining.may_be_in(unit))
            continue;
        if (auto skeleton = readable_skeleton(unit))
            skeletons.push_back(std::move(*skeleton));
        else
            inlining.add(unit);
    }
    SplitUnits split;
    if (!skeletons.empty())
        split = split_units(skeletons, in, out, files);
    for (const Skeleton& skeleton : skeletons)
        add_split(inlining, split, skeleton);
    print(inlining, out);
}

}  // namespace steelyard
