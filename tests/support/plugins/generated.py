"""How Hypothesis generates examples. pytest loads it as a plugin."""

import gzip
import json
import os

import hypothesis
import pytest
from hypothesis.internal.charmap import charmap_file

# Examples have no deadline, since a busy machine is no failure. The build runs the same examples each time.
hypothesis.settings.register_profile("gatehouse", deadline=None, print_blob=True, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("gatehouse")

UTF_8 = [[[0, 0xD7FF], [0xE000, 0x10FFFF]], []]
"""The characters that UTF-8 has, as Hypothesis keeps them for a codec; and those that it does not read back."""


@pytest.hookimpl(trylast=True)  # after Hypothesis's own, until which it warns of reading its folder
def pytest_sessionstart(session: pytest.Session) -> None:
    """Keep the characters of UTF-8: in a new checkout Hypothesis would encode a million of them to know, for two seconds."""
    if hasattr(session.config, "workerinput"):
        return
    path = charmap_file("codec-v2-utf-8")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(json.dumps(UTF_8).encode()))
