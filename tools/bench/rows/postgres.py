"""PostgreSQL beside SQLite: the same operations in turns, and the CPU of our processes, without the database's."""

from collections.abc import Callable, Iterator

from tests.support.services.servers import PartMissing, Postgres
from tools.bench.measurement import MeasuredLine, Operation, beside
from tools.bench.rows import code_flow, sign_in, token_grants, userinfo
from tools.bench.scene import Scene
from tools.bench.servers import DidNotStart

BAR = 1.3
OPERATIONS: dict[str, Callable[[Scene], Operation]] = {
    "sign-in": sign_in.with_password,
    "sign-in in two steps": sign_in.in_two_steps,
    "code flow": code_flow.flow,
    "refresh of tokens": lambda scene: token_grants.grants(scene)[0],
    "client credentials": lambda scene: token_grants.grants(scene)[1],
    "userinfo": lambda scene: userinfo.operations(scene)[0],
    "introspection": lambda scene: userinfo.operations(scene)[1],
}


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """The cluster is one of the tests', started for this row."""
    try:
        cluster = Postgres.create()
    except PartMissing as missing:
        raise DidNotStart(str(missing)) from None
    try:
        other = Scene.open(frozenset(), cluster.database("bench"))
        try:
            for name, made in OPERATIONS.items():
                sqlite_ms, postgres_ms = beside(scene.product, made(scene), other.product, made(other))
                yield _line(name, sqlite_ms, postgres_ms)
        finally:
            other.close()
    finally:
        cluster.remove()


def _line(name: str, sqlite_ms: float, postgres_ms: float) -> MeasuredLine:
    ratio = postgres_ms / sqlite_ms
    return MeasuredLine(
        operation=f"{name} on PostgreSQL",
        counts=f"{sqlite_ms:.2f} ms on SQLite",
        measured=f"{postgres_ms:.2f} ms = {ratio:.2f} × SQLite",
        bar=f"{BAR:g} ×",
        aim=f"{BAR:g} ×",
        is_over=ratio > BAR,
        is_reached=ratio <= BAR,
    )
