"""How pytest runs the tests: databases, network, time, examples, and checks of every test."""
