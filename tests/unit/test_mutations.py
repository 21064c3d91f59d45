"""The changes of code that `tools.mutations` tries."""

from __future__ import annotations

from tools.mutations import ROOT, mutations_of


def test_each_mutation_changes_one_line_and_compiles() -> None:
    path = ROOT / "app" / "identity" / "credentials" / "passwords" / "policy.py"
    source, found = path.read_text(), mutations_of(path)
    assert len(found) > 20
    for one in found:
        changed = one.applied(source)
        compile(changed, one.path, "exec")
        pairs = enumerate(zip(source.splitlines(), changed.splitlines(), strict=True), 1)
        assert [number for number, (before, after) in pairs if before != after] == [one.line], one
