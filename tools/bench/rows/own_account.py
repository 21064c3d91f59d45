"""Accounts that people make and keep themselves: sign-up, its confirmation, the forgotten password, the own profile."""

from collections.abc import Iterator
from itertools import count

from tools.bench.measurement import Budget, MeasuredLine, Operation, measure
from tools.bench.scene import Scene, email
from tools.bench.visitor import BenchVisitor, form_of

GET_ANONYMOUS = Budget(bar=1.2, aim=0.5, counts={"api": 0, "sql": 0})
GET = Budget(bar=8, aim=4, counts={"api": 1})
POST = Budget(bar=12, aim=7, counts={"api": 1, "sql": 9, "commits": 1})
PASSWORD = "Zebra-kettle-91"
_NUMBERS = count()


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """Pages without a session, then forms as a person sends them; what a form needs is fetched before, and not counted."""
    anonymous, known = scene.visitor(), scene.visitor()
    scene.sign_in(known, 3)
    known.costs.clear()
    for path in ("/register", "/forgot-password"):
        yield measure(scene.product, scene.bare, _look(anonymous, path)).line(f"GET of {path}", GET_ANONYMOUS)
    yield measure(scene.product, scene.bare, _look(known, "/profile/edit")).line("GET of /profile/edit", GET)
    yield measure(scene.product, scene.bare, _edit(known)).line(
        "profile edit: page and POST", Budget(20, 10, {"api": 2})
    )
    yield measure(scene.product, scene.bare, _register(scene)).line("sign-up: page and POST (hash left out)", POST)
    yield measure(scene.product, scene.bare, _forget(scene)).line("forgotten password: page and POST", POST)


def _look(visitor: BenchVisitor, path: str) -> Operation:
    def look(_: int) -> BenchVisitor:
        visitor.get(path).expect(200)
        return visitor

    return look


def _edit(visitor: BenchVisitor) -> Operation:
    def edit(number: int) -> BenchVisitor:
        form = form_of(visitor.get("/profile/edit").expect(200), "given-name")
        visitor.post(form.action, form.with_values(given_name=f"Ada {number}")).expect(303)
        return visitor

    return edit


def _register(scene: Scene) -> Operation:
    visitor = scene.visitor()

    def register(_: int) -> BenchVisitor:
        visitor.cookies.clear()
        form = form_of(visitor.get("/register").expect(200), "new-password")
        sent = form.with_values(username=f"new{next(_NUMBERS)}@example.com", new_password=PASSWORD)
        visitor.post(form.action, sent).expect(303)
        return visitor

    return register


def _forget(scene: Scene) -> Operation:
    visitor = scene.visitor()

    def forget(number: int) -> BenchVisitor:
        visitor.cookies.clear()
        form = form_of(visitor.get("/forgot-password").expect(200), "username")
        visitor.post(form.action, form.with_values(username=email(number))).expect(303)
        return visitor

    return forget
