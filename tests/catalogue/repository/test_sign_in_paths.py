"""The table of sign-in paths is complete: each function that makes a session or tokens of an account is on one of them."""

from tests.support.sign_in_paths import SIGN_IN_PATHS
from tests.support.sign_in_paths.callers import MAKERS, OF_NO_ACCOUNT, ROOT, SHARED, callers


def test_every_caller_that_signs_in_is_on_a_path() -> None:
    """A function that appears here needs a path in `tests/support/sign_in_paths`, so that every rule of a sign-in is tested on it."""
    named = {caller for path in SIGN_IN_PATHS for caller in path.callers}
    assert sorted(callers() - SHARED - OF_NO_ACCOUNT - named) == []
    assert sorted((named | SHARED | OF_NO_ACCOUNT) - callers()) == [], "these are gone"


def test_every_maker_is_still_there() -> None:
    missing = [
        f"{module}:{name}"
        for module, names in MAKERS.items()
        for name in names
        if f" {name}" not in (ROOT / f"{module}.py").read_text().replace("def ", " ").replace("class ", " ")
    ]
    assert missing == []


def test_names_of_paths_are_unique() -> None:
    names = [path.name for path in SIGN_IN_PATHS]
    assert sorted(set(names)) == sorted(names)
