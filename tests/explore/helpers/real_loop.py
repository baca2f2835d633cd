"""asyncio's own loop, with a clock of its own and an outside that acts at random: what can really happen."""

import asyncio
import sys


class Stuck(BaseException):
    """Nothing is left that could happen."""


class Outside:
    """In place of a selector: events land, tasks are cancelled, time passes."""

    def __init__(self, loop):
        self.loop = loop

    def select(self, timeout):
        loop, rng = self.loop, self.loop.rng
        if not loop.over:
            while loop.pending and rng.random() < 0.4:
                self.land()
            alive = [task for task in loop.cancellable if not task.done()]
            if loop.cancels and alive and rng.random() < 0.25:
                loop.cancels -= 1
                chosen = rng.choice(alive)
                loop.cancellable.remove(chosen)
                chosen.cancel()
        deadlines = [timer.when() for timer in loop._scheduled if not timer.cancelled()]
        if loop._ready:
            if deadlines and rng.random() < 0.1:
                loop.now = max(loop.now, min(deadlines))
        elif deadlines and (not loop.pending or rng.random() < 0.5):
            loop.now = max(loop.now, min(deadlines))
        elif loop.pending:
            self.land()
        elif timeout is None:
            raise Stuck
        return []

    def land(self):
        future = self.loop.pending.pop(self.loop.rng.randrange(len(self.loop.pending)))
        complete = lambda: future.done() or future.set_result(None)  # noqa: E731
        self.loop._ready.append(asyncio.Handle(complete, (), self.loop, None))

    def close(self):
        pass


class RealLoop(asyncio.BaseEventLoop):
    """asyncio's loop as it is, but for its clock and its selector."""

    def __init__(self, rng, cancels):
        super().__init__()
        self.rng, self.cancels = rng, cancels
        self.now, self.pending, self.cancellable, self.over, self.main_is_made = 0.0, [], [], False, False
        self._selector = Outside(self)
        self.set_exception_handler(lambda loop, context: None)

    def time(self):
        return self.now

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass

    def create_task(self, coroutine, **options):
        task = super().create_task(coroutine, **options)
        frame, callers = sys._getframe(1), []
        for _ in range(3):
            if frame is not None:
                callers.append(frame.f_code.co_name)
                frame = frame.f_back
        if self.main_is_made and "wait_for" not in callers:
            self.cancellable.append(task)
        self.main_is_made = True
        return task


def really(module, rng, cancels):
    """Run a module's `main` once; return what it came to as `random_tasks.outcomes` does, None where it hung."""
    loop = RealLoop(rng, cancels)

    def outside_event(label=""):
        loop.pending.append(loop.create_future())
        return loop.pending[-1]

    before, module.outside_event = module.outside_event, outside_event
    result, errors = None, []
    try:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.get_loop()
            try:
                result = runner.run(module.main())
            except Stuck:
                return None
            except BaseException as error:
                errors = [type(error).__name__]
            loop.over = True
    except Stuck:
        return None
    finally:
        module.outside_event = before
    return repr((result, errors, None))
