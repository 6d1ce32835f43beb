/* Makes, looks at, renames, links, walks and removes a tree of small files, again and again.
 *
 *     file_tree INPUT FILES ITERATIONS
 *
 * Works in a new directory below the working directory and removes it at the end. The files hold
 * the input piece by piece. Each sixteenth file is brought to the disk with fsync. Standard output
 * has a checksum of what the walks found and what was done in an iteration: files, bytes, fsyncs;
 * it is the same for any number of iterations.
 */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"
#include "steelyard.h"

enum {
    DIRECTORIES = 16, /* on each of two levels */
    LARGEST_BYTES = 16384,
    FSYNC_EACH = 16,
    RENAME_EACH = 3,
    LINK_EACH = 5,
    PATH_BYTES = 512
};

struct done {
    uint64_t checksum;
    unsigned long files, directories, renames, links, fsyncs;
    unsigned long long bytes_written, bytes_read;
};

static void directory_of(char* path, unsigned long file) {
    snprintf(path, PATH_BYTES, "d%lu/e%lu", file % DIRECTORIES, file / DIRECTORIES % DIRECTORIES);
}

static void path_of(char* path, unsigned long file, const char* suffix) {
    char directory[PATH_BYTES / 2];
    snprintf(directory, sizeof directory, "d%lu/e%lu", file % DIRECTORIES,
             file / DIRECTORIES % DIRECTORIES);
    snprintf(path, PATH_BYTES, "%s/f%lu%s", directory, file, suffix);
}

static void make_directories(struct done* done) {
    char path[PATH_BYTES];
    for (unsigned long outer = 0; outer < DIRECTORIES; ++outer) {
        snprintf(path, sizeof path, "d%lu", outer);
        if (mkdir(path, 0700) != 0)
            fail(path);
        ++done->directories;
    }
    for (unsigned long inner = 0; inner < DIRECTORIES * DIRECTORIES; ++inner) {
        directory_of(path, inner);
        if (mkdir(path, 0700) != 0)
            fail(path);
        ++done->directories;
    }
}

static void write_whole(int descriptor, const unsigned char* data, size_t size) {
    while (size > 0) {
        const ssize_t written = write(descriptor, data, size);
        if (written <= 0)
            fail("write");
        data += written;
        size -= (size_t)written;
    }
}

static void make_files(struct bytes input, unsigned long count, struct done* done) {
    uint64_t choices = 1;
    size_t start = 0;
    for (unsigned long file = 0; file < count; ++file) {
        char path[PATH_BYTES];
        const size_t limit = input.size < LARGEST_BYTES ? input.size : LARGEST_BYTES;
        const size_t size = (size_t)next_below(&choices, limit);
        if (start + size > input.size)
            start = 0;
        path_of(path, file, "");
        const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
        if (descriptor < 0)
            fail(path);
        write_whole(descriptor, input.data + start, size);
        start += size;
        done->bytes_written += size;
        ++done->files;
        if (file % FSYNC_EACH == 0) {
            if (fsync(descriptor) != 0)
                fail(path);
            ++done->fsyncs;
        }
        if (close(descriptor) != 0)
            fail(path);
    }
}

/* Moves files to the directory of the next one, and gives some a second name. */
static void rearrange(unsigned long count, struct done* done) {
    for (unsigned long file = 0; file < count; ++file) {
        char path[PATH_BYTES];
        char other[PATH_BYTES];
        path_of(path, file, "");
        if (file % LINK_EACH == 0) {
            path_of(other, file, "-link");
            if (link(path, other) != 0)
                fail(other);
            ++done->links;
        }
        if (file % RENAME_EACH == 0) {
            path_of(other, file + 1, "-moved");
            if (rename(path, other) != 0)
                fail(other);
            ++done->renames;
        }
    }
}

static uint64_t read_file(const char* path, struct done* done) {
    unsigned char block[4096];
    uint64_t sum = CHECKSUM_START;
    ssize_t got;
    const int descriptor = open(path, O_RDONLY);
    if (descriptor < 0)
        fail(path);
    while ((got = read(descriptor, block, sizeof block)) > 0) {
        sum = checksum_bytes(sum, block, (size_t)got);
        done->bytes_read += (unsigned long long)got;
    }
    if (got < 0)
        fail(path);
    close(descriptor);
    return sum;
}

/* Adds what is below `directory` to the checksum, in whatever order the file system gives it, and
 * removes it if asked to. */
static void walk(const char* directory, int remove_too, struct done* done) {
    struct dirent* entry;
    DIR* open_directory = opendir(directory);
    if (open_directory == NULL)
        fail(directory);
    while ((entry = readdir(open_directory)) != NULL) {
        char path[PATH_BYTES];
        struct stat status;
        uint64_t sum;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) >= (int)sizeof path ||
            lstat(path, &status) != 0)
            fail(path);
        sum = checksum_bytes(CHECKSUM_START, (const unsigned char*)path, strlen(path));
        if (S_ISDIR(status.st_mode)) {
            walk(path, remove_too, done);
            if (remove_too && rmdir(path) != 0)
                fail(path);
        } else {
            sum = checksum_add(sum, (uint64_t)status.st_size);
            sum = checksum_add(sum, (uint64_t)status.st_nlink);
            if (!remove_too)
                sum = checksum_add(sum, read_file(path, done));
            else if (unlink(path) != 0)
                fail(path);
        }
        if (!remove_too)
            done->checksum += sum;
    }
    closedir(open_directory);
}

static struct done run(struct bytes input, unsigned long files) {
    struct done done = {0};
    make_directories(&done);
    make_files(input, files, &done);
    rearrange(files, &done);
    walk(".", 0, &done);
    walk(".", 1, &done);
    return done;
}

static void report(struct done done) {
    steelyard_value("bytes_written", "bytes", (double)done.bytes_written, 0);
    steelyard_value("bytes_read", "bytes", (double)done.bytes_read, 0);
    steelyard_value("fsyncs", "count", (double)done.fsyncs, 0);
}

int main(int argc, char** argv) {
    char place[] = "file-tree-XXXXXX";
    struct done done = {0};
    if (argc != 4) {
        fprintf(stderr, "Usage: file_tree INPUT FILES ITERATIONS\n");
        return 2;
    }
    const struct bytes input = read_input(argv[1]);
    const unsigned long files = whole_number("FILES", argv[2], 1);
    const unsigned long iterations = iteration_count(argv[3]);
    if (mkdtemp(place) == NULL || chdir(place) != 0)
        fail(place);
    for (unsigned long i = 0; i < iterations; ++i) {
        const double start_s = steelyard_now();
        const struct done found = run(input, files);
        steelyard_iteration(steelyard_now() - start_s);
        report(found);
        if (i > 0 && found.checksum != done.checksum) {
            fprintf(stderr, "iteration %lu differs from the first one\n", i);
            return 1;
        }
        done = found;
    }
    if (chdir("..") != 0 || rmdir(place) != 0)
        fail(place);
    printf("file-tree %016" PRIx64 "\n", done.checksum);
    printf(
        "%lu files, %lu directories, %lu renames, %lu links, %llu bytes written, "
        "%llu bytes read, %lu fsyncs\n",
        done.files, done.directories, done.renames, done.links, done.bytes_written, done.bytes_read,
        done.fsyncs);
    return 0;
}
