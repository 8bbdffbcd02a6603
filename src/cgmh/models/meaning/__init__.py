"""What words and sentences mean, as vectors: those inside the package, and MiniLM's."""

from .vectors import PAD, Encoder, EncoderConfig, Meaning, load_meaning, save_meaning

__all__ = ["PAD", "Encoder", "EncoderConfig", "Meaning", "load_meaning", "save_meaning"]
