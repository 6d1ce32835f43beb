"""Commands that start Java, and the agent that is loaded into it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import quote

from steelyard.core.errors import MissingCapabilityError, UsageError
from steelyard.core.install_hint import install_command
from steelyard.core.native_program import native_program
from steelyard.profile.java.java_code import java_code_paths, java_code_prefix
from steelyard.profile.recording_request import Recording

# Where a frame of HotSpot's interpreter holds its method: three words below its base, on x86-64
# (frame_x86.hpp, interpreter_frame_method_offset) and on AArch64 (frame_aarch64.hpp).
METHOD_BELOW_FRAME_BYTES = 24
# Without these, places in compiled code are known at calls alone, and every instruction between two
# would count for the method of the second.
_EVERY_PLACE = ("-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints")
_FRAME_POINTERS = "-XX:+PreserveFramePointer"
# Threads of the virtual machine itself, by the beginnings of the names that HotSpot gives them; of
# names the kernel keeps 15 characters. The program's own threads have names of all kinds, and the
# main one gets another when it ends.
_MACHINE_THREADS = (
    *("C1 Compiler", "C2 Compiler", "Compiler", "Sweeper thread", "VM Thread", "VM Periodic"),
    *("GC Thread", "ParGC", "G1 ", "ZWorker", "ZDirector", "ZDriver", "Shenandoah"),
    *("Service Thread", "Monitor Deflati", "Signal Dispatch", "JFR "),
)
_ATTACH_LIMIT_S = 60
# The 10 s of jcmd itself are too few on a busy machine.
_ATTACH_PATIENCE = "-J-Dsun.tools.attach.attachTimeout=50000"


def is_java(argv: Sequence[str]) -> bool:
    """Whether a command starts Java itself, and not by a script."""
    found = shutil.which(argv[0]) if argv else None
    return found is not None and os.path.basename(os.path.realpath(found)) == "java"


def require_java(profiler: str, argv: Sequence[str]) -> None:
    """Refuse a command that does not start Java.

    Raises
    ------
    UsageError
        It is another program, or there is none of that name.
    """
    if argv and not is_java(argv):
        raise UsageError(
            f"The profiler {profiler} wants a program of the form java OPTIONS CLASS..., and "
            f"{argv[0]!r} is not Java.",
            field="command",
        )


def agent_path() -> str:
    """The agent that Java loads.

    Raises
    ------
    MissingCapabilityError
        It was not built, for want of the headers of a JDK.
    """
    jdk = install_command("openjdk-17-jdk-headless")
    advice = (
        f"It is built where the headers of a JDK are: `{jdk}` "
        "installs them, and in a checkout `make native` builds it."
    )
    return native_program(
        "libsteelyard-jvm.so", "the agent for Java", advice=advice, field="command"
    )


def agent_options(options: Mapping[str, object]) -> str:
    """The options of the agent as it reads them; native/jvm/src/options.hpp."""
    return ",".join(f"{key}={quote(str(value), safe='/')}" for key, value in options.items())


def with_agent(
    argv: Sequence[str], options: Mapping[str, object], flags: Sequence[str] = ()
) -> tuple[str, ...]:
    """A command of Java with the agent, and with other options of Java before it."""
    agent = f"-agentpath:{agent_path()}={agent_options(options)}"
    return (argv[0], *flags, agent, *argv[1:])


def java_recording(recording: Recording) -> Recording:
    """The recording that also maps the code of the Java virtual machines that it starts, or of the
    one that it watches.

    Where the command starts Java itself the agent is among its arguments, elsewhere it comes by
    ``JAVA_TOOL_OPTIONS``, of which Java tells on standard error.

    Raises
    ------
    MissingCapabilityError
        The agent is not there, or nothing that loads it into a running process.
    UsageError
        The process does not take the agent.
    """
    options = {"map": java_code_prefix(recording.output)}
    flags = (*_EVERY_PLACE, *((_FRAME_POINTERS,) if recording.stacks != "none" else ()))
    recording = replace(recording, word_below_frame_bytes=METHOD_BELOW_FRAME_BYTES)
    if recording.process is not None:
        _attach(recording.process, options)
        return recording
    if is_java(recording.argv):
        return replace(recording, argv=with_agent(recording.argv, options, flags))
    agent = f'"-agentpath:{agent_path()}={agent_options(options)}"'
    before = os.environ.get("JAVA_TOOL_OPTIONS", "")
    words = " ".join((before, *flags, agent)).lstrip()
    return replace(recording, environment={**recording.environment, "JAVA_TOOL_OPTIONS": words})


def remove_older_maps(profile: str, began_ns: int) -> None:
    """Remove the code maps beside a profile that were last written before a time of the clock, in
    nanoseconds: those of an older recording to the same file."""
    for path in java_code_paths(profile).values():
        if os.stat(path).st_mtime_ns < began_ns:
            os.unlink(path)


def is_machine_thread(name: str) -> bool:
    """Whether a thread of that name works for the virtual machine, and not for the program."""
    return name.startswith(_MACHINE_THREADS)


def is_java_process(process: int) -> bool:
    """Whether a process is Java."""
    try:
        return os.path.basename(os.readlink(f"/proc/{process}/exe")) == "java"
    except OSError:
        return False


def _attach(process: int, options: Mapping[str, object]) -> None:
    beside = os.path.dirname(os.path.realpath(f"/proc/{process}/exe"))
    jcmd = shutil.which("jcmd", path=beside) or shutil.which("jcmd")
    if jcmd is None:
        raise MissingCapabilityError(
            f"Nothing here loads the agent into the Java process {process}: there is no program "
            f"jcmd. `{install_command('openjdk-17-jdk-headless')}` installs it.",
            field="--pid",
        )
    # In quotes, or jcmd takes the options for its own.
    quoted = f'"{agent_options(options)}"'
    words = [jcmd, _ATTACH_PATIENCE, str(process), "JVMTI.agent_load", agent_path(), quoted]
    try:
        told = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=_ATTACH_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        raise UsageError(
            f"The Java process {process} did not answer within {_ATTACH_LIMIT_S} s.", field="--pid"
        ) from None
    if told.returncode != 0 or "return code: 0" not in told.stdout:
        message = " ".join((told.stderr or told.stdout).split())[:200]
        raise UsageError(
            f"The Java process {process} does not take the agent: {message}", field="--pid"
        )
