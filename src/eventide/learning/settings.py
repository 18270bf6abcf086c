"""What can be chosen about learning, with defaults, each named and checked. Nothing is learnt here."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self, get_args

from eventide.errors import EventideError
from eventide.learning.induction import Search, check_kinds
from eventide.learning.inference import MODES, Mode
from eventide.learning.specialisation import SCORES, Score
from eventide.learning.weights import INITIAL, AdaGrad
from eventide.syntax.vocabulary import did_you_mean

Method = Literal["woled", "oled"]
Induction = Literal["revise", "extend"]
Weighting = Literal["counts", "adagrad"]
Objective = Literal["mistakes", "f1"]
Carry = Literal["inferred", "labels", "nothing"]
_CHOICES: dict[str, tuple[str, ...]] = {
    "method": get_args(Method), "inference": MODES, "induction": get_args(Induction), "weighting": get_args(Weighting),
    "objective": get_args(Objective), "carry": get_args(Carry), "score": SCORES}
_MOST = dict.fromkeys(("literal_cost", "missed_cost", "false_cost"), 10**9) | {
    "effort": 1 << 62, "conflicts": (1 << 31) - 1, "thresholds": 4096}


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a `Learner`. `Settings()` is what we recommend, `Settings.paper()` what KR 2020 describes.

    >>> Settings(memory=0)
    Traceback (most recent call last):
    eventide.errors.EventideError: memory is at least 1, not 0
    """

    method: Method = "woled"
    """`woled`: new rules by optimisation, with weights. `oled`: rules begin without conditions and get them one by one
    by Hoeffding tests; no weights."""
    inference: Mode = "vote"
    """What weights mean, see `inference`. With `oled` it is `crisp`."""
    induction: Induction = "revise"
    """`revise`: the theory is improved as a whole on what is remembered. `extend`: rules are only added to it, as in
    Algorithm 2 of the paper."""
    memory: int = 1000
    """The batches that are remembered for the search of rules, compressed to runs. 1 is the paper's."""
    patience: float = 0.25
    """A theory is revised after mistakes that are this share of what it cost on all that is remembered. The share is
    doubled each time that a revision uses up its effort."""
    mistakes_allowed: int = 2
    """Mistakes in a batch, or since the last revision, that lead to nothing."""
    seeds: Literal["labels", "mistakes"] = "labels"
    """Examples that bottom rules are built from: all changes that labels allow, or only what was inferred wrongly."""
    objective: Objective = "f1"
    """What a revision aims at: few `mistakes`, or a high `f1` of states, for which what was missed costs more than what
    is false: (2 - f) to f, where f is the F1 that the theory has so far."""
    search: Search = field(default_factory=Search)
    joined: int = 2
    """The most literals that share a variable which the head lacks."""
    thresholds: int = 8
    """Limits for a comparison whose limits no table lists: quantiles of the numbers that are compared."""
    carry: Carry = "inferred"
    """The state in which a batch begins: as inferred, from the last label (which is known by then), or nothing."""
    weighting: Weighting = "counts"
    """`counts`: the logarithm of right over wrong groundings, at least `initial_weight`. `adagrad`: the paper's."""
    adagrad: AdaGrad = field(default_factory=AdaGrad)
    initial_weight: float = INITIAL
    """The weight of a rule that is new, and the least that `counts` gives."""
    specialise: bool = False
    """Whether rules get further conditions by Hoeffding tests; with `oled` they always do."""
    score: Score = "gain"
    """What decides between further conditions: information `gain`, `precision` or `f-score`."""
    hoeffding_delta: float = 0.05
    """How probable it may be that a Hoeffding test takes a condition that is not the best."""
    ties: float = 0.05
    """Where the test is finer than this and cannot tell the two best apart, they count as equal: the first is taken."""
    least_seen: int = 0
    """Observations before a tie is broken."""
    least_gain: float = 1e-7
    """With the score `gain`: a condition that gains less is not taken."""
    mean_of_batches: bool = False
    """Whether the lead of the best is its mean over batches, as in the authors' program, or what it is now."""
    least_covered: float = 0.0
    """The share of its parent's true groundings that a specialised rule must keep."""
    prune_precision: float = 0.0
    """Rules below this precision are dropped once they have `prune_after` groundings; 0 for none."""
    prune_after: int = 100
    """How many groundings a rule must have before its precision can drop it."""
    drift: bool = False
    """Whether to forget what is older than an increase of mistakes."""
    drift_delta: float = 0.002
    """How probable it may be that an increase of mistakes is taken for one where there is none."""

    def __post_init__(self) -> None:
        check_kinds(self)
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                raise EventideError(f"{name} is one of {', '.join(known)}, not {value!r}")
        if self.seeds not in ("labels", "mistakes"):
            raise EventideError(f"seeds is one of labels, mistakes, not {self.seeds!r}")
        for name, least in (("memory", 1), ("mistakes_allowed", 0), ("joined", 1), ("thresholds", 1),
                            ("least_seen", 0), ("prune_after", 1), ("patience", 0)):
            if getattr(self, name) < least:
                raise EventideError(f"{name} is at least {least}, not {getattr(self, name)}")
        for name, most in _MOST.items():  # what can be counted
            value = getattr(self if hasattr(self, name) else self.search, name)
            if value > most:
                raise EventideError(f"{name} is at most {most}, not {value}")
        for name in ("least_covered", "prune_precision", "least_gain", "ties"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise EventideError(f"{name} lies between 0 and 1, it is not {getattr(self, name)}")
        for name in ("hoeffding_delta", "drift_delta"):
            if not 0.0 < getattr(self, name) < 1.0:
                raise EventideError(f"{name} lies between 0 and 1, it is not {getattr(self, name)}")

    @property
    def specialises(self) -> bool:
        """Whether rules get further conditions by Hoeffding tests.

        >>> Settings(method="oled").specialises
        True
        """
        return self.specialise or self.method == "oled"

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """WOLED as the paper has it, but for the errors that it has: batches alone, AdaGrad, Hoeffding tests.

        >>> Settings.paper().memory
        1
        """
        given = cls(induction="extend", memory=1, seeds="mistakes", weighting="adagrad", specialise=True,
                    search=Search(grown=0))
        return given.with_(**changes)

    @classmethod
    def oled(cls, **changes: Any) -> Self:
        """OLED: crisp rules, made by Hoeffding tests only."""
        return cls(method="oled", inference="crisp", memory=1, seeds="mistakes", specialise=True).with_(**changes)

    def careful(self) -> Self:
        """The same settings with dear literals: few rules, which say little that the next stream might not have.

        F1 is highest where a missed state costs (2 - F) / F of a false one, which is 3 to 2 at an F1 of 0.8. Labels
        come in intervals of a hundred states and more, whose mistakes are made together: so a literal must save some
        thirty of them. Where literals are dear, long bodies do not pay, so that none are grown.

        >>> Settings().careful().search.literal_cost
        75
        """
        return self.with_(missed_cost=3, false_cost=2, literal_cost=75, grown=0)

    def with_(self, **changes: Any) -> Self:
        """The settings with some of them changed; those of `search` and `adagrad` can be named too.

        >>> Settings().with_(literal_cost=3).search.literal_cost
        3
        >>> Settings().with_(memry=3)
        Traceback (most recent call last):
        eventide.errors.EventideError: there is no setting 'memry'; did you mean 'memory'?
        """
        own, search, adagrad = ({each.name for each in fields(kind)} for kind in (Settings, Search, AdaGrad))
        for name in changes:
            if name not in own | search | adagrad:
                hint = did_you_mean(name, tuple(sorted(own | search | adagrad)), "see eventide.learning.Settings")
                raise EventideError(f"there is no setting {name!r}; {hint}")
        given = {name: value for name, value in changes.items() if name in own}
        if inner := {name: value for name, value in changes.items() if name in search - own}:
            given["search"] = replace(given.get("search", self.search), **inner)
        if inner := {name: value for name, value in changes.items() if name in adagrad - own}:
            given["adagrad"] = replace(given.get("adagrad", self.adagrad), **inner)
        return replace(self, **given)
