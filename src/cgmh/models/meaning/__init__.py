"""What words and sentences mean, as vectors: those inside the package, and MiniLM's."""

from .vectors import Encoder, Meaning, load_meaning

__all__ = ["Encoder", "Meaning", "load_meaning"]
