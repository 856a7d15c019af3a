"""What experiments are judged by."""
