"""What a relying party asks with an access token in hand: userinfo and introspection."""

from collections.abc import Iterator

from tools.bench.measurement import Budget, MeasuredLine, Operation, measure
from tools.bench.rows.code_flow import BASIC, metadata, tokens
from tools.bench.scene import Scene
from tools.bench.visitor import BenchVisitor, path_of

BUDGET = Budget(bar=2, aim=0.7, counts={"sql": 1})


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """One token, asked about again and again."""
    userinfo, introspect = operations(scene)
    yield measure(scene.product, scene.bare, userinfo).line("userinfo", BUDGET)
    yield measure(scene.product, scene.bare, introspect).line("introspection", BUDGET)


def operations(scene: Scene) -> tuple[Operation, Operation]:
    """Return both, about one token."""
    browser, program = scene.visitor(), scene.visitor()
    endpoints = metadata(program)
    scene.sign_in(browser, 2)
    access_token = tokens(browser, program, endpoints, 0)["access_token"]
    program.costs.clear()

    def userinfo(_: int) -> BenchVisitor:
        program.get(path_of(endpoints["userinfo_endpoint"]), Authorization=f"Bearer {access_token}").expect(200)
        return program

    def introspect(_: int) -> BenchVisitor:
        form = {"token": access_token}
        program.post(path_of(endpoints["introspection_endpoint"]), form, Authorization=BASIC).expect(200)
        return program

    return userinfo, introspect
