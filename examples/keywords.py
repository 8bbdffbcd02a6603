"""Sentences that contain given words."""

import cgmh

result = cgmh.keywords(["kitchen", "bread"], n=3)
for sentence in result:
    print(f"{sentence.nll_per_word:.2f}  {sentence.text}")
print(result.acceptance)
