"""Fits on the workers of a Dask cluster.

`fit` learns one model from many sequences (trials, recordings, patients), which the workers share.
`fit_each` fits a model to each of many streams. Both need the package `distributed`
(``pip install distributed``).
"""

from __future__ import annotations

import json
import os
import pathlib
import warnings
from typing import Any, Iterable, Mapping, NamedTuple, Sequence, Union

import numpy as np

from headwater._model import Model, Path
from headwater._rounds import Round, Statistics, sequence_rows
from headwater._stream import Stream

try:
    import distributed
    from dask.base import is_dask_collection
except ImportError as _error:
    raise ImportError("headwater.dask needs the package 'distributed': "
                      "pip install distributed") from _error

__all__ = ["Fits", "fit", "fit_each"]


def fit(client: "distributed.Client", sequences: Iterable[Any], *arguments: Any,
        exposures: Any = None, **options: Any) -> Stream:
    """Fits a model to many sequences by rounds, and returns the finished stream.

    `sequences` is a list of arrays or frames of T x M, of `dask.delayed` objects or dask arrays that
    give such arrays, or of names of files that the client and the workers can read; or it is one
    array of S x T x M, of NumPy or of dask. `exposures`, if given, has one entry for each sequence.
    All other arguments are those of `Stream`. `round`, the number of sequences between two M-steps,
    is required.

    The client finds the start from the first sequences. Then each round is a tree of tasks:
    statistics of each sequence, merged two by two. The result has the same bytes for any number of
    workers, and the same as `headwater fit --round` or a `Stream` with `round` on one machine. If a
    worker dies, Dask repeats its tasks, which does not change the result.
    """
    if not options.get("round"):
        raise ValueError("round is missing: the number of sequences between two M-steps")
    stream = Stream(*arguments, **options)
    given = _listed(sequences)
    shown = [None] * len(given) if exposures is None else list(exposures)
    if len(shown) != len(given):
        raise ValueError(f"exposures has {len(shown)} entries; expected {len(given)}, one for each "
                         "sequence")
    if not given:
        raise ValueError("there are no sequences")
    _start(client, stream, given, shown)
    size = options["round"]
    for first in range(0, len(given), size):
        part = slice(first, first + size)
        stream.take_in(_statistics(client, stream.next_round(), given[part], shown[part]))
    return stream.finish()


def _listed(sequences: Any) -> list[Any]:
    """One entry for each sequence; a cube has them along its first axis."""
    if isinstance(sequences, (str, os.PathLike)):
        raise ValueError("sequences: expected a list")
    if getattr(sequences, "ndim", 3) != 3:
        raise ValueError(f"sequences has {sequences.ndim} dimensions; expected a list, or an array "
                         "of 3: sequences, rows, channels")
    if hasattr(sequences, "ndim"):
        return [sequences[i] for i in range(sequences.shape[0])]
    return list(sequences)


def _here(client: "distributed.Client", value: Any) -> Any:
    return client.compute(value).result() if is_dask_collection(value) else value


def _start(client: "distributed.Client", stream: Stream, given: list[Any], shown: list[Any]
           ) -> None:
    for i, sequence in enumerate(given):
        if not stream.wants_start:
            break
        _take_in(stream, _here(client, sequence), f"sequence {i + 1}", _here(client, shown[i]))
    stream.begin_rounds()


def _take_in(stream: Stream, data: Any, name: str, exposure: Any = None) -> Stream:
    """One sequence, from data or from the name of a file."""
    rows = sequence_rows(data, name)
    if isinstance(data, (str, os.PathLike)):
        if rows.names and not stream.names:
            stream.names = rows.names
        rows.match(stream.names, "the stream")
        data = rows.all()
    try:
        return stream.update_many(data, lengths=[len(rows)], exposure=exposure)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _statistics(client: "distributed.Client", round: Round, given: list[Any], shown: list[Any]
                ) -> Statistics:
    # Everything is in the tasks themselves: what a dead worker had can be computed again.
    start = client.submit(_same, round, pure=False)
    level = [client.submit(_of_sequence, start, _task(client, sequence), round.first + i,
                           _task(client, exposure), pure=False)
             for i, (sequence, exposure) in enumerate(zip(given, shown))]
    while len(level) > 1:
        pairs = [client.submit(Statistics.merge, *level[i:i + 2], pure=False)
                 for i in range(0, len(level) - 1, 2)]
        level = pairs + level[len(level) - len(level) % 2:]
    return level[0].result()


