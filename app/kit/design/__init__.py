"""Colours, palettes and fonts, derived and checked."""
