"""Capacity sources and queue disciplines in Python files."""

import pytest
from equal_tables import assert_equal

import airpath
from airpath.errors import PluginError, ScenarioError, UsageError
from airpath.learning import BottleneckEnv

LINK = {"rtt": "40ms", "duration": "8s", "repetitions": 1}

QUEUES = '''
    from collections import deque

    import airpath


    class Fifo(airpath.Queue):
        """Drop-tail."""

        def start(self, facts):
            self.waiting = deque()

        def enqueue(self, now, packet):
            if not self.fits(packet):
                return False
            self.waiting.append(packet)
            return True

        def dequeue(self, now):
            return self.waiting.popleft()


    class HeadDrop(Fifo):
        """The packet that waits longest makes room."""

        def enqueue(self, now, packet):
            while not self.fits(packet):
                self.drop(self.waiting.popleft())
            self.waiting.append(packet)
            return True


    class Threshold(Fifo):
        """Marks packets that find more than some packets waiting."""

        most: int = 5

        def enqueue(self, now, packet):
            if self.packets > self.most:
                packet.mark()
            self.record("seen", self.packets)
            return super().enqueue(now, packet)


    class Late(Fifo):
        """Drops what waits, once."""

        def start(self, facts):
            super().start(facts)
            self.next_timer = 3.0

        def on_timer(self, now):
            while self.waiting:
                self.drop(self.waiting.popleft())
'''

SOURCES = '''
    import airpath


    class Constant(airpath.CapacitySource):
        """A configured capacity."""

        rate: airpath.BitsPerSecond = "12mbps"

        def start(self, facts):
            self.capacity = self.rate
            self.record("buffer", facts.buffer)

        def on_arrival(self, now, size, backlog):
            pass


    class Own(Constant):
        """The same by the formula of spare bandwidth."""

        def start(self, facts):
            pass

        def on_arrival(self, now, size, backlog):
            self.capacity = self.rate

        def spare(self, interval):
            return interval.probing * self.rate - interval.input_rate, interval.queue


    class Polled(airpath.CapacitySource):
        """Packets that left in each 100 ms."""

        def start(self, facts):
            self.bytes, self.next_timer, self.capacity = 0, 0.1, 100e6

        def on_departure(self, now, size, backlog):
            self.bytes += size

        def on_timer(self, now, backlog):
            self.next_timer = now + 0.1
            if backlog.packets:
                self.capacity = 8 * self.bytes / 0.1
            self.bytes = 0
            self.probing = 1.1
'''


@pytest.fixture
def files(write):
    write("queues.py", QUEUES)
    write("sources.py", SOURCES)


def counts(results):
    """Return the packets dropped by reason, and the marked packets."""
    links = results.table("link_series").to_pandas().sum(numeric_only=True)
    return {name: links[name] for name in links.index if name.startswith(("dropped", "marked"))}


def one(queue, **more):
    options = {**LINK, "buffer": "30 packets", **more}
    return airpath.compare(["cubic"], "12mbps", queue=queue, **options)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("world", ["sim", "quic"])
def test_the_same_queue_in_python_and_in_the_engine_produces_the_same_tables(world):
    assert_equal(one("queues.py:Fifo", world=world), one("drop-tail", world=world))


@pytest.mark.usefixtures("files")
def test_the_same_source_in_python_and_in_the_engine_produces_the_same_rates():
    schemes = ["xcp:capacity=12mbps", "xcp:source=sources.py:Constant", "xcp:source=sources.py:Own"]
    ours, *theirs = (airpath.compare([scheme], "12mbps", **LINK) for scheme in schemes)
    for results in theirs:
        assert results.table("flow_series")["sent_bytes"] == ours.table("flow_series")["sent_bytes"]
    observed = theirs[0].to_pandas("link_observations")
    assert set(observed["quantity"]) >= {"buffer", "capacity_estimate_bps"}
    assert set(observed[observed["quantity"] == "capacity_estimate_bps"]["value"]) == {12e6}
    errors = [results.to_pandas("summary")["capacity_estimate_error_mean_percent"] for results in theirs]
    assert all((error == 0).all() for error in errors), "compared with the true capacity"


@pytest.mark.usefixtures("files")
def test_a_queued_packet_can_be_dropped():
    head, tail = (one(f"queues.py:{name}") for name in ("HeadDrop", "Fifo"))
    assert head.to_pandas("drops")["reason"].unique().tolist() == ["early"]
    assert tail.to_pandas("drops")["reason"].unique().tolist() == ["overflow"]
    assert len(one("queues.py:Late").to_pandas("drops")) > 0


@pytest.mark.usefixtures("files")
def test_marks_require_a_transport_with_ecn():
    marked = one("queues.py:Threshold:most=10", ecn=True)
    without = one("queues.py:Threshold:most=10")
    assert marked.table("link_series")["marked_packets"].to_numpy().sum() > 0
    assert without.table("link_series")["marked_packets"].to_numpy().sum() == 0
    assert set(marked.table("link_observations")["quantity"].to_pylist()) == {"seen"}


@pytest.mark.usefixtures("files")
def test_a_source_keeps_its_own_timer_and_serves_every_router():
    for family in ("xcp", "vcp", "mpcp", "abc"):
        results = airpath.compare([f"{family}:source=sources.py:Polled"], "12mbps", **LINK)
        (utilisation,) = results.to_pandas("summary")["utilisation"]
        assert utilisation > 0.1  # VCP and MPCP start slowly


