"""The private folder of a run in Spark, which is deleted at the end of the run; a later run deletes that of a killed one."""

import contextlib
import os
import shutil
import uuid
from pathlib import Path
from typing import Any

from anondb.warehouse.statements import PREFIX

PROCESS, RELEASE = "process", "release"  # files of a private folder: whose it is, and where its unfinished release lies


def _java_error() -> type[Exception]:
    """The exception for errors of Java."""
    from py4j.protocol import Py4JError

    return Py4JError  # type: ignore[no-any-return]


def files_of(spark: Any, folder: str) -> tuple[Any, Any]:
    """A path and its file system, of Hadoop."""
    context = spark.sparkContext
    path = context._jvm.org.apache.hadoop.fs.Path(folder)
    return path, path.getFileSystem(context._jsc.hadoopConfiguration())


def may_exist(spark: Any, folder: str) -> bool:
    """Whether a folder exists, or lies where this session cannot look."""
    try:
        path, files = files_of(spark, folder)
        return bool(files.exists(path))
    except _java_error():
        return True


def make_private(spark: Any, place: str) -> str:
    """Make a private folder (mode 0700) in a place, and delete those that killed runs of this machine have left there. If
    this process is killed, Java deletes the folder. If Java is killed, too, the next run does."""
    path, files = files_of(spark, f"{place.rstrip('/')}/{PREFIX}{uuid.uuid4().hex}")
    path = files.makeQualified(path)
    files.mkdirs(path, spark.sparkContext._jvm.org.apache.hadoop.fs.permission.FsPermission("700"))
    files.deleteOnExit(path)
    java = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
    _write(spark, f"{path}/{PROCESS}", process(int(java)))
    with contextlib.suppress(_java_error()):  # who writes in a place need not be able to list it
        _delete_killed(spark, path, files)
    return str(path)


def delete(spark: Any, folder: str) -> None:
    """Delete a folder, also a local one of a Java that has been killed."""
    try:
        path, files = files_of(spark, folder)
        files.delete(path, True)
    except (_java_error(), OSError):
        if not folder.startswith("file:"):
            raise
        shutil.rmtree(folder.removeprefix("file:"))


def note_release(spark: Any, folder: str, release: str | None) -> None:
    """Note in the private folder where the rows of an unfinished release lie; None when it is finished."""
    if release is None:
        path, files = files_of(spark, f"{folder}/{RELEASE}")
        files.delete(path, False)
    else:
        _write(spark, f"{folder}/{RELEASE}", release)


def process(pid: int) -> str:
    """A text that identifies a running process of this machine; empty if it has ended, or if the system does not say."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        begun = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        return f"{boot} {os.readlink('/proc/self/ns/pid')} {pid} {begun}"
    except OSError:
        return ""


def _delete_killed(spark: Any, current: Any, files: Any) -> None:
    """Delete the private folders beside the current one, of the same user, whose Java ran on this machine and is gone."""
    place, user = current.getParent(), files.getFileStatus(current).getOwner()
    here = process(os.getpid()).split(" ")[:2]
    for status in files.listStatus(place):
        path = status.getPath()
        if path.getName().startswith(PREFIX) and status.isDirectory() and status.getOwner() == user:
            run = _read(spark, f"{path}/{PROCESS}").split(" ")
            if len(run) == 4 and run[:2] == here and process(int(run[2])).split(" ") != run:
                with contextlib.suppress(_java_error()):  # another run deletes it, or only another user may
                    release = _read(spark, f"{path}/{RELEASE}")
                    rows = files_of(spark, release)[0] if release else None
                    if rows is not None and files.makeQualified(rows).getParent() == place:
                        files.delete(rows, True)
                    files.delete(path, True)


def _write(spark: Any, name: str, text: str) -> None:
    path, files = files_of(spark, name)
    stream = files.create(path)
    stream.write(bytearray(text.encode()))
    stream.close()


def _read(spark: Any, name: str) -> str:
    """The text of a small file; empty if it is not there, or not for this user."""
    try:
        path, files = files_of(spark, name)
        stream = files.open(path)
        scanner = spark.sparkContext._jvm.java.util.Scanner(stream, "UTF-8")
        text = str(scanner.nextLine()) if scanner.hasNextLine() else ""
        scanner.close()
        return text
    except _java_error():
        return ""
