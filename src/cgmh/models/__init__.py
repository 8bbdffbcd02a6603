"""Language models: what the sampler asks of one, and the ones that come with the package."""