def _task(client: "distributed.Client", value: Any) -> Any:
    return client.compute(value) if is_dask_collection(value) else value


def _same(value: Any) -> Any:
    return value


def _of_sequence(round: Round, sequence: Any, index: int, exposure: Any) -> Statistics:
    return round.statistics(sequence, index, exposure=exposure)


class Fits(NamedTuple):
    """The result of `fit_each`."""

    models: dict[str, pathlib.Path]  #: the model file of each stream that was fitted
    failures: dict[str, str]  #: for each other stream, the reason

    def load(self, name: str) -> Model:
        """The model of a stream."""
        return Model.load(self.models[name])


def fit_each(client: "distributed.Client", streams: Union[Mapping[str, Any], Sequence[Any]],
             *arguments: Any, folder: Path, **options: Any) -> Fits:
    """Fits a model to each of many streams, independently of one another.

    `streams` maps a name to T x M rows: an array or a frame, a `dask.delayed` object or a dask
    array, or the name of a file; in a list, the names are the indices. All other arguments are
    those of `Stream`. The model of stream NAME is written to NAME.h5 in `folder` when it is
    finished.

    Streams whose models are in the folder are not fitted again, so an interrupted call can be
    repeated. A folder that was begun with other arguments is refused. Streams that could not be
    fitted are in `failures` with the reason, in the file failures.json of the folder, and in a
    warning; the next call tries them again.
    """
    wanted = _named(streams)
    Stream(*arguments, **options)  # which checks the arguments
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _check_folder(folder, {"arguments": arguments, **options})
    models = {name: folder / f"{name}.h5" for name in wanted}
    tasks = {client.submit(_fit_one, _task(client, data), name, arguments, options, pure=False): name
             for name, data in wanted.items() if not models[name].exists()}
    failures: dict[str, str] = {}
    for task in distributed.as_completed(list(tasks)):
        name = tasks[task]
        try:
            task.result().save(models[name])
        except Exception as error:  # whatever it is, the other fits go on
            failures[name] = f"{type(error).__name__}: {error}"
        task.release()
    failures = {name: failures[name] for name in wanted if name in failures}
    _write_json(folder / "failures.json", failures)
    if failures:
        some = "; ".join(f"{name}: {why}" for name, why in list(failures.items())[:3])
        more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
        warnings.warn(f"{len(failures)} of {len(wanted)} streams could not be fitted ({some}{more})",
                      stacklevel=2)
    return Fits({name: path for name, path in models.items() if name not in failures}, failures)


def _named(streams: Any) -> dict[str, Any]:
    if not isinstance(streams, Mapping):
        streams = dict(enumerate(_listed(streams)))
    named = {str(name): data for name, data in streams.items()}
    for name in named:
        if not name or "/" in name or "\0" in name or name.startswith("."):
            raise ValueError(f"streams: {name!r} cannot be the name of a file")
    return named


def _fit_one(data: Any, name: str, arguments: tuple, options: dict[str, Any]) -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nobody would see them
        return _take_in(Stream(*arguments, **options), data, name).finish().model()


def _check_folder(folder: pathlib.Path, arguments: dict[str, Any]) -> None:
    text = json.dumps(arguments, default=_plain, sort_keys=True, indent=1)
    file = folder / "arguments.json"
    if not file.exists():
        _write_json(file, json.loads(text))
    elif file.read_text() != text + "\n":
        raise ValueError(f"{folder}: was begun with other arguments, see {file.name}; "
                         "expected an empty folder, or the same arguments")


def _plain(value: Any) -> Any:
    if hasattr(value, "__array__"):
        return np.asarray(value).tolist()
    return f"{type(value).__module__}.{type(value).__qualname__}"  # of a prior, say


def _write_json(file: pathlib.Path, value: Any) -> None:
    """The file appears whole or not at all."""
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    unfinished.write_text(json.dumps(value, sort_keys=True, indent=1) + "\n")
    unfinished.replace(file)
