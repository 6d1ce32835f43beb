#include "path_tree.hpp"

#include <fstream>
#include <iterator>
#include <string>

#include "temporary_folder.hpp"
#include "tests.hpp"

TEST("a path is found again, also after the tree has grown") {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/tree";
    steelyard::PathTree tree;
    CHECK(tree.open(path.c_str(), 1, 2));
    std::uint32_t node = 0;
    for (std::uint32_t depth = 0; depth < 100'000; ++depth)
        node = tree.child(node, depth % 7, 16 * depth, 0);
    std::uint32_t again = 0;
    for (std::uint32_t depth = 0; depth < 100'000; ++depth)
        again = tree.child(again, depth % 7, 16 * depth, 0);
    CHECK(node == 100'000);
    CHECK(again == node);
    CHECK(tree.header().node_count == 100'001);
    tree.close();
}

TEST("paths differ by parent, function, height or call site") {
    const TemporaryFolder folder;
    steelyard::PathTree tree;
    CHECK(tree.open((folder.path() + "/tree").c_str(), 1, 2));
    const std::uint32_t first = tree.child(0, 1, 32, 0);
    CHECK(tree.child(0, 1, 48, 0) != first);
    CHECK(tree.child(0, 2, 32, 0) != first);
    CHECK(tree.child(first, 1, 32, 0) != first);
    CHECK(tree.child(0, 1, 32, 8) != first);
    CHECK(tree.child(0, 1, 32, 8) == tree.child(0, 1, 32, 8));
    CHECK(tree.child(0, 1, 32, 0) == first);
    tree.close();
}

TEST("the child of a fork has the paths without their counts") {
    const TemporaryFolder folder;
    steelyard::PathTree tree;
    CHECK(tree.open((folder.path() + "/one").c_str(), 1, 1));
    const std::uint32_t node = tree.child(0, 3, 64, 0);
    tree.count(node);
    CHECK(tree.reopen((folder.path() + "/two").c_str(), 2, 2));
    CHECK(tree.child(0, 3, 64, 0) == node);
    CHECK(tree.header().process == 2);
    tree.close();
    std::ifstream one(folder.path() + "/one", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(one), {}};
    const auto* const nodes =
        reinterpret_cast<const steelyard::TreeNode*>(bytes.data() + sizeof(steelyard::TreeHeader));
    CHECK(nodes[node].count == 1);
}

TEST("a start of the stack counts as another where alignments differ, and stays over a fork") {
    const TemporaryFolder folder;
    steelyard::PathTree tree;
    CHECK(tree.open((folder.path() + "/one").c_str(), 1, 1));
    tree.note_start(0x7000);
    tree.note_start(0x9040);
    CHECK(tree.header().start_changes == 0);
    tree.note_start(0x9050);
    CHECK(tree.header().start_changes == 1);
    CHECK(tree.reopen((folder.path() + "/two").c_str(), 2, 2));
    CHECK(tree.header().stack_start == 0x9050);
    CHECK(tree.header().start_changes == 1);
    tree.close();
}
