"""Shards of tables and studies: what a machine needs to build one, and what is made of its files."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from . import _native

Watch = Callable[[int, int], object]


class Shards:
    """Something that is built in shards, each in a folder, and merged."""

    what: ClassVar[str]

    def survey(self, folder: str) -> list[bool]:
        """Makes the folder, or checks it; says which parts are there, in the order in which shards take them."""
        raise NotImplementedError

    def build(self, folder: str, shard: tuple[int, int], threads: int, watch: Watch) -> None:
        """Builds a shard in a folder."""
        raise NotImplementedError

    def merge(self, folder: str, source: str) -> None:
        """Adds what is in ``source``, if it belongs to the same whole."""
        raise NotImplementedError

    def build_files(
        self, scratch: str, shard: tuple[int, int], threads: int, watch: Watch
    ) -> dict[str, bytes]:
        """Builds a shard and returns its files: the manifest, and parts by name."""
        self.build(scratch, shard, threads, watch)
        parts = sorted(os.listdir(os.path.join(scratch, "parts")))
        names = ["manifest.json", *(f"parts/{name}" for name in parts)]
        return {name: _read(os.path.join(scratch, name)) for name in names}

    def keep(self, files: dict[str, bytes], folder: str) -> None:
        """Adds the files of a shard to a folder, by the rules of merging."""
        with tempfile.TemporaryDirectory(prefix="trustvb-") as scratch:
            os.mkdir(os.path.join(scratch, "parts"))
            for name, content in files.items():
                with open(os.path.join(scratch, name), "wb") as file:
                    file.write(content)
            self.merge(folder, scratch)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


@dataclass(frozen=True)
class TableShards(Shards):
    """A table: data with a model, and what the native module is told about it."""

    what: ClassVar[str] = "table"
    problem: _native.Problem
    iteration: str
    request: dict[str, Any]
    #: The file of the user's own resamples, name and content: other machines may not have it.
    resamples: tuple[str, bytes] | None
    with_data: bool

    @staticmethod
    def of(
        problem: _native.Problem, iteration: str, request: dict[str, Any], with_data: bool
    ) -> TableShards:
        """From what ``model.table`` tells the native module."""
        path = request["resamples"]
        own = None if path is None else (os.path.basename(path), _read(path))
        return TableShards(problem, iteration, request, own, with_data)

    @contextmanager
    def _told(self) -> Iterator[str]:
        if self.resamples is None:
            yield json.dumps(self.request)
            return
        with tempfile.TemporaryDirectory(prefix="trustvb-") as scratch:
            name, content = self.resamples
            path = os.path.join(scratch, name)
            with open(path, "wb") as file:
                file.write(content)
            yield json.dumps({**self.request, "resamples": path})

    def survey(self, folder: str) -> list[bool]:
        with self._told() as told:
            return self.problem.survey(self.iteration, told, folder, self.with_data)

    def build(self, folder: str, shard: tuple[int, int], threads: int, watch: Watch) -> None:
        # Whoever surveys the whole writes the data.
        with self._told() as told:
            self.problem.build_shard(self.iteration, told, folder, shard, False, threads, watch)

    def merge(self, folder: str, source: str) -> None:
        _native.Table.merge(folder, [source])


@dataclass(frozen=True)
class StudyShards(Shards):
    """A study."""

    what: ClassVar[str] = "study"
    study: _native.Study

    def survey(self, folder: str) -> list[bool]:
        return self.study.survey(folder)

    def build(self, folder: str, shard: tuple[int, int], threads: int, watch: Watch) -> None:
        self.study.run_shard(folder, shard, threads, watch)

    def merge(self, folder: str, source: str) -> None:
        _native.Study.merge(folder, [source])
