"""A question in other words, with what must stay; then another one under a constraint of one's own."""

import cgmh

result = cgmh.paraphrase("How do I learn to play guitar in two weeks?", n=3)
print("kept:", ", ".join(result.notes["keywords"]), "| protected:", ", ".join(result.notes["protected"]))
for sentence in result:
    print(f"similarity {sentence.similarity:.2f}  overlap {sentence.overlap:2.0f} %  {sentence.text}")


@cgmh.constraint(hard=True)
def asks_which(words: list[str]) -> bool:
    """Whether the question begins with "which"."""
    return words[:1] == ["which"]


print(cgmh.paraphrase("What movie do you like most?", n=1, chains=8, constraints=[asks_which]).best)
