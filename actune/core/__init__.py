"""The nouns that all layers share: pool, task, view, dialogue, streams, k-means."""
