"""An experiment that is refused before its first trial leaves nothing behind."""

FILE = """
[experiment]
runs = 2
[[benchmark]]
command = "{build}/p"
build = "cc -o p p.c"
source = "src"
[[nuisance]]
factor = "link-order"
"""


def test_a_refused_run_does_not_become_the_latest_experiment(user):
    (user.home / "src").mkdir()
    (user.home / "src" / "p.c").write_text("int main(void) { return 0; }")
    (user.home / "refused.toml").write_text(FILE)
    assert user.types("measure", "--runs", "2", "--note", "first", "--", "true").status == 0
    told = user.types("experiment", "run", "refused.toml")
    assert told.status != 0
    assert "it linked nothing" in told.err
    listed = user.types("list", "--json", "-").document()["experiments"]
    assert [item["note"] for item in listed] == ["first"]
    assert user.types("report", "latest", "--format", "text").status == 0
