"""Modules that open files which no fuzzer reads, each with the reason.

A module that opens a file and stands neither here nor among those that the fuzzers reach is a
reader that nobody has fuzzed: `tests/unit/test_corpus.py` refuses it.
"""

from __future__ import annotations

_REASONS = {
    "opens it for a reader that is fuzzed": (
        *("app/experiment/follow_up.py", "app/experiment/toml_lines.py"),
        *("cli/service/submit_command.py", "app/profile/program_check.py"),
        *("cli/trial/trial_command.py", "measure/iterations.py", "profile/file/profile_parts.py"),
        *("store/journals.py", "profile/java/java_delays.py", "profile/paths/crash_key.py"),
        *("profile/paths/logged_registers.py", "profile/paths/sample_chains.py"),
        *("profile/paths/marked_program.py", "profile/paths/ambiguous_keys.py"),
        *("profile/file/growing_profile.py", "profile/paths/clonable_functions.py"),
        *("profile/event_keys.py", "profile/paths/sample_keys.py"),
    ),
    "takes a digest, a few magic bytes or a copy of it": (
        *("app/request/layout_levels.py", "binary/code_reader.py"),
        *("suite/artifacts.py", "suite/prepare.py", "store/hostile_store.py"),
        *("cli/service/service_options.py", "app/service/oidc_settings.py"),
        *("profile/paths/learning_run.py", "profile/paths/frame_sizes.py"),
        *("service/package/canonical_archive.py", "service/service_client.py"),
        "service/package/host_rooms.py",
        *("measure/preflight.py", "measure/provenance.py", "profile/delays.py"),
        *("suite/make_inputs.py", "build/modules.py", "build/link.py"),
        *("host/cached_files.py", "host/study_program.py", "archives/copy_folder.py"),
        *("app/service/service_archives.py", "app/service/fetched_experiment.py"),
        *("app/service/service_builds.py", "app/service/worker_builds.py"),
        "web/service/archive_stream.py",
        "repository/filters.py",
    ),
    "Steelyard itself has written it, where only its user may": (
        *(
            "build/build_cache.py",
            "build/build_exchange.py",
            "build/records.py",
            "core/environment_key.py",
            "suite/suite_cache.py",
        ),
        *("store/whole_file.py", "cli/store/export_command.py", "suite/fetch/apt_directory.py"),
        *("app/predict/commit_code.py", "core/private_file.py", "suite/count_allocations.py"),
        *("app/service/local_service.py", "app/service/worker_loop.py"),
        *("app/service/host_boots.py", "app/service/begun_part.py"),
        "app/service/reference_benchmark.py",
    ),
    "a process of Steelyard's own leaves it for the next step": (
        *("measure/event_step.py", "measure/output_checks.py", "measure/tracing.py"),
        *("profile/event_paths.py", "profile/sampler.py", "core/go_between.py"),
        *("profile/paths/path_trees.py", "profile/paths/walked_beside.py"),
        "app/service/worker_part.py",
    ),
    "the last words of a program, which are kept and not parsed": (
        *("build/run_build.py", "executors/local/unit_builds.py", "app/suite/suite_run.py"),
        "app/service/slurm_place.py",
    ),
    "compared, or searched by the user's own pattern": (
        *("measure/check_output.py", "measure/printed_metrics.py"),
    ),
    "a folder, which is had written to its disk": ("service/package/kept_packages.py",),
    "a folder, which is locked": ("service/held_alone.py",),
    "the kernel's": (
        *(
            "build/build_supervisor.py",
            "core/process_state.py",
            "host/system_files.py",
            "host/system.py",
        ),
        *(
            "measure/launcher_process.py",
            "profile/boot_identity.py",
            "profile/probed_places.py",
            "profile/symbols/kernel_symbols.py",
        ),
        *("profile/symbols/function_lookup.py", "profile/watched_target.py"),
    ),
    "a lock, /dev/null or a connection": (
        *("app/history/tell_alarms.py", "cli/main.py", "host/quiet_launch.py", "host/lock.py"),
        *("host/restore.py", "host/session.py", "measure/level_step.py", "measure/setup_step.py"),
        *("run/run_experiment.py", "run/run_part.py"),
    ),
    "a part of the package": (
        *("report/documents/schemas.py", "report/pages/plotly_script.py"),
        *("report/pages/rendered.py",),
    ),
}
NOT_FUZZED = {module: reason for reason, modules in _REASONS.items() for module in modules}
