"""Decisions by somebody outside who is asked over HTTP: what is asked, what is answered, how long it holds.

The asking itself is `server/http_authorizer.py`; nothing here waits. A question whose answer is not known is
`Undecided`: the request that it came with begins anew when the answer is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kbroker.security.acl import Operation, PatternType, ResourceType
from kbroker.security.authorizer import Question, Undecided

#: Answers kept; then the oldest half is forgotten.
ANSWERS_MAX = 50_000
#: Questions in one request, and the size of an answer to them.
QUESTIONS_MAX = 500
ANSWER_BYTES_MAX = 1 << 20

_WORDS: dict[str, bool | None] = {"allow": True, "deny": False, "next": None}


class HttpAuthorizer:
    """What is known of the answers.

    Args:
        monotonic_ms: the time.
        cache_ms: how long an answer holds.
        on_failure: `deny`, `allow` or `next`: what holds, for a tenth of that, when there is no answer.
    """

    def __init__(self, monotonic_ms: Callable[[], int], cache_ms: int, on_failure: str = "deny") -> None:
        self._monotonic_ms = monotonic_ms
        self._cache_ms = cache_ms
        self._on_failure = _WORDS[on_failure]
        self._answers: dict[Question, tuple[bool | None, int]] = {}
        #: How often there was no answer.
        self.failures = 0

    def decide(self, question: Question) -> bool | None:
        """See `Authorizer.decide`."""
        known = self._answers.get(question)
        if known is None or known[1] <= self._monotonic_ms():
            raise Undecided([question])
        return known[0]

    def answered(self, questions: Iterable[Question], answers: Iterable[bool | None]) -> None:
        """Somebody has decided."""
        self._keep(zip(questions, answers), self._cache_ms)

    def failed(self, questions: Sequence[Question]) -> None:
        """Nobody has."""
        self.failures += 1
        # Long enough for the request that waits to be answered by it.
        self._keep(((each, self._on_failure) for each in questions), max(self._cache_ms // 10, 1000))

    def _keep(self, answers: Iterable[tuple[Question, bool | None]], for_ms: int) -> None:
        until = self._monotonic_ms() + for_ms
        if len(self._answers) >= ANSWERS_MAX:
            for question in list(self._answers)[: ANSWERS_MAX // 2]:
                del self._answers[question]
        for question, answer in answers:
            self._answers.pop(question, None)  # its place among the oldest, too
            self._answers[question] = answer, until


def encode_questions(questions: Sequence[Question]) -> bytes:
    """`{"questions": [{"principal", "host", "operation", "resource", "name"}, …]}`."""
    return json.dumps(
        {
            "questions": [
                {
                    "principal": each.principal,
                    "host": each.host,
                    "operation": Operation(each.operation).name,
                    "resource": ResourceType(each.resource_type).name,
                    "pattern": PatternType.LITERAL.name if not each.any_name else PatternType.ANY.name,
                    "name": each.name,
                }
                for each in questions
            ]
        }
    ).encode()


def decode_answers(data: bytes, count: int) -> list[bool | None]:
    """`{"answers": ["allow" | "deny" | "next", …]}`, one for each question, in their order.

    Raises:
        ValueError: it is something else.
    """
    found: Any = json.loads(data)
    answers = found.get("answers") if isinstance(found, dict) else None
    if not isinstance(answers, list) or len(answers) != count:
        raise ValueError(f"no list of {count} answers")
    try:
        return [_WORDS[each] for each in answers]
    except (KeyError, TypeError):
        raise ValueError("an answer is neither allow nor deny nor next") from None
