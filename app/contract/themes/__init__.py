"""Themes of tenants: what their templates, texts and styles may do, and the operations that store them."""
