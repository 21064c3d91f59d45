"""What every test stands on. Fixtures live in tests/support, one module per subject."""

pytest_plugins = ["tests.support.network", "tests.support.translations", "tests.support.services"]
