"""The last entry of "If it doesn't work": an app that cannot resolve the tenant's name prints what the page quotes."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

import httpx

from tests.support.documentation.quickstarts import FOLDER, Running, app_started
from tests.support.sources import text

UNKNOWN = "acme.invalid"
"""A name that no resolver knows (RFC 2606), in place of acme.localhost, which many know."""
_COLOURS = re.compile(r"\x1b\[[\d;]*m")


def last_entry(name: str) -> str:
    """Return a pattern of the output that the last entry of a page quotes; … stands for anything."""
    entries = text(FOLDER / f"{name}.md").partition("## If it doesn")[2].partition("\n## ")[0].split("\n- ")
    quoted = re.match(r"\*\*`([^`]+)`\*\*", entries[-1])
    assert quoted, f"the last entry of {name} quotes no output"
    return ".*".join(re.escape(part.strip()) for part in quoted[1].split("…"))


def printed_without_the_tenant(running: Running) -> str:
    """Start the page's app, ask it to sign in if it comes up, and return its output, with the page's name of the tenant."""
    lost = replace(running, script=running.script.replace("acme.localhost", UNKNOWN))
    with suppress(AssertionError), app_started(lost) as app:
        httpx.get(f"{app}/sign-in", follow_redirects=True, timeout=120)
    log = (running.folder.parent / "app.log").read_text(errors="replace")
    return _COLOURS.sub("", log).replace(UNKNOWN, "acme.localhost")
