"""What a model that was tuned to correct sentences reads before a correction: the sentence as it was typed."""


def line_of(typed: str) -> str:
    """The line before what was meant: an asterisk, as linguists mark what nobody says, and the typed sentence."""
    return f" * {' '.join(typed.split())}\n"
