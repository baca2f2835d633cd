"""Real brokers on the loopback, each started by whoever uses it, and just enough of their protocols to compare with."""

import os
import shutil
import signal
import socket
import struct
import subprocess
import time
from contextlib import contextmanager

import pytest

PATIENCE = 60  # seconds


def free_port():
    """A port that nobody listens at now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running(program, package, arguments, port, folders=("/usr/sbin",), environment=()):
    """Run a broker until the end of the block; skip the test where it is not installed."""
    found = shutil.which(program, path=os.pathsep.join([*folders, os.environ["PATH"]]))
    if found is None:
        pytest.skip(f"{program} is not installed: apt-get install {package}")
    with subprocess.Popen(
        [found, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **dict(environment)},
        start_new_session=True,
    ) as process:
        try:
            deadline = time.monotonic() + PATIENCE
            while True:
                assert process.poll() is None, f"{program} ended by itself"
                try:
                    connect(port).close()
                    break
                except OSError:
                    assert time.monotonic() < deadline, f"{program} does not listen"
                    time.sleep(0.05)
            yield port
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(PATIENCE)


def connect(port):
    """A connection to a port of this machine."""
    return socket.create_connection(("127.0.0.1", port), PATIENCE)


def mosquitto(folder):
    """A mosquitto that anybody on this machine may use."""
    port = free_port()
    config = folder / "mosquitto.conf"
    config.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\npersistence false\n")
    return running("mosquitto", "mosquitto", ["-c", str(config)], port)


def nats_server():
    """A nats-server on the loopback."""
    port = free_port()
    return running("nats-server", "nats-server", ["-a", "127.0.0.1", "-p", str(port)], port)


@contextmanager
def rabbitmq(folder):
    """A RabbitMQ on the loopback, with a port mapper of its own."""
    port = free_port()
    (folder / "plugins").write_text("[].")
    environment = {
        "HOME": str(folder),
        "ERL_EPMD_PORT": str(free_port()),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODENAME": f"latchfree-{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "RABBITMQ_CONFIG_FILE": str(folder / "none"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
    }
    # What is on the path changes to a user who may not see the folder.
    folders = ("/usr/lib/rabbitmq/bin", "/usr/sbin")
    try:
        with running("rabbitmq-server", "rabbitmq-server", [], port, folders, environment.items()):
            yield port
    finally:
        deadline = time.monotonic() + PATIENCE
        while mapper_lives(environment) and time.monotonic() < deadline:
            time.sleep(0.1)


def mapper_lives(environment):
    """Whether Erlang's port mapper could not be ended yet, because the broker has not."""
    mapper = shutil.which("epmd")
    if mapper is None:
        return False
    done = subprocess.run([mapper, "-kill"], env={**os.environ, **environment}, capture_output=True, check=False)
    return b"living nodes" in done.stdout + done.stderr


class MqttClient:
    """A connection of MQTT 5.0, quality of service 0."""

    def __init__(self, port, name):
        self._socket = connect(port)
        self._stream = self._socket.makefile("rb")
        self._send(0x10, _string(b"MQTT") + b"\x05\x02\x00\x00\x00" + _string(name.encode()))
        kind, body = self._read()
        assert (kind, body[1]) == (0x20, 0), body

    def close(self):
        """Go away without a word."""
        self._stream.close()
        self._socket.close()

    def subscribe(self, pattern):
        """Whether the broker accepts a pattern."""
        try:
            self._send(0x82, b"\x00\x01\x00" + _string(pattern.encode()) + b"\x00")
            kind, body = self._read()
        except (EOFError, ConnectionError):
            return False
        return kind == 0x90 and body[-1] < 0x80

    def publish(self, topic, payload):
        """Publish a message."""
        self._send(0x30, _string(topic.encode()) + b"\x00" + payload)

    def still_there(self):
        """Whether the broker has kept the connection."""
        try:
            self._send(0xC0, b"")
            return self._read()[0] == 0xD0
        except (EOFError, ConnectionError):
            return False

    def received(self, last):
        """The payloads that have come until one is `last`."""
        found = []
        while True:
            kind, body = self._read()
            assert kind >> 4 == 3, kind
            start = 2 + int.from_bytes(body[:2], "big")
            payload = body[start + 1 + body[start] :]
            if payload == last:
                return found
            found.append(payload)

    def _send(self, kind, body):
        size, length = b"", len(body)
        while True:
            length, low = divmod(length, 128)
            size += bytes([low | (0x80 if length else 0)])
            if not length:
                break
        self._socket.sendall(bytes([kind]) + size + body)

    def _read(self):
        kind = self._bytes(1)[0]
        length, factor = 0, 1
        while True:
            byte = self._bytes(1)[0]
            length += (byte & 0x7F) * factor
            factor *= 128
            if byte < 0x80:
                return kind, self._bytes(length)

    def _bytes(self, count):
        data = self._stream.read(count)
        if len(data) < count:
            raise EOFError
        return data


