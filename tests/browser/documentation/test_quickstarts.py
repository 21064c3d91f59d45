"""Quickstarts of docs/quickstarts, run from their pages' own text: the reader's browser signs in and out."""

from pathlib import Path

import pytest

from tests.support.browsers.chromium import Opened
from tests.support.documentation.quickstarts import app_started, prepared, sign_in_and_out, sign_up_without_name


@pytest.mark.parametrize("name", ["flask", "django", "fastapi", "express"])
def test_reader_signs_in_and_out(name: str, tmp_path: Path, opened: Opened) -> None:
    with prepared(name, tmp_path) as running, app_started(running) as app:
        sign_in_and_out(opened(), app)
        sign_up_without_name(opened(), running, app)
