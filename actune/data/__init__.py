"""Files and named data sets in and out."""
