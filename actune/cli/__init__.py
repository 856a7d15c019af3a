"""Words on a command line, each one library call."""
