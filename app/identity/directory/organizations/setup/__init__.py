"""Links by which administrators of organizations set up their connection, and what they entered so far."""
