/* Bodies that attract each other, again and again from the same start.
 *
 *     nbody INPUT BODIES STEPS ITERATIONS
 *
 * Places, velocities and masses are drawn from the input. An iteration takes so many leapfrog steps
 * of the bodies under softened gravity, all pairs, and adds up where they are then. Standard output
 * has the checksum of that, which is the same for every iteration and any number of them.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>

#include "program.h"
#include "steelyard.h"

#define STEP_S 1e-3
#define SOFTENING 1e-2

struct body {
    double place[3];
    double velocity[3];
    double acceleration[3];
    double mass;
};

/* From -1 to 1, out of three bytes of the input, which is begun again at its end. */
static double drawn(struct bytes input, size_t* place) {
    uint32_t value = 0;
    for (int byte = 0; byte < 3; ++byte)
        value = value * 256 + input.data[(*place)++ % input.size];
    return (double)(value * UINT32_C(2654435761) >> 8) / (double)(1 << 23) - 1.0;
}

static void draw(struct bytes input, struct body* bodies, size_t count) {
    size_t place = 0;
    for (size_t i = 0; i < count; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            bodies[i].place[axis] = drawn(input, &place);
            bodies[i].velocity[axis] = drawn(input, &place) / 8;
        }
        bodies[i].mass = (drawn(input, &place) + 2.0) / (double)count;
    }
}

static void attract(struct body* bodies, size_t count) {
    for (size_t i = 0; i < count; ++i)
        for (int axis = 0; axis < 3; ++axis)
            bodies[i].acceleration[axis] = 0.0;
    for (size_t i = 0; i < count; ++i) {
        struct body* one = &bodies[i];
        for (size_t j = i + 1; j < count; ++j) {
            struct body* other = &bodies[j];
            const double x = other->place[0] - one->place[0];
            const double y = other->place[1] - one->place[1];
            const double z = other->place[2] - one->place[2];
            const double square = x * x + y * y + z * z + SOFTENING;
            const double factor = 1.0 / (square * sqrt(square));
            const double towards = factor * other->mass;
            const double back = factor * one->mass;
            one->acceleration[0] += x * towards;
            one->acceleration[1] += y * towards;
            one->acceleration[2] += z * towards;
            other->acceleration[0] -= x * back;
            other->acceleration[1] -= y * back;
            other->acceleration[2] -= z * back;
        }
    }
}

static uint64_t move(struct body* bodies, size_t count, unsigned long steps) {
    uint64_t sum = CHECKSUM_START;
    attract(bodies, count);
    for (unsigned long step = 0; step < steps; ++step) {
        for (size_t i = 0; i < count; ++i) {
            for (int axis = 0; axis < 3; ++axis) {
                bodies[i].velocity[axis] += bodies[i].acceleration[axis] * STEP_S / 2;
                bodies[i].place[axis] += bodies[i].velocity[axis] * STEP_S;
            }
        }
        attract(bodies, count);
        for (size_t i = 0; i < count; ++i)
            for (int axis = 0; axis < 3; ++axis)
                bodies[i].velocity[axis] += bodies[i].acceleration[axis] * STEP_S / 2;
    }
    for (size_t i = 0; i < count; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            uint64_t bits;
            memcpy(&bits, &bodies[i].place[axis], sizeof bits);
            sum = checksum_add(sum, bits);
        }
    }
    return sum;
}

int main(int argc, char** argv) {
    if (argc != 5) {
        fprintf(stderr, "Usage: nbody INPUT BODIES STEPS ITERATIONS\n");
        return 2;
    }
    const struct bytes input = read_input(argv[1]);
    const size_t count = whole_number("BODIES", argv[2], 2);
    const unsigned long steps = whole_number("STEPS", argv[3], 1);
    const unsigned long iterations = iteration_count(argv[4]);
    struct body* start = allocate(count * sizeof *start);
    struct body* bodies = allocate(count * sizeof *bodies);
    uint64_t expected = 0;
    memset(start, 0, count * sizeof *start);
    draw(input, start, count);
    for (unsigned long i = 0; i < iterations; ++i) {
        const double start_s = steelyard_now();
        memcpy(bodies, start, count * sizeof *bodies);
        const uint64_t sum = move(bodies, count, steps);
        steelyard_iteration(steelyard_now() - start_s);
        if (i > 0 && sum != expected) {
            fprintf(stderr, "iteration %lu differs from the first one\n", i);
            return 1;
        }
        expected = sum;
    }
    printf("nbody %016" PRIx64 "\n", expected);
    return 0;
}