def _string(data):
    return len(data).to_bytes(2, "big") + data


class NatsClient:
    """A connection to a nats-server that tells what is wrong with a subject."""

    def __init__(self, port):
        self._socket = connect(port)
        self._stream = self._socket.makefile("rwb")
        assert self._stream.readline().startswith(b"INFO ")
        self._lines(b'CONNECT {"verbose":false,"pedantic":true}\r\n')

    def close(self):
        """Go away without a word."""
        self._stream.close()
        self._socket.close()

    def subscribe(self, pattern, number):
        """Whether the server accepts a pattern."""
        return not self._errors(self._lines(b"SUB %b %d\r\n" % (pattern.encode(), number)))

    def publish(self, topic):
        """The numbers of the subscriptions that get a message; None if the server refuses its subject."""
        lines = self._lines(b"PUB %b 1\r\nx\r\n" % topic.encode())
        if self._errors(lines):
            return None
        return [int(line.split(b" ")[-2]) for line in lines if line.startswith(b"MSG ")]

    @staticmethod
    def _errors(lines):
        return [line for line in lines if line.startswith(b"-ERR")]

    def _lines(self, command):
        """Everything that the server says until it has dealt with a command."""
        self._stream.write(command + b"PING\r\n")
        self._stream.flush()
        lines = []
        while not lines or not lines[-1].startswith(b"PONG"):
            line = self._stream.readline()
            if not line:
                raise EOFError(lines)
            lines.append(line)
        return lines


class AmqpClient:
    """A connection of AMQP 0-9-1 with one channel, whose publishing is confirmed."""

    def __init__(self, port):
        self._socket = connect(port)
        self._stream = self._socket.makefile("rb")
        self._socket.sendall(b"AMQP\x00\x00\x09\x01")
        assert self._method() == (10, 10)
        start_ok = b"\x00\x00\x00\x00" + _short("PLAIN") + b"\x00\x00\x00\x0c\x00guest\x00guest" + _short("en_US")
        self._call(0, (10, 11), start_ok, (10, 30))
        self._send(1, 0, struct.pack(">HHHIH", 10, 31, 1, 131072, 0))
        self._call(0, (10, 40), _short("/") + b"\x00\x00", (10, 41))
        self._call(1, (20, 10), b"\x00", (20, 11))
        self._call(1, (85, 10), b"\x00", (85, 11))

    def close(self):
        """Go away without a word; the queues go too."""
        self._stream.close()
        self._socket.close()

    def bind(self, pattern, queue):
        """Have a queue of that name get what the topic exchange finds to match."""
        self._call(1, (50, 10), b"\x00\x00" + _short(queue) + b"\x04\x00\x00\x00\x00", (50, 11))
        names = _short(queue) + _short("amq.topic") + _short(pattern)
        self._call(1, (50, 20), b"\x00\x00" + names + b"\x00\x00\x00\x00\x00", (50, 21))

    def publish(self, topic, payload):
        """Publish a message; when this returns it is in all queues that get it."""
        self._send(1, 1, struct.pack(">HHH", 60, 40, 0) + _short("amq.topic") + _short(topic) + b"\x00")
        self._send(2, 1, struct.pack(">HHQH", 60, 0, len(payload), 0))
        self._send(3, 1, payload)
        assert self._method() == (60, 80)

    def received(self, queue):
        """The payloads in a queue."""
        found = []
        while self._call(1, (60, 70), b"\x00\x00" + _short(queue) + b"\x01", (60, 71), (60, 72)) == (60, 71):
            self._frame()
            found.append(self._frame()[1])
        return found

    def _call(self, channel, method, arguments, *answers):
        self._send(1, channel, struct.pack(">HH", *method) + arguments)
        answer = self._method()
        assert answer in answers, answer
        return answer

    def _method(self):
        kind, payload = self._frame()
        assert kind == 1, kind
        return struct.unpack(">HH", payload[:4])

    def _frame(self):
        head = self._stream.read(7)
        if len(head) < 7:
            raise EOFError
        kind, _, size = struct.unpack(">BHI", head)
        return kind, self._stream.read(size + 1)[:-1]

    def _send(self, kind, channel, payload):
        self._socket.sendall(struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce")


def _short(text):
    return bytes([len(text.encode())]) + text.encode()
