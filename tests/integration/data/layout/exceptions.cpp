// What C++ adds: exceptions through many frames and threads, virtual calls, coroutines, statics.
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Shape {
    virtual ~Shape() = default;
    virtual long area() const = 0;
};
struct Square : Shape {
    explicit Square(long side) : side(side) {}
    long area() const override { return side * side; }
    long side;
};
struct Strip : Shape {
    explicit Strip(long length) : length(length) {}
    long area() const override {
        if (length % 10 == 0)
            throw std::out_of_range("strip");
        return length;
    }
    long length;
};

struct Numbers {
    struct promise_type {
        long current = 0;
        Numbers get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(long value) {
            current = value;
            return {};
        }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};

Numbers count_from(long first) {
    for (long value = first;; ++value)
        co_yield value * 3 % 101;
}

struct Counted {
    explicit Counted(long& count) : count(count) { ++count; }
    ~Counted() { --count; }
    long& count;
};

[[gnu::noinline]] long descend(int depth, long which, long& alive) {
    const Counted counted(alive);
    if (depth == 0) {
        if (which % 3 == 0)
            throw std::runtime_error("bottom");
        if (which % 3 == 1)
            throw which;
        throw std::string("text");
    }
    return descend(depth - 1, which, alive) + 1;
}

long catches(int rounds, long start) {
    long sum = 0;
    long alive = 0;
    std::map<std::string, long> names;
    for (int round = 0; round < rounds; ++round) {
        try {
            sum += descend(round % 30, start + round, alive);
        } catch (const std::runtime_error& error) {
            sum += error.what()[0];
        } catch (long value) {
            sum += value % 7;
        } catch (...) {
            try {
                throw;
            } catch (const std::string& text) {
                sum += static_cast<long>(text.size());
            }
        }
        names["n" + std::to_string(round % 50)] += round;
    }
    return sum + alive * 1000000 + names["n7"];
}

}  // namespace

int main(int count, char** arguments) {
    const int rounds = count > 1 ? std::atoi(arguments[1]) : 500;
    std::vector<std::unique_ptr<Shape>> shapes;
    for (long i = 0; i < 100; ++i) {
        if (i % 2 == 0)
            shapes.push_back(std::make_unique<Square>(i));
        else
            shapes.push_back(std::make_unique<Strip>(i * 5));
    }
    long area = 0;
    for (int round = 0; round < rounds; ++round) {
        for (const auto& shape : shapes) {
            try {
                area += shape->area();
            } catch (const std::out_of_range&) {
                area -= 1;
            }
        }
    }
    auto numbers = count_from(5);
    std::function<long()> next = [&] {
        numbers.handle.resume();
        return numbers.handle.promise().current;
    };
    long drawn = 0;
    for (int i = 0; i < rounds * 100; ++i)
        drawn += next();
    numbers.handle.destroy();
    std::vector<long> sums(4);
    std::vector<std::thread> threads;
    for (long i = 0; i < 4; ++i)
        threads.emplace_back([&, i] { sums[i] = catches(rounds, i); });
    for (auto& thread : threads)
        thread.join();
    std::printf("%ld %ld %ld %ld %ld %ld\n", area, drawn, sums[0], sums[1], sums[2], sums[3]);
    return 0;
}
