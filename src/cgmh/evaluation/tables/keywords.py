"""The table of sentences from keywords: ours beside the paper's settings, searches, and people."""

from ..datasets import KeywordSet


def key_of(item: KeywordSet) -> str:
    """A set by the line that it was drawn from, and its words."""
    return f"{item.line}: {' '.join(item.keywords)}"
