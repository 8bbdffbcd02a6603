"""Language models of whole texts: Llama, Hugging Face, n-gram models, any function; and masked models."""
