"""Pages, all-in: HTML and everything a browser fetches to draw it, compressed as it travels."""

import re
from collections.abc import Iterator

from tools.bench.measurement import MeasuredLine
from tools.bench.scene import TWO_STEP_TENANT, Scene
from tools.bench.visitor import BenchVisitor, MeasuredResponse, linked_from, path_of

FIRST_FLIGHT_BYTES = 14_600
MAX_REQUESTS = 3
DRAWN = re.compile(r"""url\(["']?(?!data:|#|/theme/)([^"')]+)""")
"""Pictures and fonts that a style sheet names, without the tenant's own below `/theme/`, whose size the tenant decides."""
OWN_PICTURE = re.compile(r"/theme/.*\.(?:avif|gif|jpe?g|png|svg|webp)$")
"""A picture of the tenant's own that a page names."""


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """The first visit of the pages that a person meets most."""
    signed_in = scene.visitor()
    scene.sign_in(signed_in, 0)
    protected, requested = scene.visitor(TWO_STEP_TENANT), scene.visitor(TWO_STEP_TENANT)
    scene.sign_in(protected, 0, has_two_steps=True)
    challenge = path_of(scene.password(requested, 0).location)
    for visitor, path in (
        *((scene.visitor(), path) for path in ("/login", "/register", "/forgot-password", "/error")),
        *((signed_in, path) for path in ("/profile", "/profile/edit", "/change-password")),
        (requested, challenge),
        *((protected, path) for path in ("/security", "/second-factors", "/passkeys")),
    ):
        yield _line(path.partition("?")[0], *weigh(visitor, path))


def weigh(visitor: BenchVisitor, path: str) -> tuple[int, int]:
    """Bytes and requests of a first visit."""
    page = visitor.follow(_fetch(visitor, path))
    linked = [link for link in map(path_of, linked_from(page)) if not OWN_PICTURE.match(link)]
    parts = [_fetch(visitor, link).expect(200) for link in linked]
    drawn = [link for part in parts if part.path.endswith(".css") for link in DRAWN.findall(part.text)]
    parts += [_fetch(visitor, path_of(link)).expect(200) for link in dict.fromkeys(drawn)]
    return sum(len(part.body) for part in (page, *parts)), 1 + len(parts)


def _fetch(visitor: BenchVisitor, path: str) -> MeasuredResponse:
    return visitor.get(path, **{"Accept-Encoding": "gzip"})


def _line(path: str, size_bytes: int, requests: int) -> MeasuredLine:
    is_within = size_bytes <= FIRST_FLIGHT_BYTES and requests <= MAX_REQUESTS
    return MeasuredLine(
        operation=f"page {path}, first visit, gzip",
        counts=f"{requests} requests  (≤ {MAX_REQUESTS})",
        measured=f"{size_bytes:,} bytes",
        bar=f"{FIRST_FLIGHT_BYTES:,} bytes",
        is_over=not is_within,
        is_reached=is_within,
    )
