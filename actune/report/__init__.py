"""Figures, maps and one html page from a run's store."""
