"""Advice for people with attributes, from counts: the promise that covers these, why it is needed, and the command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from anondb.algorithms import METHODS
from anondb.compare.runs import Run
from anondb.errors import InputError
from anondb.guide.needs import Needs, knowledge_words
from anondb.guide.profile import Profile
from anondb.models.named import make_model

if TYPE_CHECKING:
    from anondb.guide.words import Section


@dataclass(frozen=True, repr=False)
class PeopleAdvice:
    """What to run for people with attributes, and why. It has exact figures of the original data: it is for their owner.

    Attributes:
        needs: what the owner said.
        profile: what attackers find, the columns, and the costs.
        run: the promise and the algorithm that are advised.
        command: the command, or the call, that makes the release.
    """

    needs: Needs
    profile: Profile
    run: Run
    command: str

    def reasons(self) -> list[str]:
        """Why the advice is as it is, in sentences."""
        people, model = self.profile.people, make_model(self.run.model, **self.run.parameters)
        assert people is not None
        by = " (proposed: you know what others know)" if people.proposed else ""
        said = [
            f"Somebody who knows {', '.join(people.quasi_identifiers)}{by} and {knowledge_words(self.needs.m)} finds none or"
            f" at least {self.needs.k} persons who fit: {model.promise}."
        ]
        counted = [(m, n) for m, n in enumerate(people.alone) if n is not None and m <= self.needs.m]
        m, alone = counted[-1]
        said.append(
            f"In the original, {alone:,} of {self.profile.persons:,} persons stand alone for somebody who knows these and"
            f" {m} items."
        )
        said.append(
            "delta says how much of the attributes' detail may be given up for that of the items, 0 to 1 (default 0.65). No"
            " value was tried: make releases with --delta 0.3, 0.65 and 0.9, and compare their errors."
        )
        return said

    def to_json(self) -> dict[str, Any]:
        """The advice as JSON values."""
        profile = self.profile.to_json()
        return {
            "source": self.profile.source,
            "persons": self.profile.persons,
            "needs": self.needs.to_json(),
            "advice": {"model": self.run.model, **self.run.parameters, "algorithm": self.run.algorithm},
            "command": self.command,
            "reasons": self.reasons(),
            "is_tested": False,
            "people": profile["people"],
            "estimates": [asdict(x) for x in self.profile.estimates],
        }

    def sections(self) -> list[Section]:
        """The conclusion, what attackers find, the columns and the costs, as tables."""
        from anondb.guide.words import Section, profile_sections

        why = [("" if n else "why", reason) for n, reason in enumerate(self.reasons())]
        rows = (
            ("promise", make_model(self.run.model, **self.run.parameters).promise),
            ("algorithm", self.run.algorithm),
            *why,
        )
        return [Section(f"advice for {self.profile.source}", (), rows), *profile_sections(self.profile)[1:]]

    def __repr__(self) -> str:
        from anondb.guide.words import sections_text

        return f"{sections_text(self.sections())}\n\nto run it:\n{self.command}"

    def _repr_html_(self) -> str:
        """The advice as tables, for notebooks."""
        from anondb.guide.page import section_html

        return "\n".join([*map(section_html, self.sections()), f"<pre>{escape(self.command)}</pre>"])


def advise_people(
    profile: Profile, needs: Needs, options: dict[str, Any], command: Callable[[Run], str]
) -> PeopleAdvice:
    """Advise on a release of people with attributes.

    Args:
        profile: a profile with records.
        needs: what the owner said; a release for counts.
        options: the options of ``needs.PEOPLE`` that the owner set, which the command repeats.
        command: the command that executes a run, as text.

    Raises:
        InputError: ``no_quasi_identifiers``: none are named, and none proposed; or a use that needs other algorithms.
    """
    people = profile.people
    if people is None or not people.quasi_identifiers:
        hint = "Name them with --quasi-identifiers A,B."
        raise InputError("No column is proposed as a quasi-identifier.", code="no_quasi_identifiers", hint=hint)
    if needs.use != "counts":
        raise InputError(
            f"With attributes, no release is made for {needs.use}.", code="bad_usage", hint="Leave --use out."
        )
    name = "klm" if options.get("sensitive") is not None else "kkm"
    model = make_model(name, k=needs.k, m=needs.m)
    options = {"quasi_identifiers": ",".join(people.quasi_identifiers), **options}
    algorithm = next(a for a, method in METHODS.items() if name in method.models)
    run = Run(algorithm, name, dict(model.parameters()), options)
    return PeopleAdvice(needs, profile, run, command(run))
