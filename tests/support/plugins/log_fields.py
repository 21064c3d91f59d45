"""Begin each test without log fields: requests of one test bind them in the thread that runs the next. pytest loads it as a plugin."""

from app.kit.observability import logs


def pytest_runtest_setup() -> None:
    logs.begin()
