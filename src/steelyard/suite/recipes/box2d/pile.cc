// Lets made-up bodies fall on a pyramid of boxes, and prints where all bodies are from time to
// time. Usage: pile BODIES ROWS STEPS; BODIES has lines of x, size, spin and shape, each from 0
// to 1.

#include <cstdio>
#include <cstdlib>

#include "box2d/box2d.h"

namespace {

const float TIME_STEP = 1.0f / 60.0f;
const int STEPS_BETWEEN_BODIES = 4;
const int STEPS_BETWEEN_PRINTS = 50;

void add_ground(b2World& world) {
    b2BodyDef definition;
    b2EdgeShape edge;
    b2Body* ground = world.CreateBody(&definition);
    edge.SetTwoSided(b2Vec2(-60.0f, 0.0f), b2Vec2(60.0f, 0.0f));
    ground->CreateFixture(&edge, 0.0f);
    edge.SetTwoSided(b2Vec2(-60.0f, 0.0f), b2Vec2(-70.0f, 40.0f));
    ground->CreateFixture(&edge, 0.0f);
    edge.SetTwoSided(b2Vec2(60.0f, 0.0f), b2Vec2(70.0f, 40.0f));
    ground->CreateFixture(&edge, 0.0f);
}

void add_body(b2World& world, const b2Shape& shape, float x, float y, float spin) {
    b2BodyDef definition;
    definition.type = b2_dynamicBody;
    definition.position.Set(x, y);
    definition.angularVelocity = spin;
    world.CreateBody(&definition)->CreateFixture(&shape, 5.0f);
}

void add_pyramid(b2World& world, int rows) {
    b2PolygonShape box;
    box.SetAsBox(0.5f, 0.5f);
    for (int row = 0; row < rows; row++) {
        for (int place = row; place < rows; place++) {
            const float x = (place - 0.5f * (rows + row)) * 1.125f;
            add_body(world, box, x, 0.55f + 1.05f * row, 0.0f);
        }
    }
}

// False at the end of the file.
bool drop_next(b2World& world, std::FILE* bodies) {
    float x, size, spin, shape;
    if (std::fscanf(bodies, "%f %f %f %f", &x, &size, &spin, &shape) != 4) {
        return false;
    }
    const float radius = 0.3f + 0.5f * size;
    const float place = 80.0f * (x - 0.5f);
    if (shape < 0.5f) {
        b2CircleShape circle;
        circle.m_radius = radius;
        add_body(world, circle, place, 45.0f, spin);
    } else {
        b2PolygonShape box;
        box.SetAsBox(radius, 0.6f * radius);
        add_body(world, box, place, 45.0f, spin);
    }
    return true;
}

void print_state(const b2World& world, int step) {
    double x = 0, y = 0, angle = 0;
    for (const b2Body* body = world.GetBodyList(); body != nullptr; body = body->GetNext()) {
        x += body->GetPosition().x;
        y += body->GetPosition().y;
        angle += body->GetAngle();
    }
    std::printf("%d %d %d %.9g %.9g %.9g\n", step, world.GetBodyCount(), world.GetContactCount(), x,
                y, angle);
}

}  // namespace

int main(int argc, char** argv) {
    std::FILE* bodies = argc == 4 ? std::fopen(argv[1], "r") : nullptr;
    if (bodies == nullptr) {
        std::fprintf(stderr, "usage: pile BODIES ROWS STEPS\n");
        return 2;
    }
    b2World world(b2Vec2(0.0f, -10.0f));
    world.SetAllowSleeping(false);
    add_ground(world);
    add_pyramid(world, std::atoi(argv[2]));
    for (int step = 1; step <= std::atoi(argv[3]); step++) {
        if (step % STEPS_BETWEEN_BODIES == 0) {
            drop_next(world, bodies);
        }
        world.Step(TIME_STEP, 8, 3);
        if (step % STEPS_BETWEEN_PRINTS == 0) {
            print_state(world, step);
        }
    }
    std::fclose(bodies);
}
