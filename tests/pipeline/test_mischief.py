"""Jobs on clusters whose executors are killed, stopped, attempted twice, or have a disk of their own: no row is lost.

Either the command ends well, and its output is right, row by row; or it says that it failed. Then the same command is
given once more, where nobody makes trouble, and ends well.
"""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack

import pyarrow.parquet as pq
import pytest
from lincheck_random import random_history
from message_files import brute, random_patterns, random_topics, write
from pipeline_processes import can_hide, cluster
from pipeline_trouble import Trouble

from latchfree_cli import exits
from latchfree_lincheck import check, write_history

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not can_hide(), reason="this system permits no mount namespaces"),
]

HISTORIES = 200
MESSAGES = 4000
JOBS = ("check", "check at a URI", "match", "match at a URI", "sketch", "stream")
ENDS = {"check": exits.VIOLATION, "check at a URI": exits.VIOLATION}
"""How a job ends that does well: there are violations; else without an error."""
COMMAND = "import sys; from latchfree_cli.main import main; sys.exit(main())"
PROBES = ("check.job", "match.batch", "match.stream", "sketch.job")
LATE = "".join(f"import latchfree_spark.{name} as job; job.probe = lambda *_: None; " for name in PROBES) + COMMAND
"""The command as if the executor with a disk of its own had come after the probe."""
SETTINGS = """
spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto
spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto
spark.executor.memory 512m
spark.cores.max 2
spark.network.timeout 12s
spark.network.timeoutInterval 4s
spark.executor.heartbeatInterval 2s
spark.speculation.interval 100ms
spark.speculation.multiplier 1.1
spark.speculation.quantile 0.3
spark.speculation.efficiency.enabled false
spark.sql.shuffle.partitions 6
"""


