"""Gatehouse as processes: commands, installations, workers and outages."""
