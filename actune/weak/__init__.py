"""Votes of rules and other cheap sources, and models that combine them into labels."""