class World:
    """Two clusters, in one of which a worker has a disk of its own for outputs; inputs, and what is right.

    Parameters
    ----------
    folder : Path
    stack : ExitStack
        Ends the clusters.
    """

    def __init__(self, folder, stack):
        self.folder = folder
        self.outs = folder / "outs"
        self.outs.mkdir()
        rng = random.Random(1)
        histories = [random_history("map", seed, most=12) for seed in range(HISTORIES)]
        (folder / "histories").mkdir()
        for part in range(5):
            write_history(folder / "histories" / f"{part}.jsonl", histories[part::5])
        self.verdicts = {history.name: check(history, "map").verdict for history in histories}
        patterns, topics = random_patterns(rng, 40), random_topics(rng, MESSAGES)
        (folder / "s.txt").write_text("".join(pattern + "\n" for pattern in patterns))
        write(folder / "messages", ".parquet", topics, files=8)
        self.subscribers = brute(patterns, range(40), topics)
        self.clusters = []
        for name, hidden in (("shared", None), ("apart", self.outs)):
            (folder / name).mkdir()
            self.clusters.append(stack.enter_context(cluster(folder / name, hidden=hidden)))

    def run(self, job, out, hidden, *, late, speculate, trouble):
        """Run a job on a cluster; return how it ended, and what it said."""
        home = self.folder / out.name
        home.mkdir(exist_ok=True)
        settings = f"{SETTINGS}spark.speculation {str(speculate).lower()}\n"
        (home / "spark-defaults.conf").write_text(settings)
        address, workers = self.clusters[hidden]
        path = os.pathsep.join(each for each in sys.path if each)
        command = LATE if late else COMMAND
        made = Trouble(trouble, workers, trouble.randrange(5)) if trouble else None
        with (home / "said").open("a") as said:
            process = subprocess.Popen(
                [sys.executable, "-c", command, "pipeline", *self.arguments(job, out), "--master", address],
                env={**os.environ, "PYTHONPATH": path, "SPARK_CONF_DIR": str(home)}, stdout=said, stderr=said,
            )  # fmt: skip
            if made:
                made.start()
            try:
                code = process.wait(600)
            finally:
                if made:
                    made.end()
                process.kill()
        return code, (home / "said").read_text(), made.done if made else []

    def arguments(self, job, out):
        """Return the arguments of a job's command."""
        messages = ("-s", self.folder / "s.txt", "-m", self.folder / "messages", "-o")
        return {
            "check": ("check", self.folder / "histories", out, "--model", "map", "--chunks", "12"),
            "check at a URI": (
                "check", (self.folder / "histories").as_uri(), out.as_uri(), "--model", "map", "--chunks", "2",
            ),
            "match": ("match", *messages, out, "--deliveries"),
            "match at a URI": ("match", *messages[:3], (self.folder / "messages").as_uri(), "-o", out.as_uri()),
            "sketch": ("sketch", self.folder / "messages", "-o", out),
            "stream": ("match", *messages, out, "--stream", "--available-now", "--max-files", "3"),
        }[job]  # fmt: skip

    def assert_right(self, job, out):
        """Compare all rows of an output with what is right."""
        if job.startswith("check"):
            rows = pq.read_table(out / "verdicts", ignore_prefixes=["_", "."]).to_pylist()
            assert sorted((row["history"], row["verdict"]) for row in rows) == sorted(self.verdicts.items())
        elif job == "sketch":
            rows = pq.read_table(out / "windows").to_pylist()
            assert sum(row["messages"] for row in rows) == MESSAGES
            assert pq.read_table(out / "total.parquet").to_pylist()[0]["messages"] == MESSAGES
        else:
            files = [
                file
                for file in (out / "matches").rglob("*.parquet")
                if not any(part.startswith(("_", ".")) for part in file.relative_to(out).parts)
            ]
            rows = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
            assert sorted(row["id"] for row in rows) == list(range(MESSAGES))
            assert all(sorted(row["subscribers"]) == self.subscribers[row["id"]] for row in rows)
            pairs = sum(map(len, self.subscribers))
            if job == "match":
                assert pq.read_table(out / "deliveries").num_rows == pairs
            if job != "stream":
                assert json.loads((out / "summary.json").read_text())["matches"] == pairs


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Clusters that all runs use."""
    with ExitStack() as stack:
        yield World(tmp_path_factory.mktemp("mischief"), stack)


def whole_or_said(world, seed):
    """Run a job among trouble; return how it ended, and what was done to it."""
    rng = random.Random(seed)
    job = JOBS[seed % len(JOBS)]
    hidden, late, speculate = rng.random() < 0.4, rng.random() < 0.8, rng.random() < 0.5
    out = world.outs / f"out{seed}"
    code, said, done = world.run(job, out, hidden, late=late, speculate=speculate, trouble=rng)
    told = f"seed {seed}, {job}{', a disk apart' * hidden}{', attempts twice' * speculate}, {done}: exit {code}"
    print(told)
    well = ENDS.get(job, exits.OK)
    if code == well:
        world.assert_right(job, out)
        return "whole", done
    assert code == exits.TOOL, f"{told}\n{said[-3000:]}"
    assert said.splitlines()[-1].strip(), told
    if job in ("check", "match", "match at a URI", "sketch"):
        assert not out.exists(), told
    code, said, _ = world.run(job, out, False, late=False, speculate=False, trouble=None)
    assert code == well, f"{told}, then exit {code}\n{said[-3000:]}"
    world.assert_right(job, out)
    return "said", done


RUNS = 50
ENDED = {}
"""How each run ended, and what was done to it."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(RUNS))
def test_a_job_among_trouble(world, seed):
    ENDED[seed] = whole_or_said(world, seed)


@pytest.mark.slow
def test_there_was_trouble():
    if len(ENDED) < RUNS:
        pytest.skip("this is about all of the runs before")
    ends = Counter(end for end, _ in ENDED.values())
    acts = Counter(act for _, done in ENDED.values() for act in done)
    print(dict(ends), dict(acts))
    assert ends["whole"] >= 10
    assert ends["said"] >= 5
    assert set(acts) == {"kill executor", "kill python", "stop executor", "stop python"}


@pytest.mark.parametrize("job", JOBS)
def test_all_is_well_without_trouble(world, job):
    out = world.outs / job.replace(" ", "-")
    code, said, _ = world.run(job, out, False, late=False, speculate=False, trouble=None)
    assert code == ENDS.get(job, exits.OK), said[-3000:]
    world.assert_right(job, out)
