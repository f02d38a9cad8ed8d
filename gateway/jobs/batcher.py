"""What many ask for at the same moment, done in one go."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from gateway.errors import StoreError
from gateway.store.refused import StoreRefused

_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")
_MOST: Final = 100


class Batcher(Generic[_Asked, _Answer]):
    """Whoever asks while an answer is under way shares the next one; nobody waits for a timer."""

    def __init__(
        self, answer_all: Callable[[Sequence[_Asked]], Awaitable[Sequence[_Answer]]]
    ) -> None:
        """`answer_all` answers each, in order. What it raises, each gets."""
        self._answer_all = answer_all
        self._waiting: deque[tuple[_Asked, asyncio.Future[_Answer]]] = deque()
        self._task: asyncio.Task[None] | None = None

    async def ask(self, asked: _Asked) -> _Answer:
        """The answer to `asked`. A caller that leaves does not stop what the others wait for."""
        future: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._answer(), name="together")
        return await future

    async def _answer(self) -> None:
        while self._waiting:
            group = [self._waiting.popleft() for _ in range(min(_MOST, len(self._waiting)))]
            left = [(asked, future) for asked, future in group if not future.done()]
            if left:
                await self._answer_group(left)

    async def _answer_group(
        self, group: list[tuple[_Asked, asyncio.Future[_Answer]]]
    ) -> StoreError | None:
        """Tell each of the group its answer. What is returned is why the store gives none now."""
        try:
            answers = await self._answer_all([asked for asked, _ in group])
        except StoreRefused as error:
            # Of what one has asked for: the others' must not wait for it.
            await self._part(group, error)
        except StoreError as error:
            _refuse_all(group, error)
            return error
        except Exception as error:  # noqa: BLE001 - it goes to whoever asked for what provokes it
            await self._part(group, error)
        else:
            for (_, future), answer in zip(group, answers, strict=True):
                if not future.done():
                    future.set_result(answer)
        return None

    async def _part(
        self, group: list[tuple[_Asked, asyncio.Future[_Answer]]], error: Exception
    ) -> None:
        """Whose fault `error` is shows when each is asked for alone, while the store answers."""
        if len(group) == 1:
            _refuse(group[0][1], error)
            return
        for index, each in enumerate(group):
            if (trouble := await self._answer_group([each])) is not None:
                _refuse_all(group[index + 1 :], trouble)
                return


def _refuse_all(group: Sequence[tuple[_Asked, asyncio.Future[_Answer]]], error: StoreError) -> None:
    for _, future in group:
        # One of its own for each: every raise adds to the traceback of what it raises.
        _refuse(future, StoreError(error.detail))


def _refuse(future: asyncio.Future[_Answer], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
