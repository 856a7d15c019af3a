"""The loop and its store."""
