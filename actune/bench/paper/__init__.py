"""The reproduction of the AcTune paper: its claims, figures and tables against a table of results."""
