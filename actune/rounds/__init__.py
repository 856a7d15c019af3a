"""One round as functions of what they are given: fit a model, measure it, choose what to ask and what to trust."""
