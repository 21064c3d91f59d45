"""The colors of a theme that sets some of them itself: what stands on them keeps its contrast."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Final, NamedTuple

from app.kit.design.colour import BLACK, WHITE, Colour
from app.kit.design.colour_tokens import COLOUR_TOKENS, ColourToken
from app.kit.design.palette import TEXT, Pair, hover, palette
from app.kit.package_files import STATIC

MODES: Final = ("light", "dark")
OWN_NAMES: Final = tuple(name for name in COLOUR_TOKENS if name != "canvas")
"""The colors that a theme can set; `background` is the canvas."""
OwnColours = tuple[tuple[str, str, str], ...]
"""Mode, name and #rrggbb of each color that a theme sets itself."""
_STATE: Final = re.compile(r"--((?:danger|ok|warn)(?:-ground)?): (#[0-9a-f]{6})")


class ColourProblem(NamedTuple):
    """Why a color of a theme is refused."""

    mode: str
    name: str
    expected: str


@lru_cache(maxsize=1024)
def own_palette(colour: str, ground: str, dark_ground: str, own: OwnColours) -> dict[str, Pair]:
    """Return the tokens as `palette` does, with a theme's own among them.

    Texts that would not be readable are moved until they are: merged levels can set them and what is behind them. A mode in which no
    text is readable on all of its grounds has no color of its own.
    """
    computed = palette(colour, ground, dark_ground)
    modes = [_of_mode(computed, mode, own) for mode in MODES]
    return {
        f"--{name}": (modes[0][name], modes[1][name])
        for name in COLOUR_TOKENS
        if f"--{name}" in computed or any(modes[i][name] != _states()[name][i] for i in (0, 1))
    }


def colour_problems(colour: str, ground: str, dark_ground: str, own: OwnColours) -> Iterator[ColourProblem]:
    """Yield each color of a theme that is hard to see on what it stands on, with the nearest one that passes."""
    computed = palette(colour, ground, dark_ground)
    for mode in MODES:
        if given := _given(mode, own):
            shades = _shades(computed, mode, given)
            wrong = next((name for name in given if not _is_possible(shades, name)), None)
            if wrong is not None:
                nearest = _nearest_ground(shades, wrong, _shades(computed, mode, {})[wrong])
                sentence = "a color on which texts can be readable as on the other backgrounds"
                yield ColourProblem(
                    mode, wrong, f"{sentence}; found {shades[wrong]}: write {nearest}, the nearest that passes"
                )
                continue
            for name in given:
                if sentence := _text_problem(shades, name, COLOUR_TOKENS[name]):
                    yield ColourProblem(mode, name, sentence)


def _text_problem(shades: Mapping[str, Colour], name: str, token: ColourToken) -> str:
    """Return what is wrong about a color that stands on others; empty if nothing is."""
    text = shades[name]
    better = text.reaching(token.least, *(shades[on] for on in token.on)) if token.on else text
    if better == text:
        return ""
    on = min(token.on, key=lambda each: text.contrast(shades[each]))
    return (
        f"a contrast of at least {token.least:g}:1 with {'background' if on == 'canvas' else on} ({shades[on]}); "
        f"found {text.contrast(shades[on]):.2f}:1 for {text}: write {better}, the nearest that passes"
    )


def _is_possible(shades: Mapping[str, Colour], ground: str = "") -> bool:
    """Return whether for each text on a ground, or on any, there is a color that is readable on all of its grounds."""
    return all(
        any(all(text.contrast(shades[on]) >= token.least for on in token.on) for text in (BLACK, WHITE))
        for token in COLOUR_TOKENS.values()
        if not ground or ground in token.on
    )


def _nearest_ground(shades: Mapping[str, Colour], name: str, computed: Colour) -> Colour:
    """Return the color between a theme's own ground and the computed one that is nearest to the own, and on which texts can be readable."""
    least, most = 0.0, 1.0
    for _ in range(7):
        middle = (least + most) / 2
        is_enough = _is_possible({**shades, name: shades[name].mixed(computed, middle)}, name)
        least, most = (least, middle) if is_enough else (middle, most)
    return shades[name].mixed(computed, most) if most < 1 else computed


def _of_mode(computed: Mapping[str, Pair], mode: str, own: OwnColours) -> dict[str, Colour]:
    given = _given(mode, own)
    shades = _shades(computed, mode, given)
    if not given or not _is_possible(shades):
        return _shades(computed, mode, {})
    for name, token in COLOUR_TOKENS.items():
        if token.on:
            shades[name] = shades[name].reaching(token.least, *(shades[on] for on in token.on))
    return shades


def _shades(computed: Mapping[str, Pair], mode: str, given: Mapping[str, Colour]) -> dict[str, Colour]:
    """Return every color in a mode, the theme's own among them."""
    at = MODES.index(mode)
    shades = {name: (computed.get(f"--{name}") or _states()[name])[at] for name in COLOUR_TOKENS}
    if "brand" in given:
        text = given.get("on-brand", shades["on-brand"]).reaching(TEXT, given["brand"])
        shades |= {"on-brand": text, "brand-hover": hover(given["brand"], text)}
    return {**shades, **given}


def _given(mode: str, own: OwnColours) -> dict[str, Colour]:
    return {name: Colour.parse(value) for each, name, value in own if each == mode}


@cache
def _states() -> dict[str, Pair]:
    """Return the colors of states, which our style sheet has in light and then in dark mode."""
    found: dict[str, list[Colour]] = {}
    for name, value in _STATE.findall((STATIC / "css" / "tokens.css").read_text("utf-8")):
        found.setdefault(name, []).append(Colour.parse(value))
    return {name: (light, dark) for name, (light, dark) in found.items()}
