// The symbolizer: which functions the compiler had put at an address, by debugging information.

#include <exception>
#include <iostream>

#include "answer.hpp"
#include "fatal.hpp"

int main() {
    try {
        std::ios::sync_with_stdio(false);
        steelyard::answer(std::cin, std::cout);
    } catch (const steelyard::Fatal& fatal) {
        std::cerr << fatal.message << '\n';
        return 1;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
