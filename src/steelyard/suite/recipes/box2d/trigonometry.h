// Sine and cosine from additions and products alone. The C library's differ in the last bit between
// its versions and processors, and what falls and collides makes much of the least difference.

#ifndef STEELYARD_TRIGONOMETRY_H
#define STEELYARD_TRIGONOMETRY_H

#include <cmath>

const double WHOLE_TURN = 6.283185307179586;

// Between -pi and pi, up to rounding.
inline double reduced(double angle) {
    return angle - WHOLE_TURN * std::floor(angle / WHOLE_TURN + 0.5);
}

// Taylor's series up to the 23rd power: exact to a float at pi.
inline double sine_series(double x) {
    double sum = 0.0;
    for (int power = 23; power >= 3; power -= 2) {
        sum = (1.0 + sum) * -(x * x) / (power * (power - 1));
    }
    return x * (1.0 + sum);
}

inline float portable_sinf(float angle) {
    return static_cast<float>(sine_series(reduced(angle)));
}

inline float portable_cosf(float angle) {
    return static_cast<float>(sine_series(reduced(angle + WHOLE_TURN / 4)));
}

#define sinf portable_sinf
#define cosf portable_cosf

#endif
