"""Parses the text of settings; an invalid one raises SettingsError with one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path


class SettingsError(Exception):
    """A setting is missing or contradicts another; its text is the sentence to show."""


def switch(name: str, text: str) -> bool:
    if text not in ("", "0", "1"):
        raise SettingsError(f"{name} must be 1 or 0, not {text!r}.")
    return text == "1"


def file(name: str, path: str) -> str:
    if path and not Path(path).is_file():
        raise SettingsError(f"{name}: there's no file {path!r}.")
    return path


def folder(name: str, path: str) -> str:
    if path and not Path(path).is_dir():
        raise SettingsError(f"{name}: there's no folder {path!r}.")
    return path


def count(env: Mapping[str, str], name: str, default: int) -> int:
    text = env.get(name, "")
    if text and not re.match(r"[1-9][0-9]{0,2}\Z", text):
        raise SettingsError(f"{name} must be a whole number from 1 to 999, not {text!r}.")
    return int(text) if text else default


def seconds(env: Mapping[str, str], name: str, default: float, *, least: int) -> float:
    text = env.get(name, "")
    if text and not (re.match(r"[0-9]{1,2}(\.[0-9]+)?\Z", text) and least <= float(text) <= 60):
        raise SettingsError(f"{name} must be a number of seconds from {least} to 60, not {text!r}.")
    return float(text) if text else default
