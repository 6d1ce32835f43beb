"""The tables of a service. What they are made by is in migrations/; a test holds both equal."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
    }
)


def _belongs_to(table: str) -> ForeignKey:
    return ForeignKey(f"{table}.id", ondelete="CASCADE")


# People and programs. `role` is one of accounts.ROLES; `password` is what passwords.kept_password
# makes of one, empty for accounts that cannot sign in.
accounts = Table(
    "accounts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("created_unix_s", Float, nullable=False),
    Column("disabled", Boolean, nullable=False, server_default="0"),
    Column("password", Text, nullable=False, server_default=""),
)

# A browser in which someone has signed in. Of what its cookie holds the digest alone.
sign_ins = Table(
    "sign_ins",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("account_id", Integer, _belongs_to("accounts"), nullable=False),
    Column("digest", Text, nullable=False, unique=True),
    Column("created_unix_s", Float, nullable=False),
    Column("expires_unix_s", Float, nullable=False),
    Index("ix_sign_ins_account", "account_id"),
)

# Attempts to sign in that failed: digests of the name and of the client, which may be anything.
failed_sign_ins = Table(
    "failed_sign_ins",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name_digest", Text, nullable=False),
    Column("client_digest", Text, nullable=False),
    Column("unix_s", Float, nullable=False),
    Index("ix_failed_sign_ins_unix_s", "unix_s"),
)

# Whoever has its link makes an account with the role, or gives the account a new password.
invitations = Table(
    "invitations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("account_id", Integer, _belongs_to("accounts")),
    Column("expires_unix_s", Float, nullable=False),
)

# People as an issuer of OpenID Connect names them, each with the account that they sign in to.
linked_subjects = Table(
    "linked_subjects",
    metadata,
    Column("issuer", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("account_id", Integer, _belongs_to("accounts"), nullable=False),
    Column("linked_unix_s", Float, nullable=False),
)

# Of each token its digest alone. `scopes` are words with blanks between them.
tokens = Table(
    "tokens",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("account_id", Integer, _belongs_to("accounts"), nullable=False),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False, unique=True),
    Column("scopes", Text, nullable=False),
    Column("created_unix_s", Float, nullable=False),
    Column("expires_unix_s", Float),
    Column("revoked", Boolean, nullable=False, server_default="0"),
)

# Hosts that take trials. `facts` is a JSON object of what was found there. Of those of a cluster:
# its kind, when they last asked for a part, and what they were booted for.
workers = Table(
    "workers",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("account_id", Integer, _belongs_to("accounts"), nullable=False),
    Column("digest", Text, nullable=False, unique=True),
    Column("facts", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("enrolled_unix_s", Float, nullable=False),
    Column("heartbeat_unix_s", Float, nullable=False),
    Column("faults", Integer, nullable=False, server_default="0"),
    Column("distrust", Integer, nullable=False, server_default="0"),
    Column("reason", Text, nullable=False, server_default=""),
    Column("cluster", Text, nullable=False, server_default=""),
    Column("asked_unix_s", Float),
    Column("booted_for", Text, nullable=False, server_default=""),
)

# Experiments that were sent. `file` is the experiment file as it came; `specification` what was
# planned from it; `plan` a digest of what a worker must plan from it, too; `reboot` one of
# hosts_asked.REBOOTS. `going_on` is a JSON object with the workers of further blocks, empty where
# all blocks are there from the beginning; `stopped` is what ended it then, or which limit.
# `follow_up` says which experiment follows a screening, as of follow_ups.WANTED.
# `batch` is what experiments have in common that end together where a build fails.
# `committed_count` is how many of its trials are committed, without warm-ups.
submissions = Table(
    "submissions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("identifier", Text, nullable=False, unique=True),
    Column("account_id", Integer, _belongs_to("accounts"), nullable=False),
    Column("name", Text, nullable=False),
    Column("visibility", Text, nullable=False),
    Column("file", Text, nullable=False),
    Column("specification", Text, nullable=False),
    Column("plan", Text, nullable=False),
    Column("trial_count", Integer, nullable=False),
    Column("priority", Integer, nullable=False, server_default="0"),
    Column("created_unix_s", Float, nullable=False),
    Column("state", Text, nullable=False),
    Column("reboot", Text, nullable=False, server_default="never"),
    Column("going_on", Text, nullable=False, server_default=""),
    Column("stopped", Text, nullable=False, server_default=""),
    Column("time_limit_s", Float),
    Column("cost_limit_s", Float),
    Column("follow_up", Text, nullable=False, server_default=""),
    Column("batch", Text, nullable=False, server_default=""),
    Column("committed_count", Integer, nullable=False, server_default="0"),
)

# A block of a submission: what stays on one worker. `place` orders the parts of a worker.
# `substitutes` is a JSON list of the workers that give the same levels, if that one is gone.
# `levels` is a JSON object of what the worker is to be brought to. `ran` is how many of its trials
# the attempt has run that goes on after a boot. `twin` is the block that another worker repeats.
parts = Table(
    "parts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("submission_id", Integer, _belongs_to("submissions"), nullable=False),
    Column("block", Integer, nullable=False),
    Column("worker_id", Integer, _belongs_to("workers"), nullable=False),
    Column("place", Integer, nullable=False),
    Column("positions", Text, nullable=False),
    Column("substitutes", Text, nullable=False, server_default="[]"),
    Column("state", Text, nullable=False),
    Column("attempt", Integer, nullable=False, server_default="0"),
    Column("levels", Text, nullable=False, server_default="{}"),
    Column("ran", Integer, nullable=False, server_default="0"),
    Column("twin", Integer),
    UniqueConstraint("submission_id", "block"),
    Index("ix_parts_next", "worker_id", "state"),
    Index("ix_parts_state", "submission_id", "state"),
)

# Each time that a part was given out, and what came of it. `digest` is that of the numbers that
# were committed, by copied_results.
attempts = Table(
    "attempts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("part_id", Integer, _belongs_to("parts"), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("worker_id", Integer, _belongs_to("workers"), nullable=False),
    Column("given_unix_s", Float, nullable=False),
    Column("ended_unix_s", Float),
    Column("outcome", Text, nullable=False),
    Column("message", Text, nullable=False, server_default=""),
    Column("provenance", Text, nullable=False, server_default="{}"),
    Column("digest", Text, nullable=False, server_default=""),
    UniqueConstraint("part_id", "attempt"),
    Index("ix_attempts_digest", "digest"),
    Index("ix_attempts_outcome", "outcome", "part_id"),
)

# A trial is committed by its row: its place in the experiment is the primary key. `digest` is that
# of its numbers, by copied_results.
committed_trials = Table(
    "committed_trials",
    metadata,
    Column("submission_id", Integer, _belongs_to("submissions"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("part_id", Integer, _belongs_to("parts"), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("worker_id", Integer, _belongs_to("workers"), nullable=False),
    Column("committed_unix_s", Float, nullable=False),
    Column("trial", Text, nullable=False),
    Column("digest", Text, nullable=False, server_default=""),
    Index("ix_committed_trials_digest", "digest"),
)

# What people and programs did, in order.
audit_entries = Table(
    "audit_entries",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("unix_s", Float, nullable=False),
    Column("account", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("object", Text, nullable=False),
    Column("detail", Text, nullable=False, server_default=""),
)

# Benchmark packages that accounts have sent. Their files lie in a directory, each once by its
# digest, whoever sent it.
packages = Table(
    "packages",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("account_id", Integer, _belongs_to("accounts"), primary_key=True),
    Column("size_bytes", BigInteger, nullable=False),
    Column("member_count", Integer, nullable=False),
    Column("created_unix_s", Float, nullable=False),
)

# Which package an experiment means by a name in its file.
submitted_packages = Table(
    "submitted_packages",
    metadata,
    Column("submission_id", Integer, _belongs_to("submissions"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Index("ix_submitted_packages_digest", "digest"),
)

# Packages that are run once, without a clock, for what their scripts print. `batch` names those
# that were asked for at once, `package` is the specification as JSON.
rehearsals = Table(
    "rehearsals",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("batch", Text, nullable=False),
    Column("account_id", Integer, _belongs_to("accounts"), nullable=False),
    Column("worker_id", Integer, _belongs_to("workers"), nullable=False),
    Column("architecture", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("package", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempt", Integer, nullable=False, server_default="0"),
    Column("created_unix_s", Float, nullable=False),
    Column("problem", Text, nullable=False, server_default=""),
    Column("output", Text, nullable=False, server_default=""),
    Index("ix_rehearsals_batch", "batch"),
    Index("ix_rehearsals_next", "worker_id", "state"),
)

# What each host took for the reference benchmark, in seconds of processor time.
host_readings = Table(
    "host_readings",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("worker_id", Integer, _belongs_to("workers"), nullable=False),
    Column("unix_s", Float, nullable=False),
    Column("benchmark", Text, nullable=False),
    Column("value_s", Float, nullable=False),
    Index("ix_host_readings_worker_id", "worker_id"),
)

# Archives of results that attempts have sent, by the trials' positions. Their bytes lie in a
# directory, each once by its digest; without a digest one is not kept, for the reason told.
result_archives = Table(
    "result_archives",
    metadata,
    Column("part_id", Integer, _belongs_to("parts"), primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("digest", Text, nullable=False, server_default=""),
    Column("size_bytes", BigInteger, nullable=False),
    Column("suffix", Text, nullable=False, server_default=""),
    Column("reason", Text, nullable=False, server_default=""),
    Column("received_unix_s", Float, nullable=False),
    Index("ix_result_archives_digest", "digest"),
)

# Builds that one worker makes for all of its platform. `part_id` and `attempt` are those for which
# its worker makes it; their bytes lie in a directory, each once by its digest.
shared_builds = Table(
    "shared_builds",
    metadata,
    Column("platform", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("worker_id", Integer, _belongs_to("workers"), nullable=False),
    Column("part_id", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("digest", Text, nullable=False, server_default=""),
    Column("size_bytes", BigInteger, nullable=False, server_default="0"),
    Column("used_unix_s", Float, nullable=False),
    Index("ix_shared_builds_digest", "digest"),
)

# Builds of an experiment that are not shared, and why: they failed, or cannot be sent.
unshared_builds = Table(
    "unshared_builds",
    metadata,
    Column("submission_id", Integer, _belongs_to("submissions"), primary_key=True),
    Column("platform", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("worker_id", Integer, _belongs_to("workers"), nullable=False),
    Column("state", Text, nullable=False),
    Column("message", Text, nullable=False),
)
