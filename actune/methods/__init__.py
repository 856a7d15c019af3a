"""What to ask and what to trust: queries, regions, memory, and the recipes made of them."""
