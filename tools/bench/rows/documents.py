"""What everybody fetches: the keys and the metadata."""

from collections.abc import Iterator

from tools.bench.measurement import Budget, MeasuredLine, Operation, measure
from tools.bench.rows.code_flow import metadata
from tools.bench.scene import Scene
from tools.bench.visitor import BenchVisitor, path_of

BUDGET = Budget(bar=0.8, aim=0.4, counts={"sql": 0})


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """Fetched whole each time, without a condition."""
    program = scene.visitor()
    endpoints = metadata(program)
    program.costs.clear()
    paths = {"JWKS": path_of(endpoints["jwks_uri"]), "discovery": "/.well-known/openid-configuration"}
    for name, path in paths.items():
        yield measure(scene.product, scene.bare, _fetch(program, path)).line(name, BUDGET)


def _fetch(program: BenchVisitor, path: str) -> Operation:
    def fetch(_: int) -> BenchVisitor:
        program.get(path).expect(200)
        return program

    return fetch
