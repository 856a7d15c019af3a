"""Estimators in the style of scikit-learn, which keep everything in memory: no run folder, no questions over time."""
