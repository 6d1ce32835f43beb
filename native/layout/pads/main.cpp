/// What clang calls as its assembler: puts pads into the frames of functions, and gives the result
/// to clang's own assembler. The arguments are those of GNU as that clang passes.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "pads.hpp"

namespace {

struct Request {
    std::string input, output = "a.out";
    std::vector<std::string> options;
    bool describes_lines = false;  ///< of assembly that a person wrote
};

Request parse(int count, char** arguments) {
    Request request;
    for (int at = 1; at < count; ++at) {
        const std::string word = arguments[at];
        const bool has_next = at + 1 < count;
        if (word == "-o" && has_next)
            request.output = arguments[++at];
        else if (word == "-I" && has_next)
            request.options.insert(request.options.end(), {word, arguments[++at]});
        else if (word == "--64")
            continue;
        else if (word.starts_with("-I"))
            request.options.push_back(word);
        else if (word == "-g")
            request.describes_lines = true;
        else if (word.starts_with('-') && word != "-")
            request.options.push_back("-Wa," + word);
        else
            request.input = word;
    }
    return request;
}

int fail(const std::string& message) {
    std::fprintf(stderr, "steelyard: the assembler %s\n", message.c_str());
    return 1;
}

/// Whether the program could be run, and ended well: its exit status.
int run(std::vector<std::string>& words) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0)
        return fail("cannot run " + words.front());
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 1;
    return WEXITSTATUS(status);
}

}  // namespace

int main(int count, char** arguments) {
    const Request request = parse(count, arguments);
    const char* named = std::getenv("STEELYARD_CLANG");
    const std::string clang = named != nullptr ? named : "clang-19";
    std::ifstream file(request.input, std::ios::binary);
    if (!file)
        return fail("cannot read " + request.input);
    const std::string assembly{std::istreambuf_iterator<char>(file),
                               std::istreambuf_iterator<char>()};
    const std::string padded = request.output + ".steelyard-" + std::to_string(getpid()) + ".s";
    std::ofstream(padded, std::ios::binary) << steelyard::layout::with_pads(assembly);
    std::vector<std::string> words{clang, "-c", "-x", "assembler",
                                   "-Wno-unused-command-line-argument"};
    words.insert(words.end(), request.options.begin(), request.options.end());
    // A compiler has said which lines its instructions come from, and of which files it knows sums;
    // its own assembler has no warning of those that have none.
    const bool is_described = assembly.find("\n\t.loc\t") != std::string::npos;
    if (request.describes_lines)
        words.emplace_back(is_described ? "-Wa,--no-warn" : "-g");
    words.insert(words.end(), {padded, "-o", request.output});
    const int status = run(words);
    unlink(padded.c_str());
    return status;
}
