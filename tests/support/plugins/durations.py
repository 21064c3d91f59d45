"""Print where the time of a run went: by folder, and its longest files. pytest loads it as a plugin."""

from __future__ import annotations

from collections import defaultdict

import pytest

LONGEST_FILES = 10
PHASES = ("setup", "call", "teardown")
CASES = "cases"
Spent = dict[str, dict[str, float]]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    files: Spent = defaultdict(lambda: dict.fromkeys((*PHASES, CASES), 0))
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                file = report.nodeid.partition("::")[0]
                files[file][report.when] += report.duration
                files[file][CASES] += report.when == "call"
    folders: Spent = defaultdict(lambda: dict.fromkeys((*PHASES, CASES), 0))
    for file, spent in files.items():
        folder = folders["/".join(file.split("/")[:2])]
        for name, value in spent.items():
            folder[name] += value
    if len(folders) > 1:
        terminalreporter.section("seconds by folder, of all workers together")
        for name, spent in [*_longest(folders), *_longest(files)[:LONGEST_FILES]]:
            phases = "".join(f"{spent[phase]:9.1f} {phase}" for phase in PHASES)
            terminalreporter.line(f"{_total(spent):9.1f} ={phases}{spent[CASES]:8.0f} cases  {name}")


def _longest(spent: Spent) -> list[tuple[str, dict[str, float]]]:
    return sorted(spent.items(), key=lambda item: -_total(item[1]))


def _total(spent: dict[str, float]) -> float:
    return sum(spent[phase] for phase in PHASES)
