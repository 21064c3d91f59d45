"""No message of a browser costs the process more than 16 MB, whether it is accepted or refused."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support import sources

MAX_KILOBYTES = 16 << 10
MAX_KILOBYTES_OF_METADATA = 24 << 10
"""Signed metadata of 2 MiB is copied by canonicalization; it comes from an administrator or a configured address."""


@pytest.fixture(scope="module")
def measured() -> dict[str, tuple[int, float]]:
    """Return the peak in kilobytes and the seconds of each message. The seconds are for readers: no test asserts a time."""
    command = [sys.executable, "-m", "tests.support.saml.peak_memory"]
    done = subprocess.run(command, cwd=sources.ROOT, capture_output=True, text=True, check=True)
    found: dict[str, tuple[int, float]] = json.loads(done.stdout)
    return found


def test_no_message_takes_more_memory_than_allowed(measured: dict[str, tuple[int, float]]) -> None:
    peaks = {name: peak for name, (peak, _) in measured.items() if "metadata" not in name}
    assert len(peaks) > 600
    assert {name: peak for name, peak in peaks.items() if peak > MAX_KILOBYTES} == {}


def test_large_metadata_takes_bounded_memory(measured: dict[str, tuple[int, float]]) -> None:
    peaks = {name: peak for name, (peak, _) in measured.items() if "metadata" in name}
    assert max(peaks.values()) > MAX_KILOBYTES // 4  # the measurement sees the memory of lxml
    assert {name: peak for name, peak in peaks.items() if peak > MAX_KILOBYTES_OF_METADATA} == {}
