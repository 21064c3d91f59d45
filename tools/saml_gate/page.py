"""The page docs/saml-gate.md: what the SAML gate refuses, rule by rule, with the tests and with the memory and time of each refusal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from app.identity.platform.saml.saml_rules import SamlRule
from app.kit.text.typography import typographic
from tests.support.saml.entrances import ENTRANCES, RESPONSE, HostileMessage, hostile_messages
from tools.saml_gate.rules import EVERY_RULE, RULES
from tools.specifications import links_to_tests, tests_named

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "docs" / "saml-gate.md"
FIGURES = re.compile(r"[0-9]+ KB, [0-9.]+ ms")
"""What differs from one measurement to the next one."""
Measured = Mapping[str, tuple[int, float]]
"""By how many kilobytes each message raises the peak of the process, and its seconds."""

INTRODUCTION = """# SAML gate

Every SAML message passes one gate before anything reads it. This page lists the rules of the gate, the hostile messages
that the tests send, and what refusing each one costs. The names XSW1 to XSW8 are those of the paper “On Breaking SAML”, and those
with `signed-xsw` are the shapes that pysaml2 tests.

<!-- Written by `python -m tools.saml_gate`. -->

The same messages are sent as a response of an identity provider, as a request and a logout message of either side, posted or in the
query of a redirect with a good signature, and as metadata with a pinned key. An empty cell means that the message has no such part,
or that it’s no attack there. A cell has the memory that the process takes beyond what it had, and the time, measured once on a
shared machine with two processors. [Tests](../tests/unit/identity/saml/test_peak_memory.py) bound the memory, never the time.
"""


def document(measured: Measured) -> str:
    """Return the page as Markdown. Messages without a measurement have figures of 0."""
    found = list(hostile_messages())
    lines = [INTRODUCTION, f"{len(found)} messages in all. Tests that send each of them: {_tests(EVERY_RULE)}.\n"]
    for rule in SamlRule:
        sentence, tests = RULES[rule]
        title = rule.value.replace("_", " ").capitalize()
        lines += [f"## {title}\n", f"{sentence}\n", f"More tests: {_tests(tests)}.\n"]
        lines += _table([message for message in found if message.rule is rule], measured)
    rest = [name for name in measured if name not in {str(message) for message in found}]
    lines += ["## Large messages\n", "Messages as large as they may be, accepted or refused.\n"]
    lines += ["| Message | Cost |", "|---|---|", *(f"| {name} | {_cost(name, measured)} |" for name in rest), ""]
    return "\n".join(lines)


def _tests(names: tuple[str, ...]) -> str:
    paths = sorted({path for name in names for path in tests_named(name)})
    return links_to_tests(tuple(paths)).replace("<br>", ", ")


def _table(messages: list[HostileMessage], measured: Measured) -> list[str]:
    if not messages:
        return []
    entrances = [RESPONSE, *(entrance.name for entrance in ENTRANCES)]
    head = ["| Message | " + " | ".join(name[:1].upper() + name[1:] for name in entrances) + " |"]
    lines = [*head, "|---|" + "---|" * len(entrances)]
    costs: dict[str, dict[str, str]] = {}
    for message in messages:
        costs.setdefault(message.name, {})[message.entrance] = _cost(str(message), measured)
    for name, cells in costs.items():
        shown = " | ".join(cells.get(entrance, "") for entrance in entrances)
        lines.append(f"| {_escaped(name)} | {shown} |")
    return [*lines, ""]


def _cost(name: str, measured: Measured) -> str:
    kilobytes, seconds = measured.get(name, (0, 0.0))
    return f"{max(kilobytes, 0)} KB, {seconds * 1_000:.1f} ms"


def _escaped(name: str) -> str:
    return re.sub(r"([|<>*_\[\]])", r"\\\1", typographic(name))


def measure() -> Measured:
    """Return what each message costs."""
    command = [sys.executable, "-m", "tests.support.saml.peak_memory"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, tuple[int, float]] = json.loads(done.stdout)
    return found
