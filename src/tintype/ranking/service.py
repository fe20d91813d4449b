"""The ranking room as others use it."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import numpy as np
from redis.asyncio import Redis
from redis.exceptions import RedisError

from shardwright.running import Shards
from tintype.accounts import Accounts
from tintype.base.bringing import Bringing
from tintype.base.errands import Errands
from tintype.base.errors import SettingsInvalid
from tintype.base.ids import AccountId, PostId
from tintype.base.jobs import Handler, Schedule
from tintype.base.limits import Limiter
from tintype.base.near import Shelf
from tintype.base.settings import Settings
from tintype.base.wire import Wire
from tintype.graph import Sight
from tintype.posts import Posts
from tintype.ranking.examples import Examples, pack_served
from tintype.ranking.experiments import Experiments
from tintype.ranking.explaining import explain
from tintype.ranking.exploring import Explore
from tintype.ranking.facts import Facts, Looked
from tintype.ranking.features import NOBODY, Known
from tintype.ranking.hearing import Hearing
from tintype.ranking.judging import Judge
from tintype.ranking.keeping import Keeping
from tintype.ranking.keys import Keys
from tintype.ranking.looking import Looking
from tintype.ranking.models import Explanation, Ranked
from tintype.ranking.notes import Notes
from tintype.ranking.ordering import Places
from tintype.ranking.popular import Popular
from tintype.ranking.rows import Floats
from tintype.ranking.weights import Weights, load_weights

FEED_ORDER = "feed-order"
SWEEP_EVERY_S = 3_600.0
MOST_NEAR = 5_000


class Ranking(Keeping):
    """Orders posts for viewers, and learns from what they do."""

    def __init__(
        self,
        wire: Wire,
        redis: Redis,
        shards: Shards,
        *,
        accounts: Accounts,
        posts: Posts,
        sight: Sight,
        limiter: Limiter,
        settings: Settings,
    ) -> None:
        keys, layout = Keys(settings.namespace), shards.map.layout
        super().__init__(shards, wire, keys)
        self._errands = Errands()
        first, *others = keys.known_starts
        self._near: Shelf[int, Known] = wire.near.shelf(first, int, MOST_NEAR, *others)
        self.experiments = Experiments.load(settings.experiments)
        weights = load_weights(settings.ranking_weights)
        _check(self.experiments, weights)
        self._judges = {name: Judge(each, layout.epoch_ms) for name, each in weights.items()}
        self._numbers = {name: number for number, name in enumerate(self._judges)}
        self.examples = Examples(
            shards, wire, keys, share=settings.training_share, days=settings.training_days
        )
        notes = Notes(redis, keys, weights[""], layout)
        self.facts = Facts(
            wire,
            keys,
            posts,
            notes,
            errands=self._errands,
            builders=[each.features for each in self._judges.values()],
        )
        popular = Popular(wire, keys, posts, layout=layout, half_life_s=weights[""].velocity.half_life_s)
        self._hearing = Hearing(accounts, posts, notes, self.facts, popular=popular, examples=self.examples)
        self.looking = Looking(
            posts, notes, limiter, hearing=self._hearing, examples=self.examples, errands=self._errands
        )
        self.explore = Explore(self, wire, keys, popular=popular, posts=posts, sight=sight)

    def ask(self, viewer: AccountId, bringing: Bringing) -> None:
        """Ask for what must be known of the viewer before ranking, along with what the caller asks; for `take`."""
        if viewer not in self._near.here:
            bringing.add_for(self._near, viewer, self._keys.command(viewer))

    async def take(self, viewer: AccountId, bringing: Bringing) -> Known:
        """What is known of the viewer: near, or as it was answered; what has changed in between is read anew."""
        answers = bringing.answers_for(self._near, viewer)
        if answers is None:
            return self._near.here.get(viewer) or await self.know(viewer)
        known = Known.read(answers[0])
        bringing.keep(self._near, viewer, known)
        return known

    async def rank(
        self, viewer: AccountId | None, candidates: Sequence[PostId], known: Known = NOBODY
    ) -> list[Ranked]:
        """The candidates, best first."""
        ids = sorted(candidates, reverse=True)
        if not ids:
            return []
        posts, places, final = await self._arrange(viewer, ids, known)
        authors = cast("list[AccountId]", posts.authors[places].tolist())
        ordered = map(ids.__getitem__, places.tolist())
        told = authors if all(authors) else [each or None for each in authors]
        return list(map(Ranked, ordered, final.tolist(), told))

    async def order(self, viewer: AccountId, candidates: Sequence[PostId], known: Known) -> list[PostId]:
        """The same, only the posts."""
        ids = sorted(candidates, reverse=True)
        if not ids:
            return []
        places = (await self._arrange(viewer, ids, known))[1]
        return list(map(ids.__getitem__, places.tolist()))

    async def _arrange(
        self, viewer: AccountId | None, ids: Sequence[PostId], known: Known
    ) -> tuple[Looked, Places, Floats]:
        arm, judge, number = self._judge_of(viewer)
        posts = await self.facts.look_up(ids, number)
        verdict = judge.weigh(
            judge.features.add_viewer(
                posts.lasting, posts.ids, posts.authors, posts.tags, known=known, now_s=time.time()
            )
        )
        places, final = judge.arrange(verdict, posts.authors)
        if viewer is not None and self.examples.is_drawn(viewer):
            served = pack_served(posts.ids[places], final, verdict.features[places])
            version = judge.scorer.version
            self._errands.start(lambda: self.examples.serve(viewer, served, weights=version, arm=arm))
        return posts, places, final

    async def explain(
        self, viewer: AccountId, post_ids: Sequence[PostId], known: Known
    ) -> dict[PostId, Explanation]:
        """Why each of these posts stands where it does for the viewer."""
        arm, judge, _ = self._judge_of(viewer)
        posts = await self.facts.of(post_ids)
        verdict = judge.judge(np.array(post_ids, np.uint64), posts, known, time.time())
        return explain(judge, verdict, post_ids, arm=arm)

    async def why(self, viewer: AccountId, post_ids: Sequence[PostId]) -> dict[PostId, Explanation]:
        """The same, asked outside of a ranking; the viewer's habits are missing without Redis."""
        return await self.explain(viewer, post_ids, await self.know(viewer)) if post_ids else {}

    async def know(self, viewer: AccountId) -> Known:
        """What is known of a viewer now; nothing while Redis is away."""
        try:
            return Known.read((await self._wire.ask(self._keys.command(viewer)))[0])
        except (RedisError, OSError):
            return NOBODY

    async def affinities(self, viewer: AccountId, others: Iterable[AccountId]) -> dict[AccountId, float]:
        """How close the viewer is to each of the others, from nothing to one; nothing while Redis is away."""
        wanted = list(dict.fromkeys(others))
        known = await self.know(viewer)
        found = self._judge_of(viewer)[1].features.closeness(
            known.affinity, np.array(wanted, np.uint64), time.time()
        )
        return dict(zip(wanted, found.tolist(), strict=True))

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return self._hearing.handlers()

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return [Schedule("ranking-sweep", SWEEP_EVERY_S, self.examples.sweep)]

    async def close(self) -> None:
        """Nothing is under way any more."""
        await self._errands.settle()

    def _judge_of(self, viewer: AccountId | None) -> tuple[str, Judge, int]:
        """The arm a viewer is in, its judge, and the judge's number among all."""
        arm = self.experiments.arm(FEED_ORDER, viewer) if viewer is not None else ""
        name = self.experiments.weights(FEED_ORDER, arm)
        return arm, self._judges[name], self._numbers[name]


def _check(experiments: Experiments, weights: Mapping[str, Weights]) -> None:
    lacking = sorted(experiments.variants() - weights.keys())
    if lacking:
        raise SettingsInvalid(
            f"ranking_weights has no variants {', '.join(lacking)}, which an experiment uses: add them, "
            f"or end the experiment with experiments = ['{FEED_ORDER}=']."
        )
