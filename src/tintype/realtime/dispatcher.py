"""The dispatcher: takes commands from JetStream, has them carried out, and answers.

What fails because a server is away is tried again for a while; a worker that is killed leaves its commands to the
others. So a command may be carried out more than once, which handlers are prepared for.
"""

import asyncio
import contextlib

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy, ConsumerConfig, DiscardPolicy, RetentionPolicy, StorageType, StreamConfig

from tintype.accounts import Accounts
from tintype.base.errors import NotSignedIn, TintypeError, Unavailable
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.base.nats import NatsNames
from tintype.base.rate_limits import COMMAND
from tintype.realtime.commands import CommandRegistry, Reply, read_command, read_id, refusal
from tintype.redis.rate_limits import RateLimiter

log = get_log("realtime")
AT_ONCE = 32
WAITING_AT_MOST = 256
ACK_WAIT_S = 15.0
ATTEMPTS = 5
RETRY_S = 1.0
LOOK_S = 5.0
MAX_AGE_S = 3_600
MAX_BYTES = 256 * 2**20
DURABLE = "commands"


class Dispatcher:
    """Carries out the commands of all devices, some at once."""

    def __init__(
        self,
        nats: Client,
        names: NatsNames,
        registry: CommandRegistry,
        accounts: Accounts,
        limiter: RateLimiter,
    ) -> None:
        self._nats, self._names, self._registry = nats, names, registry
        self._accounts, self._limiter = accounts, limiter
        self._free = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> Subscription:
        """Carry commands out from now on."""
        await self._ensure()
        return await self._nats.subscribe(self._subject, queue=DURABLE, cb=self._take)

    async def run(self) -> None:
        """Look after stream and consumer until cancelled; commands in progress then get a moment to finish."""
        try:
            while True:
                await asyncio.sleep(LOOK_S)
                with contextlib.suppress(NatsError, TimeoutError, OSError):  # NATS is away: look again later
                    await self._ensure()  # JetStream may have lost them
        finally:
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=ACK_WAIT_S)

    @property
    def _subject(self) -> str:
        return f"{self._names.namespace}.commands"

    async def _ensure(self) -> None:
        js = self._nats.jetstream()
        await js.add_stream(
            StreamConfig(
                name=self._names.commands_stream,
                subjects=[NatsNames.user("*", "commands")],
                retention=RetentionPolicy.WORK_QUEUE,
                storage=StorageType.FILE,
                discard=DiscardPolicy.NEW,
                max_age=MAX_AGE_S,
                max_bytes=MAX_BYTES,
            )
        )
        await js.add_consumer(
            self._names.commands_stream,
            ConsumerConfig(
                durable_name=DURABLE,
                deliver_subject=self._subject,
                deliver_group=DURABLE,
                ack_policy=AckPolicy.EXPLICIT,
                ack_wait=ACK_WAIT_S,
                max_deliver=-1,
                max_ack_pending=WAITING_AT_MOST,
            ),
        )

    async def _take(self, message: Msg) -> None:
        await self._free.acquire()
        task = asyncio.create_task(self._handle(message))
        self._tasks.add(task)
        task.add_done_callback(self._release)

    def _release(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._free.release()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("command.failed", exc_info=error)

    async def _handle(self, message: Msg) -> None:
        account_id = AccountId(int(message.subject.split(".")[2]))
        try:
            reply = await self._run(account_id, message)
        except Unavailable as error:
            if message.metadata.num_delivered < ATTEMPTS:
                await message.nak(delay=RETRY_S * message.metadata.num_delivered)
                return
            reply = refusal(read_id(message.data), error)
        if reply.id:
            await self._nats.publish(NatsNames.user(account_id, "replies"), msgspec.json.encode(reply))
        await message.ack()

    async def _run(self, account_id: AccountId, message: Msg) -> Reply:
        """The answer to a command; raises `Unavailable` for one that may succeed later."""
        command_id = read_id(message.data)
        try:
            await self._limiter.acquire(COMMAND, account_id)
            await self._check_active(account_id)
            sent = read_command(message.data)
            return Reply(sent.id, result=await self._registry.run(account_id, sent))
        except Unavailable:
            raise
        except TintypeError as error:
            return refusal(command_id, error)
        except Exception as error:
            log.exception("command.crashed", account_id=account_id)
            raise Unavailable from error

    async def _check_active(self, account_id: AccountId) -> None:
        """The connection may have been cut since: whoever may not connect any more may not command either."""
        account = (await self._accounts.find_many([account_id])).get(account_id)
        if account is None or not account.is_active:
            raise NotSignedIn
