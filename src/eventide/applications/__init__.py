"""The applications that come with Eventide: for each its rules, a generator of synthetic data and what it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from eventide.applications.activity import generator as activity
from eventide.applications.biology import generator as biology
from eventide.applications.city import generator as city
from eventide.applications.fleet import generator as fleet
from eventide.applications.maritime import generator as maritime
from eventide.applications.netbill import generator as netbill
from eventide.applications.streams import Columns, Stream
from eventide.applications.toy import generator as toy
from eventide.applications.transport import generator as transport
from eventide.applications.voting import generator as voting

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Application:
    """One application.

    `generate(entities, seed)` gives a stream of about `rows_per_entity` rows for each entity (what an entity is, the
    generator says), `background(entities)` the relations that belong to it. `tick` and `start` are those of a run.
    """

    name: str
    description: str
    rules: Path
    generate: Callable[..., Stream]
    background: Callable[..., dict[str, Columns]]
    rows_per_entity: int
    tick: int = 1
    start: int = 0

    def entities_for(self, rows: int) -> int:
        """How many entities give about this many rows."""
        return max(1, round(rows / self.rows_per_entity))


_ALL = (
    Application(
        "toy", "people, their moves, and when they are happy", HERE / "toy/rules.ec", toy.generate, toy.background, 20
    ),
    Application(
        "maritime",
        "vessels: gaps, stops, drifting, trawling, rescue, tugging, rendez-vous, pilot operations",
        HERE / "maritime/rules.ec",
        maritime.generate,
        maritime.background,
        250,
    ),
    Application(
        "maritime_allen",
        "the maritime description and 26 patterns that compare periods by Allen relations",
        HERE / "maritime_allen/rules.ec",
        maritime.generate,
        maritime.background,
        250,
    ),
    Application(
        "transport",
        "city transport: punctuality, driving style and quality, comfort, satisfaction",
        HERE / "transport/rules.ec",
        transport.generate,
        transport.background,
        82,
    ),
    Application(
        "voting",
        "a voting protocol: status of motions, votes, permissions, obligations, sanctions",
        HERE / "voting/rules.ec",
        voting.generate,
        voting.background,
        100_600,
        start=-1,
    ),
    Application(
        "netbill",
        "an e-commerce protocol: quotes, contracts, obligations, suspensions",
        HERE / "netbill/rules.ec",
        netbill.generate,
        netbill.background,
        9_030,
        start=-1,
    ),
    Application(
        "activity",
        "people in a public space: leaving objects, meeting, moving together, fighting",
        HERE / "activity/rules.ec",
        activity.generate,
        activity.background,
        3_800,
        tick=activity.TICK,
    ),
    Application(
        "fleet",
        "commercial vehicles: speeding, dangerous and uneconomic driving, refuelling",
        HERE / "fleet/rules.ec",
        fleet.generate,
        fleet.background,
        170,
    ),
    Application(
        "city",
        "a city during events: parking, congestion, air quality, access, when to add security",
        HERE / "city/rules.ec",
        city.generate,
        city.background,
        245,
    ),
    Application(
        "immune",
        "the immune response, a feedback loop of two variables with delays",
        HERE / "biology/immune.ec",
        biology.generate_immune,
        biology.background,
        2,
        start=-1,
    ),
    Application(
        "phage",
        "the phage infection, a feedback loop of four variables with delays",
        HERE / "biology/phage.ec",
        biology.generate_phage,
        biology.background,
        4,
        start=-1,
    ),
)

APPLICATIONS = {application.name: application for application in _ALL}
