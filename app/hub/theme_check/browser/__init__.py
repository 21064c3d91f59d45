"""Looks at the pages of a theme in a browser: layout, keyboard focus, colors as they are painted."""
