"""Drawings of learning curves, in which every method always looks the same."""
