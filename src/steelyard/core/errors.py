"""The one error tree. A message says what failed, where, and what to do about it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

# No name of a file is longer (NAME_MAX): a longer word is a value of a file that somebody made.
_LONG_WORD, _LONG_COUNT = r"[^\s/]{256,}", 256
_SHOWN = 60
# Of a line about data: what failed and where is told at its beginning, what is wanted at its end.
_LONGEST_LINE, _FIRST, _LAST = 1000, 500, 300


class SteelyardError(Exception):
    """Anything that a user is told in one clear message instead of a traceback.

    Parameters
    ----------
    message : str
        What failed, at which trial, file or field, and what to do.
    field : str, optional
        The option, file field or argument that the message is about.
    """

    code = "error"
    exit_status = 2
    # A line of the message that repeats too much of the data loses its middle.
    is_about_data = False

    def __init__(self, message: str, *, field: str | None = None) -> None:
        if len(message) >= _LONG_COUNT:
            # Loaded here, as compiler drivers load this file a thousand times.
            import re

            message = re.sub(_LONG_WORD, _beginning, message)
        if self.is_about_data:
            message = "\n".join(map(_ends, message.split("\n")))
        super().__init__(message)
        self.message = message
        self.field = field


def _beginning(found: re.Match[str]) -> str:
    return f"{found[0][:_SHOWN]}… ({len(found[0])} characters)"


def _ends(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_FIRST]} … {line[-_LAST:]}"


class UsageError(SteelyardError):
    """The call is wrong: an option, an argument or a combination of them."""

    code = "usage"


class UnknownNameError(UsageError):
    """A name that no registered extension carries. The message lists the known ones."""

    code = "unknown-name"


class DataError(SteelyardError):
    """A file or a store cannot be read as what it should be."""

    code = "data"
    is_about_data = True


class ArchiveError(DataError):
    """An archive is damaged, or has a member that none may have. Nothing of it is left."""

    code = "archive"


class StoreError(DataError):
    """The store cannot be opened, read or written."""

    code = "store"


class BusyError(SteelyardError):
    """Another Steelyard measurement holds this machine."""

    code = "busy"


class AnalysisError(SteelyardError):
    """An analysis was asked of data that it cannot take."""

    code = "analysis"
    is_about_data = True


class RegistryError(SteelyardError):
    """An extension is registered twice or does not keep its contract."""

    code = "registry"


class TrialsFailedError(SteelyardError):
    """So many trials failed that there is nothing to answer with."""

    code = "trials-failed"
    exit_status = 3


class LauncherDiedError(SteelyardError):
    """The launcher ended before its time. The trials that had ended are in the journal."""

    code = "launcher-died"
    exit_status = 3


class RecordingFailedError(SteelyardError):
    """A profile ended before its program. What was recorded until then is in its file."""

    code = "recording-failed"
    exit_status = 3


class BuildFailedError(SteelyardError):
    """A program could not be built. The message names the log and shows its last lines.

    `ended_itself` says that its command failed by itself: it would so on every host like this one.
    """

    code = "build-failed"
    exit_status = 3

    def __init__(
        self, message: str, *, field: str | None = None, ended_itself: bool = False
    ) -> None:
        super().__init__(message, field=field)
        self.ended_itself = ended_itself


class SuiteError(SteelyardError):
    """A program of the suite cannot be made ready, or the suite's cache cannot be written."""

    code = "suite"


class FetchError(SuiteError):
    """A source could not be fetched, or is not what the recipe says."""

    code = "fetch"
    exit_status = 4


class RandomizationError(SteelyardError):
    """A build cannot be randomised as asked. The message names the program and the reason."""

    code = "not-randomized"


class MissingCapabilityError(SteelyardError):
    """This machine lacks something. The message names it and the command that installs it."""

    code = "missing"
    exit_status = 4


class HostError(SteelyardError):
    """A knob of the host could not be read, set or restored."""

    code = "host"
    exit_status = 4
