"""How to learn: encoders, learners, and where weights come from."""
