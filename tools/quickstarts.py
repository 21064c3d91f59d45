"""Run every quickstart of docs/quickstarts from its page's own text, with packages from the registries.

`python -m tools.quickstarts [NAME …]`. What a missing tool prevents is said in one sentence.
`python -m tools.quickstarts --style` writes the style sheet of the starter apps into the pages instead.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from app.demo.starters import STYLE

TEST = "tests/browser/documentation/downloaded_quickstarts.py"
NEEDS = {
    "flask": ("python3",),
    "django": ("python3",),
    "fastapi": ("python3",),
    "express": ("npm",),
    "nextjs": ("npm",),
    "spring-boot": ("mvn", "java"),
    "go": ("go",),
    "single-page-app": ("npm",),
    "machine-to-machine": ("python3", "curl"),
    "mobile": ("mvn", "java"),
}
"""The programs that each quickstart runs."""
STYLED = ("flask", "django", "fastapi", "express", "nextjs", "spring-boot", "go", "single-page-app")
"""The quickstarts whose app is a site."""
OTHER_TESTS = {"machine-to-machine": "test_program_calls_the_api", "mobile": "test_android_code_compiles"}
"""The tests of quickstarts whose app runs in no browser here."""
QUOTES_OUTPUT = ("nextjs", "spring-boot", "go")
"""Quickstarts whose last trouble quotes what the app prints."""


def with_style(page: str) -> str:
    """Return the text of a quickstart with the style sheet of the starter apps."""
    return re.sub(r"(?ms)^(```css title=.*?\n).*?^```$", lambda found: f"{found[1]}{STYLE.read_text()}```", page)


def main(names: list[str]) -> int:
    """Run these quickstarts, by default all, and return the exit status."""
    if names == ["--style"]:
        for path in (Path("docs/quickstarts") / f"{name}.md" for name in STYLED):
            path.write_text(with_style(path.read_text()))
        return 0
    chosen = names or list(NEEDS)
    missing = {name: [item for item in NEEDS[name] if shutil.which(item) is None] for name in chosen}
    skipped = [f"{name} ({', '.join(tools)})" for name, tools in missing.items() if tools]
    tests = [f"{TEST}::{test}" for name, tools in missing.items() if not tools for test in tests_of(name)]
    command = [sys.executable, "-m", "pytest", "-v", "-n", "0", "--durations=0", "-p", "no:randomly", *tests]
    status = subprocess.run(command, check=False).returncode if tests else 1
    if skipped:
        print(f"Not run, since a tool is missing: {'; '.join(skipped)}.")
    return status


def tests_of(name: str) -> list[str]:
    """Return the tests of a quickstart."""
    tests = [OTHER_TESTS.get(name, f"test_reader_signs_in_and_out[{name}]")]
    return tests + [
        f"test_unknown_tenant_is_reported_as_the_page_quotes[{name}]" for item in QUOTES_OUTPUT if item == name
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
