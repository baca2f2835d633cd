"""The options that say how a file of histories is read; `latchfree_cli.histories` needs no parser of options."""

from typing import Annotated

import typer

Failed = Annotated[
    str | None,
    typer.Option("--failed", metavar="dropped|compared", help="What :fail of a cas means in a Jepsen history."),
]
Keyed = Annotated[bool, typer.Option("--keyed", help=r"Values of a Jepsen history are \[key value].")]
Initial = Annotated[
    str | None, typer.Option("--initial", metavar="JSON", help="What a register holds at the beginning.")
]
Transactions = Annotated[
    str | None,
    typer.Option("--transactions", metavar="KIND", help="Files hold transactions: list-append or rw-register."),
]
Level = Annotated[
    str | None, typer.Option("--level", help="Isolation of transactions: serializable, snapshot-isolation, ...")
]
KeyOrder = Annotated[
    str | None, typer.Option("--keys", help="What single registers are: unordered, sequential or linearizable.")
]
