// The root file systems of containers, made by the first process of each.

#pragma once

#include <string>

#include "options.hpp"

namespace steelyard {

/// What a container begins from, opened before privileges are given up.
struct Source {
    int folder = -1;         ///< the package, or what a build has saved
    bool is_layer = false;   ///< whether it is what a build has saved
    std::string layer_path;  ///< the folder of that
};

/// Makes a root of the host's system folders or of an image, seen but not writable, on a file
/// system in memory that is the container's own, and changes to it. The open folder that it returns
/// is that file system. Throws Fatal.
int make_contained_root(const Options& options, const Source& source);

/// Makes a root of the host's own or of an image with a layer on disk above it, and changes to it.
void make_trusted_root(const Options& options, const Source& source);

/// Makes the file that the layer of a trusted container lies in. Throws Fatal.
void make_layer_file(const Options& options);

/// Mounts something, or throws Fatal, which says what.
void mount_or_throw(const char* from, const std::string& to, const char* type, unsigned long flags,
                    const char* data, const std::string& what);

/// Makes the folder `root` the root of this process and leaves the old one.
void change_root(const std::string& root);

/// A folder, where it is not there yet.
void make_folder(const std::string& path, unsigned mode = 0755);

}  // namespace steelyard
