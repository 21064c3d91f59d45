"""The quickstart without a browser, run from its page's own text: a program calls an API."""

from pathlib import Path

from tests.support.documentation.machine_quickstart import call_the_api
from tests.support.documentation.quickstarts import app_started, prepared


def test_program_calls_the_api(tmp_path: Path) -> None:
    with prepared("machine-to-machine", tmp_path) as running, app_started(running) as api:
        call_the_api(running, api)