FAULTS = {
    "return True": "more than the buffer has",
    "return None": "enqueue returned None; accepted: True or False",
    "self.next_timer = 0.0; return True": "next_timer is 0",
}


@pytest.mark.parametrize("line", FAULTS)
def test_an_invalid_return_value_of_a_queue_ends_the_run_with_one_line(write, line):
    write(
        "bad.py",
        f"""
        import airpath

        class Bad(airpath.Queue):
            def enqueue(self, now, packet):
                {line}

            def dequeue(self, now):
                return None  # the link stays free, so that packets wait
        """,
    )
    with pytest.raises(PluginError, match=r"^bad\.py:Bad: ") as failed:
        one("bad.py:Bad", buffer="5 packets")
    assert FAULTS[line] in str(failed.value)


def test_a_packet_leaves_once(write):
    write(
        "twice.py",
        """
        import airpath

        class Twice(airpath.Queue):
            def enqueue(self, now, packet):
                self.first = getattr(self, "first", packet)
                return self.fits(packet)

            def dequeue(self, now):
                return self.first
        """,
    )
    with pytest.raises(PluginError, match="the packet has left the queue before"):
        one("twice.py:Twice")


def test_queues_do_not_share_packets(write):
    write(
        "shared.py",
        """
        from collections import deque

        import airpath

        class Shared(airpath.Queue):
            waiting = deque()

            def enqueue(self, now, packet):
                self.waiting.append(packet)
                return True

            def dequeue(self, now):
                return self.waiting.popleft()
        """,
    )
    queue = {"kind": "shared.py:Shared", "limit": "100 packets"}
    link = {"rate": "2mbps", "delay": "20ms", "queue": queue}
    flows = [{"name": name, "scheme": "cubic", "direction": name} for name in ("forward", "reverse")]
    topology = {"kind": "dumbbell", "bottleneck": link, "reverse": {"queue": queue}}
    with pytest.raises(PluginError, match="the packet is in another queue"):
        airpath.run({"name": "shared", "duration": "5s", "topology": topology, "flows": flows})


@pytest.mark.usefixtures("files")
def test_wrong_kinds_and_places_are_rejected(aimd):
    for scheme, problem in {
        "queues.py:Fifo": "is a queue discipline; accepted: --queue queues.py:Fifo",
        "sources.py:Constant": "is a capacity source; accepted: xcp:source=sources.py:Constant",
        "xcp:source=queues.py:Fifo": "is a queue discipline; accepted: a capacity source",
        "cubic:source=sources.py:Constant": '"cubic" has no capacity source; accepted: xcp, vcp',
        "xcp:source=sources.py:Constant,rat=1mbps": 'did you mean "rate"',
    }.items():
        with pytest.raises((UsageError, ScenarioError)) as refused:
            airpath.compare([scheme], "12mbps", **LINK)
        assert problem in str(refused.value)
    with pytest.raises(ScenarioError, match="is a controller; accepted: a queue discipline"):
        one(aimd)


SCENARIO = """
name = "named"
duration = "2s"
flows = [{{ name = "flow", scheme = "{scheme}", estimators = [{estimators}] }}]

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "12mbps"
delay = "20ms"
queue = {queue}
"""


@pytest.mark.usefixtures("files", "plus")
@pytest.mark.parametrize(
    "named",
    [
        {"scheme": "xcp:source=sources.py:Constant"},
        {"estimators": '"plus.py:Plus"'},
        {"queue": '{ kind = "queues.py:Fifo", limit = "1bdp" }'},
        {"queue": '{ kind = "router", protocol = "xcp", limit = "1bdp", source = "sources.py:Constant" }'},
    ],
)
def test_scenario_files_name_code_with_permission_only(write, airpath, named):
    parts = {"scheme": "cubic", "estimators": "", "queue": '{ kind = "scheme", limit = "1bdp" }', **named}
    if "router" in parts["queue"]:
        parts["scheme"] = "xcp"
    path = write("scenario.toml", SCENARIO.format(**parts))
    refused = airpath("run", str(path), "--out", "refused")
    assert refused.code != 0
    assert "is code, which a file may name only with --allow-code" in refused.err
    assert airpath("run", str(path), "--allow-code", "--out", "allowed").code == 0
    assert airpath("rerun", "allowed", "--allow-code").code == 0


@pytest.mark.usefixtures("files")
def test_rivals_of_an_agent_may_be_files(aimd):
    env = BottleneckEnv(rivals=[aimd], queue="queues.py:Fifo", duration="3s")
    env.reset(seed=1)
    env.step(env.action_space.sample())


FAILING = """
    import airpath


    class Rival(airpath.Controller):
        def on_ack(self, ack):
            1 / 0

        def on_congestion(self, signal):
            pass


    class Full(airpath.Queue):
        def enqueue(self, now, packet):
            1 / 0

        def dequeue(self, now):
            return None
"""


@pytest.mark.parametrize("options", [{"rivals": ["failing.py:Rival"]}, {"queue": "failing.py:Full"}])
def test_an_episode_whose_rival_or_queue_fails_raises_an_error(write, options):
    write("failing.py", FAILING)
    env = BottleneckEnv(**options, duration="3s")
    env.reset(seed=1)
    with pytest.raises(PluginError, match="ZeroDivisionError"):
        to_the_end(env)


def to_the_end(env):
    action, truncated = env.action_space.sample(), False
    while not truncated:
        *_, truncated, _info = env.step(action)
