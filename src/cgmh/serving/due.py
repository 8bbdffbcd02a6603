"""In which order sources are worked on, and how long what an engine has been given will take."""

from ..settings import Settings

SECONDS_OF_STEP = 0.001  # of one chain, that a source may wait
PATIENCE = (3.0, 30.0)  # seconds that a source may wait at least and at most, before it goes first
STEPS_PER_SECOND = 1500.0  # of the chains of a busy process, about, until it is measured
MEMORY = 30.0  # seconds of work after which a measurement counts less by a factor of e


def due_at(settings: Settings, asked_at: float) -> float:
    """When a source has waited long enough: then nothing that is due later steps before it is answered.

    What asks for very many steps gives way to others for some time.
    """
    least, most = PATIENCE
    return asked_at + min(most, max(least, SECONDS_OF_STEP * settings.chains * settings.num_steps))


class Speed:
    """Steps per second that the processes make together, measured while all of them are busy.

    Few chains make fewer steps in the same time, so that nothing can be learnt from them.
    """

    def __init__(self, processes: int) -> None:
        self._seconds, self._steps = MEMORY, MEMORY * STEPS_PER_SECOND * processes
        self._since: tuple[float, int] | None = None  # since when the processes are busy, and the steps by then

    @property
    def steps_per_second(self) -> float:
        return self._steps / self._seconds

    def see(self, now: float, steps: int, *, busy: bool) -> None:
        """Hear how many steps were made in all by now, and whether all processes have enough to do from now on."""
        if self._since is not None and now > self._since[0]:
            seconds, made = now - self._since[0], steps - self._since[1]
            fades = MEMORY / (MEMORY + seconds)
            self._seconds, self._steps = fades * (self._seconds + seconds), fades * (self._steps + made)
        self._since = (now, steps) if busy else None

    def pause(self) -> None:
        """Nothing can be learnt from what is made until they are seen busy again."""
        self._since = None
