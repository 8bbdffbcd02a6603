"""A model of texts that reads each text as the line after another one."""

from collections.abc import Sequence

from torch import Tensor

from ...errors import BadInput
from ..protocols import TextModel


class Following:
    """log p(text, given the lines before it), where a new line ends a text for the model.

    The lines are asked about together with the texts. A model that shares the work of texts that begin alike reads
    them once, and what it has read before them, such as a context, it need not read again.
    """

    def __init__(self, model: TextModel, lines: Sequence[str]) -> None:
        self.name = f"{model.name} and {len(lines)} more"
        self._model, self._before = model, "\n".join(lines)

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        """[N]; where line and text are too long for the model, it reads the text without the lines."""
        try:
            log_prob = self._model.log_prob([self._before, *(f"{self._before}\n{text}" for text in texts)])
        except BadInput:
            return self._model.log_prob(texts)
        return log_prob[1:] - log_prob[0]
