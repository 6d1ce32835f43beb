"""What clang's options mean for a layout build: tables, nothing else."""

from __future__ import annotations

# Options after which clang links nothing.
NO_LINK = frozenset(
    (
        *("-c", "-S", "-E", "-M", "-MM", "--compile", "--assemble", "--preprocess"),
        *("--dependencies", "--user-dependencies", "-fsyntax-only", "--precompile"),
        *("--analyze", "--analyzer-output", "-emit-ast", "-emit-pch", "-extract-api"),
        *("-verify-pch", "-rewrite-objc", "-rewrite-legacy-objc", "-emit-interface-stubs"),
        *("-###", "-fdriver-only", "-ccc-print-phases", "-ccc-print-bindings"),
        *("-r", "--emit-static-lib", "-cc1", "-cc1as"),
    )
)
# Words to the linker by which no program comes out.
LINKER_QUERIES = frozenset(("--version", "--help"))
NO_PROGRAM = frozenset(("-r", "-i", "--relocatable")) | LINKER_QUERIES
SHARED = frozenset(("-shared", "--shared"))
LINKER_SHARED = frozenset(("-shared", "--shared", "-Bshareable"))
# clang answers these and does nothing else.
_QUERIES = frozenset(
    (
        *("--version", "--help", "-help", "--help-hidden", "--target-help"),
        *("-dumpversion", "-dumpmachine", "-dumpspecs", "-cc1", "-cc1as"),
    )
)
_QUERY_PREFIXES = ("-print-", "--print-", "--autocomplete=")
# Options of clang whose value is the next argument; it must not be taken for an input.
TAKES_VALUE = frozenset(
    (
        *("-o", "-x", "-I", "-D", "-U", "-L", "-l", "-T", "-u", "-z", "-B", "-F", "-e", "-A"),
        *("--output", "--language", "--param", "--sysroot", "-isysroot", "-target", "-arch"),
        *("-MF", "-MT", "-MQ", "-MJ", "-include", "-include-pch", "-imacros", "-isystem"),
        *("-isystem-after", "-iquote", "-idirafter", "-iprefix", "-iwithprefix"),
        *("-iwithprefixbefore", "-iwithsysroot", "-cxx-isystem", "-c-isystem", "-iframework"),
        *("-ivfsoverlay", "-Xclang", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xanalyzer"),
        *("-mllvm", "-mmlir", "-framework", "-dumpdir", "-rpath", "-Tbss", "-Tdata", "-Ttext"),
        *("-serialize-diagnostics", "--serialize-diagnostics", "-working-directory"),
        *("-mthread-model", "-undefined", "-weak_framework", "-G"),
    )
)
HEADER_SUFFIXES = (".h", ".H", ".hh", ".hp", ".hpp", ".hxx", ".h++", ".tcc")
# What moving takes is decided here, so the opposite is left out of the user's words.
REPLACED = frozenset(
    (
        *("-no-pie", "-nopie", "-fno-pie", "-fno-PIE", "-fno-pic", "-fno-PIC"),
        *("-fno-function-sections", "-s", "-static-libgcc", "-fno-ident", "-Qn"),
    )
)
REPLACED_WITH_PADS = frozenset(("-fomit-frame-pointer", "-fintegrated-as"))
REPLACED_PREFIXES = ("-fuse-ld=", "--ld-path=", "-gz")
# The same of what goes to the linker.
LINKER_REPLACED = frozenset(
    (
        *("-s", "--strip-all", "-S", "--strip-debug", "-x", "--discard-all", "-X"),
        *("--discard-locals", "--no-pie", "-no-pie"),
    )
)
LINKER_REPLACED_PREFIXES = ("--compress-debug-sections",)
_BY_SYMBOLS = "functions are found by their symbols; `strip` the program afterwards, it moves still"
_COMPRESSED = (
    "debugging sections have to be read; `objcopy --compress-debug-sections` it afterwards"
)
_INDEPENDENT = "only position-independent programs can move"
# Of these the user would see something in the program, and is told.
LEFT_OUT = {
    "-s": _BY_SYMBOLS,
    "-gz": _COMPRESSED,
    **dict.fromkeys(("-no-pie", "-nopie", "-fno-pie", "-fno-PIE"), _INDEPENDENT),
}
LINKER_LEFT_OUT = {
    **dict.fromkeys(
        LINKER_REPLACED - {"--no-pie", "-no-pie"},
        _BY_SYMBOLS,
    ),
    "--compress-debug-sections": _COMPRESSED,
    **dict.fromkeys(("--no-pie", "-no-pie"), _INDEPENDENT),
}
REFUSED_SANITIZERS = frozenset(("address", "hwaddress", "leak", "memory", "safe-stack", "thread"))
_STATIC = (
    "a program that is linked statically has no dynamic linker to start the runtime; "
    "take -static-libstdc++ for the library of the language"
)
_ARCHITECTURE = "functions are moved on x86-64 only"
_UNWINDER = "exceptions find moved functions through libgcc's unwinder"
REFUSED = {
    **dict.fromkeys(("-static", "--static", "-static-pie"), _STATIC),
    **dict.fromkeys(("-m32", "-mx32", "-m16"), _ARCHITECTURE),
    "-fsplit-stack": "stack pads use the field of split stacks",
    "-mspeculative-load-hardening": "it compares return addresses with where code was linked",
    **dict.fromkeys(("--unwindlib=libunwind", "-unwindlib=libunwind"), _UNWINDER),
}
# Of a program; a library finds the runtime in the program that loads it.
REFUSED_OF_PROGRAMS = {
    "-nostdlib": "the runtime needs the C library",
    "-nodefaultlibs": "the runtime needs the C library; name it with -lc",
    "-nolibc": "the runtime needs the C library; name it with -lc",
    "-nostartfiles": "the runtime is started by the C library's start-up files",
}
POSITION_INDEPENDENT = frozenset(("-fPIC", "-fpic", "-fPIE", "-fpie"))
# What shared libraries must find in the program instead of in the C library.
EXPORTED = (
    *("_Unwind_Find_FDE", "_Unwind_SetIP"),
    *("malloc", "free", "calloc", "realloc", "reallocarray", "memalign", "posix_memalign"),
    *("aligned_alloc", "valloc", "pvalloc", "malloc_usable_size"),
    *("pthread_create", "dlclose", "steelyard_layout_enter", "steelyard_layout_leave"),
    *("dlopen", "dlmopen", "dlsym", "dlvsym", "dladdr", "syscall", "prctl", "_exit", "_Exit"),
    *("execve", "execv", "execvp", "execvpe", "fexecve", "execveat", "execl", "execlp", "execle"),
    *("mlockall", "setrlimit", "setrlimit64", "prlimit", "prlimit64"),
)


def is_query(word: str) -> bool:
    """Whether clang only answers it."""
    return word in _QUERIES or word.startswith(_QUERY_PREFIXES)


def is_foreign_target(name: str) -> bool:
    """Whether a target triple names another machine, system or C library than those that move."""
    words = name.split("-")
    other_library = words[-1] in ("gnux32", "musl", "musleabi", "android")
    return words[0] not in ("x86_64", "amd64") or "linux" not in words or other_library
