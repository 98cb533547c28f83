"""Files, processes, signals and the terminal."""
