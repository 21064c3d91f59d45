"""One module per page: its form, its view of the world with samples, and its views."""
