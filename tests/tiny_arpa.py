"""A tiny n-gram model: its ARPA file, the same in KenLM's binary format, and probabilities worked out by hand."""

import base64
import zlib

ARPA = r"""\data\
ngram 1=6
ngram 2=4
ngram 3=2

\1-grams:
-2.0	<unk>
-99	<s>	-0.5
-0.9	</s>
-0.6	the	-0.3
-0.8	cat	-0.2
-0.7	.	-0.1

\2-grams:
-0.2	<s> the	-0.15
-0.4	the cat	-0.25
-0.3	cat .	-0.05
-0.1	. </s>

\3-grams:
-0.06	<s> the cat
-0.12	the cat .

\end\
"""

# The same model as KenLM's build_binary wrote it.
BINARY = zlib.decompress(
    base64.b85decode(
        "c-qU&O)OBz$yLZGDJihh*U!#KO-##7%}LQq&d=3P&QD2INXswEO)OC;OD!tS%+FIW<zhg9274f}pAks>2Lg}?BUFYNOdhaD7Gs0bEKr(>0Tq"
        "DcwHG~=TBB~g1f+le&i3cd4>-#~>NADYkAK#+R$@id!<F;>V{P$+Y;>~<>J;}{ww1!|#sLn1Ji)+l>=4Mhw6rvkdmCoWl(e5UbLPIYXMF5|c"
        "%QMcF_1p97p95h6H`XZMq^>1m>p30zQ&@rA8M;>T0v@odiU*G#@r{hYTq`X8FoOiy$Z2Y_H|9L(T1AQz(4?~eQD?WV>>ag|4`}PeJ$^#1LY1"
        "(??3c)FR~h&(!6Xt2Ag6a)&~+L8L14(i6snr3;-YXamN"
    )
)

# log10 p, term by term
BY_HAND = {
    # the | <s>, cat | <s> the, . | the cat, </s> | cat . backs off to </s> | .
    "The cat.": -0.2 - 0.06 - 0.12 + (-0.05 - 0.1),
    # cat | <s> and the | cat back off; "<s> cat" is unknown and costs nothing; </s> | cat the falls to the unigram
    "Cat the": (-0.5 - 0.8) + (-0.2 - 0.6) + (-0.3 - 0.9),
    # unknown: nothing is known of what comes after it
    "dog": (-0.5 - 2.0) - 0.9,
    "the dog": -0.2 + (-0.15 - 0.3 - 2.0) - 0.9,
    "": -0.5 - 0.9,
}
