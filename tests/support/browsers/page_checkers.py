"""The page checkers from npm: html-validate for markup, axe-core for accessibility."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.services.servers import PartMissing

ROOT = Path(__file__).resolve().parents[3]
MODULES = ROOT / "node_modules"

# `recommended` and `document` follow the HTML standard; the settings here are a matter of our style, or a rule of our own.
RULES: dict[str, Any] = {
    "root": True,
    "extends": ["html-validate:recommended", "html-validate:document"],
    "rules": {
        "void-style": "off",
        "doctype-style": "off",
        "attr-quotes": "off",
        "no-trailing-whitespace": "off",
        "long-title": "off",
        "no-inline-style": "error",
        "require-sri": "off",
        "meta-refresh": "off",  # a waiting page reloads itself where no script does: test_pages_reload_without_scripts_only
    },
}


def node() -> str:
    """The locked Node of .venv: the checkers need a newer one than Debian's."""
    return str(Path(sys.executable).parent / "node")


def module(path: str) -> Path:
    found = MODULES / path
    if not found.exists():
        raise PartMissing(f"{path} is not installed: 'make test' installs what package-lock.json names.")
    return found


@cache
def axe_source() -> str:
    """The script to add to a page before `axe.run()`."""
    return module("axe-core/axe.min.js").read_text()


def html_problems(pages: Mapping[str, str]) -> list[str]:
    """What html-validate has against these pages (name -> whole document), as 'name:line rule: message'; empty when valid.

    One start of Node costs half a second, so hand over all pages at once.
    """
    with tempfile.TemporaryDirectory(prefix="gatehouse-html-") as folder:
        config = Path(folder, "rules.json")
        config.write_text(json.dumps(RULES))
        names = {}
        for number, (name, document) in enumerate(pages.items()):
            file = Path(folder, f"{number}.html")
            file.write_text(document)
            names[str(file)] = name
        module("html-validate")
        command = [node(), str(Path(__file__).parent / "html_validate.mjs"), str(config), *names]
        answer = Path(folder, "answer.json")
        with answer.open("w") as out:  # Node leaves without emptying a full pipe
            done = subprocess.run(
                command, check=False, cwd=folder, stdout=out, stderr=subprocess.PIPE, text=True,
                env={**os.environ, "NO_COLOR": "1"},
            )  # fmt: skip
        said = answer.read_text()
        if done.returncode != 0 or not re.match(r"\s*\[", said):
            raise PartMissing(f"html-validate did not run:\n{said}{done.stderr}")
    return [
        f"{names[report['filePath']]}:{message['line']} {message['ruleId']}: {message['message']}"
        for report in json.loads(said)
        for message in report["messages"]
    ]
