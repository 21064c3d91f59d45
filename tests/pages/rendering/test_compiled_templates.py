"""Compiled templates are cached beside the program's bytecode, where Python may write that."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from flask import Flask
from jinja2 import Environment

from app.hub.rendering import environment
from app.hub.rendering.compiled_templates import CompiledTemplates, compile_all
from app.kit.package_files import TEMPLATES


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where Python keeps bytecode in this test."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path


def new_environment(*, development: bool = False) -> Environment:
    app = Flask("pages", template_folder=str(TEMPLATES))
    environment.install(app, development=development)
    return app.jinja_env


def cached_templates(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.jinja"))


def compiles_nothing(*_: object, **__: object) -> None:
    raise AssertionError("a template was compiled")


def test_second_start_compiles_no_template(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = compile_all(new_environment())
    assert len(cached_templates(folder)) == count > 100
    monkeypatch.setattr(Environment, "compile", compiles_nothing)
    assert compile_all(new_environment()) == count


def test_changed_template_is_compiled_anew(folder: Path) -> None:
    first = new_environment()
    first.get_template("pages/sign_in/login.html")
    assert first.loader is not None
    source, name, _ = first.loader.get_source(first, "pages/sign_in/login.html")
    second = new_environment()
    assert second.bytecode_cache is not None
    assert second.bytecode_cache.get_bucket(second, "pages/sign_in/login.html", name or "", source).code
    assert not second.bytecode_cache.get_bucket(second, "pages/sign_in/login.html", name or "", f"{source} ").code


def test_other_options_have_templates_of_their_own(folder: Path) -> None:
    first, second = new_environment(), new_environment()
    second.trim_blocks = False
    keys = {CompiledTemplates(item).get_cache_key("pages/sign_in/login.html") for item in (first, second)}
    assert len(keys) == 2


def test_bytecode_that_may_not_be_written_stops_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    new_environment().get_template("pages/sign_in/login.html")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", "/proc/no/folder")
    new_environment().get_template("pages/sign_in/login.html")
    assert cached_templates(folder) == []


def test_development_keeps_no_templates(folder: Path) -> None:
    new_environment(development=True).get_template("pages/sign_in/login.html")
    assert cached_templates(folder) == []
