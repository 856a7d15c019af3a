"""What the page and other programs may ask for, by topic."""
