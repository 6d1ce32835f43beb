/// What clang calls as its assembler: puts pads into the frames of functions, and gives the result
/// to an assembler. The arguments are those of GNU as that clang passes.
///
/// What clang compiled goes to GNU as (STEELYARD_AS), which starts in 3 ms where clang takes 20;
/// what that cannot read, and what a person wrote, goes to clang's own (STEELYARD_CLANG).
#include <fcntl.h>
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
    std::vector<std::string> folders;  ///< options, as are the others
    std::vector<std::string> others;
    std::vector<std::string> prefixes;  ///< `OLD=NEW`: folders as the debugger is to see them
    bool describes_lines = false;       ///< of assembly that a person wrote
};

Request parse(int count, char** arguments) {
    Request request;
    for (int at = 1; at < count; ++at) {
        const std::string word = arguments[at];
        const bool has_next = at + 1 < count;
        if (word == "-o" && has_next)
            request.output = arguments[++at];
        else if (word == "-I" && has_next)
            request.folders.insert(request.folders.end(), {word, arguments[++at]});
        else if (word == "--debug-prefix-map" && has_next)
            request.prefixes.emplace_back(arguments[++at]);
        else if (word == "--64")
            continue;
        else if (word.starts_with("-I"))
            request.folders.push_back(word);
        else if (word == "-g")
            request.describes_lines = true;
        else if (word.starts_with('-') && word != "-")
            request.others.push_back(word);
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
int run(std::vector<std::string> words, bool is_silent) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (is_silent)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int failure =
        posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0)
        return is_silent ? 1 : fail("cannot run " + words.front());
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 1;
    return WEXITSTATUS(status);
}

std::vector<std::string> gnu_call(const Request& request, const char* assembler,
                                  const std::string& padded) {
    std::vector<std::string> words{assembler, "--64", "-mx86-used-note=no"};
    words.insert(words.end(), request.folders.begin(), request.folders.end());
    words.insert(words.end(), request.others.begin(), request.others.end());
    for (const std::string& prefix : request.prefixes)
        words.insert(words.end(), {"--debug-prefix-map", prefix});
    words.insert(words.end(), {padded, "-o", request.output});
    return words;
}

std::vector<std::string> clang_call(const Request& request, const std::string& assembly,
                                    const std::string& padded) {
    const char* named = std::getenv("STEELYARD_CLANG");
    std::vector<std::string> words{named != nullptr ? named : "clang-19", "-c", "-x", "assembler",
                                   "-Wno-unused-command-line-argument"};
    words.insert(words.end(), request.folders.begin(), request.folders.end());
    for (const std::string& word : request.others)
        words.push_back("-Wa," + word);
    for (const std::string& prefix : request.prefixes)
        words.push_back("-fdebug-prefix-map=" + prefix);
    // A compiler has said which lines its instructions come from, and of which files it knows sums;
    // its own assembler has no warning of those that have none.
    const bool is_described = assembly.find("\n\t.loc\t") != std::string::npos;
    if (request.describes_lines)
        words.emplace_back(is_described ? "-Wa,--no-warn" : "-g");
    words.insert(words.end(), {padded, "-o", request.output});
    return words;
}

/// A file of its own for what goes to the assembler: `-o` may name a device, or a folder that takes
/// no other file.
std::string temporary_file() {
    const char* folder = std::getenv("TMPDIR");
    std::string name = folder != nullptr && *folder != '\0' ? folder : "/tmp";
    name += "/steelyard-XXXXXX.s";
    const int descriptor = mkstemps(name.data(), 2);
    if (descriptor == -1)
        return {};
    close(descriptor);
    return name;
}

}  // namespace

int main(int count, char** arguments) {
    const Request request = parse(count, arguments);
    std::ifstream file(request.input, std::ios::binary);
    if (!file)
        return fail("cannot read " + request.input);
    const std::string assembly{std::istreambuf_iterator<char>(file),
                               std::istreambuf_iterator<char>()};
    const std::string padded = temporary_file();
    if (padded.empty())
        return fail("cannot write to the folder of temporary files: TMPDIR, or /tmp");
    std::ofstream written(padded, std::ios::binary);
    written << steelyard::layout::with_pads(assembly);
    written.close();
    if (!written) {
        unlink(padded.c_str());
        return fail("cannot write " + padded);
    }
    const char* gnu = std::getenv("STEELYARD_AS");
    int status = 1;
    if (gnu != nullptr && *gnu != '\0' && steelyard::layout::is_compiled(assembly))
        status = run(gnu_call(request, gnu, padded), true);
    if (status != 0)
        status = run(clang_call(request, assembly, padded), false);
    unlink(padded.c_str());
    return status;
}
