// The reader of bodies: which functions a program has, and what each does, without addresses.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <exception>
#include <iostream>
#include <new>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "byte_reader.hpp"
#include "document.hpp"
#include "fatal.hpp"

namespace {

// A program of 100 MB takes 40 MB beside its mapping, and two seconds. What takes far more was made
// to.
constexpr rlim_t least_bytes = rlim_t{512} << 20;
constexpr rlim_t bytes_per_byte = 8;
constexpr rlim_t least_seconds = 60;
constexpr rlim_t bytes_per_second = 1'000'000;

void limit(int resource, rlim_t most) {
    rlimit limits{};
    if (getrlimit(resource, &limits) != 0)
        return;
    limits.rlim_cur = std::min({most, limits.rlim_cur, limits.rlim_max});
    setrlimit(resource, &limits);
}

/// Keep this process from taking more memory and time than any program of this size needs.
void limit_for(std::size_t size) {
    limit(RLIMIT_DATA, least_bytes + bytes_per_byte * size);
    limit(RLIMIT_CPU, least_seconds + size / bytes_per_second);
    limit(RLIMIT_CORE, 0);
}

/// A file that stays mapped until the program ends.
steelyard::Bytes map_file(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        throw steelyard::Fatal::with_errno("it cannot be opened");
    struct stat status{};
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        throw steelyard::Fatal("it is no file");
    const auto size = static_cast<std::size_t>(status.st_size);
    limit_for(size);
    void* const memory =
        size == 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED)
        throw steelyard::Fatal(size == 0 ? "it is empty" : "it cannot be mapped into memory");
    return {static_cast<const std::byte*>(memory), size};
}

/// The numbers of functions among the arguments.
std::vector<std::size_t> places_of(std::span<char*> arguments) {
    std::vector<std::size_t> found;
    for (const std::string_view text : arguments) {
        std::size_t place = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), place);
        if (error != std::errc{} || end != text.data() + text.size())
            throw steelyard::Fatal("usage: steelyard-bodies FILE [NUMBER ...]");
        found.push_back(place);
    }
    return found;
}

}  // namespace

int main(int count, char** arguments) {
    try {
        const std::span<char*> given(arguments, static_cast<std::size_t>(count));
        if (given.size() < 2)
            throw steelyard::Fatal("usage: steelyard-bodies FILE [NUMBER ...]");
        const std::vector<std::size_t> places = places_of(given.subspan(2));
        std::ios::sync_with_stdio(false);
        const steelyard::Bytes file = map_file(given[1]);
        if (places.empty())
            steelyard::write_bodies(file, std::cout);
        else
            steelyard::write_steps(file, places, std::cout);
        std::cout.flush();
        return std::cout ? 0 : 1;
    } catch (const steelyard::Fatal& fatal) {
        std::cerr << fatal.message << '\n';
    } catch (const steelyard::Malformed&) {
        std::cerr << "it is no ELF file of 64 bits, little-endian, or it is damaged\n";
    } catch (const std::bad_alloc&) {
        std::cerr << "it claims more than a program of its size can hold\n";
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
    }
    return 1;
}
