"""Render every page sample in every language, without an identity service. pytest loads this module as a plugin."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from threading import get_ident

import pytest
from flask import Flask

from app.hub.locale import LANGUAGES
from app.hub.theme_check.browser.sheet_server import SheetServer, served
from app.hub.theme_check.samples import PageSample, SamplePages, sample_address
from tests.support.services.real_services import FOLDER

SHARED: list[Path] = []
"""The folder where the workers of a run keep the rendered pages."""


@pytest.hookimpl(trylast=True)  # after the run's folder was made
def pytest_configure(config: pytest.Config) -> None:
    SHARED[:] = [config.stash[FOLDER] / "samples"]
    SHARED[0].mkdir(exist_ok=True)


PAGES = SamplePages()


def hub() -> Flask:
    """Return a hub with its gallery and no identity service."""
    return PAGES.app


def names() -> list[tuple[str, str]]:
    """Return each page's name with each of its states."""
    return PAGES.names


def states() -> dict[str, list[str]]:
    """Return the states of each page."""
    found: dict[str, list[str]] = {}
    for name, state in names():
        found.setdefault(name, []).append(state)
    return found


def address(page: str, state: str, language: str, look: str = "acme") -> str:
    return sample_address(page, state, language, look)


@cache
def rendered(page: str, state: str, language: str, look: str = "acme") -> PageSample:
    """Render a page and measure everything that a browser fetches for it, unless another worker of this run has done so."""
    paths = [folder / hashlib.sha256(f"{page}/{state}/{language}/{look}".encode()).hexdigest() for folder in SHARED]
    for path in paths:
        if path.exists():
            return PageSample(**json.loads(path.read_text()))
    made = PAGES.render(page, state, language, look)
    for path in paths:
        unfinished = path.with_suffix(f".{os.getpid()}.{get_ident()}")
        unfinished.write_text(json.dumps(asdict(made)))
        unfinished.rename(path)
    return made


def all_rendered() -> list[PageSample]:
    """Return every sample in every language."""
    return [rendered(page, state, language) for page, state in names() for language in LANGUAGES]


@pytest.fixture(scope="session")
def gallery_address() -> Iterator[str]:
    """Serve the gallery and yield its address."""
    with served(SheetServer(PAGES, lambda *place: rendered(*place[:4]))) as port:
        yield f"http://127.0.0.1:{port}"
