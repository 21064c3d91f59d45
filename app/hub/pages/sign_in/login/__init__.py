"""The login page: form, states, views."""
