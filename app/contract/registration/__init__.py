"""Self-registration, its form, and the choices of its fields."""
