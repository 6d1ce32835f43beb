// Draws mirrored spheres by tracing rays, under Google Benchmark.
//
//     rays INPUT SIDE REPETITIONS
//
// The scene is drawn from the input; a picture has SIDE x SIDE rays. Shapes are classes with
// virtual functions, and a ray that is reflected too often ends by an exception. Standard output
// has the checksum of the picture alone.

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "program.hpp"

namespace {

constexpr int SHAPE_COUNT = 24;
constexpr int MOST_REFLECTIONS = 5;
constexpr double NEAREST = 1e-6;
constexpr double NOWHERE = std::numeric_limits<double>::infinity();

struct Vector {
    double x, y, z;
};

Vector operator+(Vector a, Vector b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
Vector operator-(Vector a, Vector b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
Vector operator*(Vector a, double factor) {
    return {a.x * factor, a.y * factor, a.z * factor};
}
double dot(Vector a, Vector b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
Vector unit(Vector a) {
    return a * (1.0 / std::sqrt(dot(a, a)));
}

struct Ray {
    Vector from, along;
};

struct TooDeep : std::exception {};

class Shape {
  public:
    explicit Shape(double shine) : shine_(shine) {}
    Shape(const Shape&) = delete;
    Shape& operator=(const Shape&) = delete;
    virtual ~Shape() = default;
    // How far along the ray it is met; infinite where it is not.
    [[nodiscard]] virtual double distance(const Ray& ray) const = 0;
    [[nodiscard]] virtual Vector normal(Vector place) const = 0;
    [[nodiscard]] double shine() const { return shine_; }

  private:
    double shine_;
};

class Sphere final : public Shape {
  public:
    Sphere(Vector centre, double radius, double shine)
        : Shape(shine), centre_(centre), radius_(radius) {}

    [[nodiscard]] double distance(const Ray& ray) const override {
        const Vector towards = centre_ - ray.from;
        const double middle = dot(towards, ray.along);
        const double rest = radius_ * radius_ - dot(towards, towards) + middle * middle;
        if (rest < 0.0)
            return NOWHERE;
        const double near = middle - std::sqrt(rest);
        return near > NEAREST ? near : NOWHERE;
    }

    [[nodiscard]] Vector normal(Vector place) const override { return unit(place - centre_); }

  private:
    Vector centre_;
    double radius_;
};

class Floor final : public Shape {
  public:
    Floor(double height, double shine) : Shape(shine), height_(height) {}

    [[nodiscard]] double distance(const Ray& ray) const override {
        if (ray.along.y >= 0.0)
            return NOWHERE;
        const double far = (height_ - ray.from.y) / ray.along.y;
        return far > NEAREST ? far : NOWHERE;
    }

    [[nodiscard]] Vector normal(Vector) const override { return {0.0, 1.0, 0.0}; }

  private:
    double height_;
};

using Scene = std::vector<std::unique_ptr<Shape>>;

// Numbers from 0 to 1 out of the bytes of the input, which is begun again at its end.
class Draw {
  public:
    explicit Draw(const std::string& input) : input_(input) {}

    double operator()() {
        std::uint32_t value = 0;
        for (int byte = 0; byte < 3; ++byte)
            value = value * 256 + static_cast<unsigned char>(input_[place_++ % input_.size()]);
        return static_cast<double>(value * 2654435761U >> 8) / (1 << 24);
    }

  private:
    const std::string& input_;
    std::size_t place_ = 0;
};

Scene scene(const std::string& input) {
    Draw draw(input);
    Scene shapes;
    shapes.push_back(std::make_unique<Floor>(-2.0, 0.3));
    while (shapes.size() < SHAPE_COUNT) {
        const double x = draw() * 10 - 5;
        const double y = draw() * 6 - 2;
        const double z = draw() * 8 + 6;
        const double radius = draw() + 0.4;
        shapes.push_back(std::make_unique<Sphere>(Vector{x, y, z}, radius, draw() * 0.8));
    }
    return shapes;
}

double light(const Scene& shapes, const Ray& ray, int reflections) {
    if (reflections > MOST_REFLECTIONS)
        throw TooDeep();
    const Shape* met = nullptr;
    double nearest = NOWHERE;
    for (const auto& shape : shapes) {
        const double distance = shape->distance(ray);
        if (distance < nearest) {
            nearest = distance;
            met = shape.get();
        }
    }
    if (met == nullptr)
        return 0.5 + 0.5 * ray.along.y;
    const Vector place = ray.from + ray.along * nearest;
    const Vector normal = met->normal(place);
    const double facing = dot(normal, {0.6, 0.64, -0.48});
    const double own = facing > 0.0 ? facing : 0.0;
    const Ray mirrored{place, ray.along - normal * (2 * dot(normal, ray.along))};
    return own * (1 - met->shine()) + met->shine() * light(shapes, mirrored, reflections + 1);
}

std::uint64_t picture(const std::string& input, int side) {
    const Scene shapes = scene(input);
    std::uint64_t sum = CHECKSUM_START;
    for (int row = 0; row < side; ++row) {
        for (int column = 0; column < side; ++column) {
            const double x = (column - side / 2.0) / side;
            const double y = (side / 2.0 - row) / side;
            double value = 0.0;
            try {
                value = light(shapes, {{0.0, 0.0, 0.0}, unit({x, y, 1.0})}, 0);
            } catch (const TooDeep&) {
                value = 0.0;
            }
            sum = checksum_add(sum, static_cast<std::uint64_t>(value * 255.0));
        }
    }
    return sum;
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 4) {
        std::cerr << "Usage: rays INPUT SIDE REPETITIONS\n";
        return 2;
    }
    const std::string input = read_input(argv[1]);
    if (input.empty())
        throw std::runtime_error("the input is empty");
    const int side = std::stoi(whole_number("SIDE", argv[2]));
    const auto found =
        benchmarked("rays", repetitions(argv[3]), [&] { return picture(input, side); });
    std::printf("gbench-rays %016llx\n", static_cast<unsigned long long>(found));
    return 0;
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 2;
}
