"""The tables of the interface, compared with operations and tests: `python -m tools.interface_rows FOLDER`."""
