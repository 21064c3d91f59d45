"""The docs for operators name the events, reasons, checks and causes that the code records, and nothing else."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from app.contract.federation.connection_checks import CallFailure, ConnectionCheck
from tests.support.processes.commands import ROOT

_SECTION = re.compile(r"^## Why can’t somebody sign in\?$(.*?)^## ", re.MULTILINE | re.DOTALL)
_OF_PROVIDERS = re.compile(r"^## Why does a provider’s sign-in fail\?$(.*?)^## ", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| `([a-z_.]+)`(?:, `reason=([a-z ]+)`)? \|", re.MULTILINE)
_OF_A_PASSWORD = {"password", "unknown"}
"""Reasons that are chosen by an expression, beside the literal ones."""


def _recorded() -> Iterator[tuple[str, str | None]]:
    """Yield each event that the code records by a literal name, and its literal reason."""
    for text in (path.read_text() for path in (ROOT / "app" / "identity").rglob("*.py")):
        for node in ast.walk(ast.parse(text)) if ".record(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "record":
                event = node.args[0] if node.args else None
                reasons = [word.value for word in node.keywords if word.arg == "reason"]
                reason = reasons[0].value if reasons and isinstance(reasons[0], ast.Constant) else None
                if isinstance(event, ast.Constant):
                    yield str(event.value), str(reason) if reason else None


def test_table_of_refused_sign_ins_is_complete() -> None:
    section = _SECTION.search(Path(ROOT / "docs" / "operating.md").read_text())
    assert section is not None
    rows = _ROW.findall(section[1])
    recorded = set(_recorded())
    assert {event for event, _ in rows} <= {event for event, _ in recorded}
    reasons = {reason for event, reason in recorded if event == "sign_in.refused" and reason}
    assert {reason for event, reason in rows if event == "sign_in.refused"} == reasons | _OF_A_PASSWORD


def test_checks_and_causes_of_providers_are_in_tables() -> None:
    section = _OF_PROVIDERS.search(Path(ROOT / "docs" / "operating.md").read_text())
    assert section is not None
    checks, causes = (set(re.findall(r"`(\w+)`", "".join(table))) for table in _tables(section[1]))
    assert checks == set(ConnectionCheck)
    assert causes == set(CallFailure)


def _tables(section: str) -> Iterator[list[str]]:
    """Yield the first cells of the tables of checks and of causes."""
    for heading in ("Check", "Cause"):
        table = re.search(rf"^\| {heading} \|.*?\n\n", section, re.MULTILINE | re.DOTALL)
        assert table is not None
        yield re.findall(r"^\| (`[^|]+) \|", table[0], re.MULTILINE)
