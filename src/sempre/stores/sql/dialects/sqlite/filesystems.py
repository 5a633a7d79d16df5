"""Which file systems a database file may be on: those that keep locks and shared memory."""

from pathlib import Path

from sempre.errors import StoreRefused

__all__ = ["check_local", "filesystem_of"]

MOUNTS = Path("/proc/mounts")
NETWORK = frozenset(
    {
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "smb3",
        "smbfs",
        "vboxsf",
        "vmhgfs",
    }
)


def check_local(path: Path, *, mounts: Path = MOUNTS) -> None:
    """Raise StoreRefused if a file is, or would be, on a network file system.

    Over a network locks get lost and the shared memory of the write-ahead log is not shared.
    Where the system has no list of mounts, nothing is refused.
    """
    kind = filesystem_of(path, mounts=mounts)
    bare = kind.removeprefix("fuse.")
    if bare in NETWORK or (kind.startswith("fuse.") and bare not in ("ext2", "ntfs", "overlayfs")):
        raise StoreRefused(
            f"{path} is on {kind}, where SQLite can lose writes; put the file on a local disk, "
            f"or use a database server. To use it all the same, set any_filesystem."
        )


def filesystem_of(path: Path, *, mounts: Path = MOUNTS) -> str:
    """Return the type of the file system of a path, or an empty text if it is unknown."""
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    place = path.resolve()
    found = [
        (len(folder.parts), at, kind)
        for at, (folder, kind) in enumerate(map(_read_mount, lines))
        if place.is_relative_to(folder)
    ]
    # Of two file systems on one folder, the later one covers the earlier one.
    return max(found, default=(0, 0, ""))[2]


def _read_mount(line: str) -> tuple[Path, str]:
    _, folder, kind, *_ = [*line.split(" "), "", "", ""]
    for code, character in ((r"\040", " "), (r"\011", "\t"), (r"\134", "\\")):
        folder = folder.replace(code, character)
    return Path(folder or "/"), kind
