"""Models that are installed by `cgmh models pull`: the store, downloading, and converting GGUF files."""
