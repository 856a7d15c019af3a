"""The labelling page: a small server on one project, and what the browser gets from it."""
