"""Which variables of the environment are kept by value: those that explain a result.

Every other variable may hold a secret under a name that nobody foresaw, so the list says what is
kept and not what is left out.
"""

from __future__ import annotations

import re

# Locale and time zone: locale(7), tzset(3). Where programs and their parts are found.
_PLACES = (
    *("LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY"),
    *("LC_NUMERIC", "LC_TIME", "LOCPATH", "TZ", "TZDIR", "PATH", "SHELL", "TMPDIR", "TERM"),
    *("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "CLASSPATH", "JAVA_HOME"),
    *("NODE_PATH", "GEM_PATH", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_TOOLCHAIN", "PERL5LIB"),
)
# What compilers, linkers and build tools read: gcc(1), make(1), cmake-env-variables(7), cargo.
_COMPILERS = (
    *("CC", "CXX", "FC", "CPP", "LD", "AR", "AS", "NM", "RANLIB", "STRIP", "OBJCOPY", "CFLAGS"),
    *("CXXFLAGS", "CPPFLAGS", "FFLAGS", "FCFLAGS", "LDFLAGS", "LIBS", "CPATH", "C_INCLUDE_PATH"),
    *("CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "MAKEFLAGS"),
    *("CMAKE_GENERATOR", "CMAKE_PREFIX_PATH", "CMAKE_BUILD_TYPE", "CMAKE_BUILD_PARALLEL_LEVEL"),
    *("PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "SOURCE_DATE_EPOCH", "RUSTFLAGS", "GOFLAGS"),
    *("CGO_CFLAGS", "CGO_LDFLAGS", "CGO_ENABLED", "GOAMD64", "GOARCH", "GOOS", "JOBS"),
)
# ld.so(8) and glibc's tunables; allocators; threads; collectors of garbage; runtimes.
_RUNTIMES = (
    *("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "LD_BIND_NOW", "LD_BIND_NOT", "LD_HWCAP_MASK"),
    *("LD_DYNAMIC_WEAK", "LD_PREFER_MAP_32BIT_EXEC", "LD_USE_LOAD_BIAS", "GLIBC_TUNABLES"),
    *("GCONV_PATH", "MALLOC_CONF", "MALLOC_ARENA_MAX", "MALLOC_ARENA_TEST", "MALLOC_CHECK_"),
    *("MALLOC_MMAP_MAX_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_PERTURB_", "MALLOC_TOP_PAD_"),
    *("MALLOC_TRIM_THRESHOLD_", "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG", "JAVA_OPTS"),
    *("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "NODE_OPTIONS", "RUBYOPT"),
    *("UV_THREADPOOL_SIZE", "RAYON_NUM_THREADS", "TOKIO_WORKER_THREADS", "JULIA_NUM_THREADS"),
    *("NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "TBB_NUM_THREADS", "DOTNET_gcServer"),
    *("PYTHONHASHSEED", "PYTHONMALLOC", "PYTHONOPTIMIZE", "PYTHONNOUSERSITE", "PYTHON_GIL"),
    *("PYTHONDONTWRITEBYTECODE", "PYTHONUTF8", "PYTHON_JIT", "PYTHON_CPU_COUNT", "GHCRTS"),
)
# Families: OpenMP and its implementations, linear algebra, allocators, Steelyard itself.
_PREFIXES = (
    *("OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "BLIS_", "ATLAS_", "JEMALLOC_", "MIMALLOC_"),
    *("TCMALLOC_", "RUBY_GC_", "DOTNET_GC", "STEELYARD_"),
)
_KEPT = frozenset((*_PLACES, *_COMPILERS, *_RUNTIMES))

_SEGMENT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET_SEGMENTS = frozenset(
    (
        *("token", "secret", "secrets", "password", "passwd", "passphrase", "pass", "pwd", "pw"),
        *("apikey", "credential", "credentials", "creds", "auth", "authorization", "cookie"),
        *("bearer", "dsn", "webhook", "pat", "pgpass", "jwt", "sessionid", "accesskey"),
        *("privatekey", "otp", "passcode", "authkey", "masterkey", "accountkey", "storagekey"),
        *("signingkey", "encryptionkey", "passin", "passout", "connectionstring", "sas"),
        *("storepass", "keypass", "srcstorepass", "deststorepass", "mnemonic", "totp"),
    )
)
_KEYS_OF = frozenset(
    (
        *("api", "access", "private", "secret", "ssh", "signing", "encryption", "auth", "license"),
        *(
            "account",
            "storage",
            "master",
            "shared",
            "service",
            "client",
            "deploy",
            "root",
            "app",
            "application",
        ),
    )
)
# In a family of variables that is kept, these make one that is not.
_PRIVATE_SEGMENTS = frozenset(("key", "license", "url", "uri", "user", "login", "account"))
_ENDINGS = ("password", "passwd", "passphrase", "passcode", "secret", "token", "apikey")
_DIRECTORIES = frozenset(("PWD", "OLDPWD"))


def explains_result(name: str) -> bool:
    """Whether a variable is kept and shown by value: it says what the program was run with, and
    its name does not speak of a secret."""
    if name in _KEPT:
        return True
    is_of_family = name.startswith(_PREFIXES) and not names_secret(name)
    return is_of_family and _PRIVATE_SEGMENTS.isdisjoint(_segments(name))


def names_secret(name: str) -> bool:
    """Whether a name, such as ``DB_PASS``, ``apiKey`` or ``x.y-token``, speaks of a secret."""
    if name in _DIRECTORIES:
        return False
    segments = _segments(name)
    if any(segment in _SECRET_SEGMENTS or segment.endswith(_ENDINGS) for segment in segments):
        return True
    return "key" in segments and not _KEYS_OF.isdisjoint(segments)


def _segments(name: str) -> list[str]:
    return [segment.lower() for segment in _SEGMENT.findall(name)]
