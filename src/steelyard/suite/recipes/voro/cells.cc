// Reads points in the unit cube, and prints the volumes, faces and edges of their Voronoi cells.
// Usage: cells POINTS COPIES

#include <cstdio>
#include <cstdlib>

#include "voro++.hh"

namespace {

const int BLOCKS = 14;

struct Totals {
    double volume_cubed = 0;
    long faces = 0;
    long edges = 0;
};

Totals measured(voro::container& points) {
    Totals totals;
    voro::voronoicell cell;
    voro::c_loop_all loop(points);
    if (loop.start()) {
        do {
            if (points.compute_cell(cell, loop)) {
                const double volume = cell.volume();
                totals.volume_cubed += volume * volume * volume;
                totals.faces += cell.number_of_faces();
                totals.edges += cell.number_of_edges();
            }
        } while (loop.inc());
    }
    return totals;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: cells POINTS COPIES\n");
        return 2;
    }
    for (int copy = 0; copy < std::atoi(argv[2]); copy++) {
        voro::container points(0, 1, 0, 1, 0, 1, BLOCKS, BLOCKS, BLOCKS, true, true, true, 8);
        std::FILE* file = std::fopen(argv[1], "r");
        if (file == nullptr) {
            std::perror(argv[1]);
            return 1;
        }
        double x, y, z;
        for (int n = 0; std::fscanf(file, "%lf %lf %lf", &x, &y, &z) == 3; n++) {
            points.put(n, x, y, z / (1 + copy));
        }
        std::fclose(file);
        const Totals totals = measured(points);
        std::printf("%d %.9e %ld %ld\n", copy, totals.volume_cubed, totals.faces, totals.edges);
    }
}
