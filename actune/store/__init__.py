"""The events, arrays and models of a run, on the disk and safe for many threads and processes."""
