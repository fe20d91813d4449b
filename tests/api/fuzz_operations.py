"""Random requests to the operations of an OpenAPI document, made and judged by schemathesis."""

import re
from typing import Any, cast

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies
from hypothesis.errors import Unsatisfiable
from schemathesis import checks
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks as of_description

ALWAYS: list[Any] = [  # partly typed, and only handed on
    checks.not_a_server_error,
    of_description.status_code_conformance,
    of_description.content_type_conformance,
    of_description.response_schema_conformance,
]
CHECKS: dict[GenerationMode, list[Any]] = {
    GenerationMode.POSITIVE: ALWAYS,
    GenerationMode.NEGATIVE: [*ALWAYS, of_description.negative_data_rejection],
}
LEFT_OUT = re.compile(
    r"^/(healthz|readyz|metrics|media/|api$|api/docs)|/sessions/current|/accounts/me/(deletion|deactivation)"
)
"""Not of the API, or ends the session that the others need."""
ORDER = ("head", "get", "post", "patch", "put", "delete")
"""What ends or hides something comes after what needs it."""


def list_operations(document: str) -> list[Any]:
    """What the document at this address offers, in an order in which nothing is ended before it was used."""
    schema: Any = schemathesis.openapi.from_url(document)
    found = [each.ok() for each in schema.get_all_operations()]
    return sorted(
        (each for each in found if not LEFT_OUT.search(each.path)), key=lambda each: ORDER.index(each.method)
    )


def try_operation(
    operation: Any,
    headers: dict[str, str],
    known: dict[str, str],
    *,
    mode: str = GenerationMode.POSITIVE.value,
    examples: int,
    chosen_seed: int,
) -> list[str]:
    """Call an operation so often; returns what is wrong with the responses."""
    generation = GenerationMode(mode)

    @seed(chosen_seed)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
        phases=[Phase.explicit, Phase.generate],
    )
    @given(case=operation.as_strategy(generation_mode=generation), uses_known_ids=strategies.booleans())
    def check(case: Any, *, uses_known_ids: bool) -> None:
        # A known id might make valid what is to be refused.
        if uses_known_ids and generation is GenerationMode.POSITIVE:
            _use_known_ids(case, known)
        case.call_and_validate(checks=CHECKS[generation], headers=headers)

    try:
        check()
    except Unsatisfiable:
        return []  # nothing that can be sent would be invalid
    except (FailureGroup, Failure) as failure:
        reasons = failure.exceptions if isinstance(failure, FailureGroup) else [failure]
        return [f"{operation.label}: {str(each)[:600]}" for each in reasons]
    return []


def _use_known_ids(case: Any, known: dict[str, str]) -> None:
    """Replace generated ids by those of existing objects."""
    for named in (case.path_parameters, case.body):
        if isinstance(named, dict):
            found = cast("dict[str, Any]", named)
            found |= {name: known[name] for name in found if name in known}
            if "media_ids" in found:
                found["media_ids"] = [known["media_id"]]
