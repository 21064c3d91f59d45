"""Every quickstart with its packages from the registries, for `make quickstarts`; the build does not collect this file."""

import re
from pathlib import Path

import pytest

from tests.support.browsers.chromium import Opened
from tests.support.documentation.kotlin import compile_for_android
from tests.support.documentation.machine_quickstart import call_the_api
from tests.support.documentation.quickstart_troubles import last_entry, printed_without_the_tenant
from tests.support.documentation.quickstarts import app_started, prepared, read, sign_in_and_out, sign_up_without_name
from tools.quickstarts import NEEDS, OTHER_TESTS, QUOTES_OUTPUT


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [name for name in NEEDS if name not in OTHER_TESTS])
def test_reader_signs_in_and_out(name: str, tmp_path: Path, opened: Opened) -> None:
    tab = opened()
    tab.set_default_timeout(120_000)  # development servers compile a page at its first visit
    with prepared(name, tmp_path, from_registries=True) as running, app_started(running) as app:
        sign_in_and_out(tab, app)
        sign_up_without_name(tab, running, app)


@pytest.mark.timeout(900)
def test_program_calls_the_api(tmp_path: Path) -> None:
    with prepared("machine-to-machine", tmp_path, from_registries=True) as running, app_started(running) as api:
        call_the_api(running, api)


@pytest.mark.timeout(900)
def test_android_code_compiles(tmp_path: Path) -> None:
    compile_for_android([block for block in read("mobile").blocks if block.language == "kotlin"], tmp_path)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", QUOTES_OUTPUT)
def test_unknown_tenant_is_reported_as_the_page_quotes(name: str, tmp_path: Path) -> None:
    with prepared(name, tmp_path, from_registries=True) as running:
        printed = printed_without_the_tenant(running)
    assert re.search(last_entry(name), printed, re.DOTALL), printed[-8000:]
