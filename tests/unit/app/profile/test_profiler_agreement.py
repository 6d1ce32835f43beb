from steelyard.app.profile.profiler_agreement import language_of


def test_java_by_another_name_is_java_still(tmp_path):
    java, other = tmp_path / "java", tmp_path / "java-17"
    java.write_text("#!/bin/sh\n")
    java.chmod(0o755)
    other.symlink_to(java)
    assert language_of((str(java), "Program")) == "jvm"
    assert language_of((str(other), "Program")) == "jvm"
    assert language_of(("python3", "program.py")) == "python"
    assert language_of(("/bin/true",)) == "native"
