"""A scenario file that names a scheme of the user."""


def scenario_text(scheme):
    """Return the text of a scenario with one flow."""
    return f"""
        name = "own"
        duration = "3s"

        [topology]
        kind = "dumbbell"
        bottleneck = {{ rate = "10mbps", delay = "10ms" }}

        [[flows]]
        name = "flow"
        scheme = "{scheme}"
    """
