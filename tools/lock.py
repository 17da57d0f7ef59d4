"""Write requirements.lock: the versions in use, with the hashes of all their files, for every platform and Python.

    pip freeze --exclude-editable | python tools/lock.py requirements.lock

`pip install --require-hashes` then installs these files or none: a file that was changed after the lock was written is refused. The
hashes are those that the Python Package Index publishes; a version that it does not have is an error.
"""

import concurrent.futures
import pathlib
import re
import sys
import urllib.request

INDEX = "https://pypi.org/simple"
LINK = re.compile(r'href="[^"]*/([^"/#]+)#sha256=([0-9a-f]{64})"')


def hashes(requirement: str) -> str:
    """One line of the lock, with the hashes of every file of that version."""
    name, _, version = requirement.partition("==")
    if not version:
        raise SystemExit(f"{requirement!r} has no version: only installed packages of the index can be locked")
    page = re.sub(r"[-_.]+", "-", name).lower()
    with urllib.request.urlopen(f"{INDEX}/{page}/", timeout=60) as answer:
        files = LINK.findall(answer.read().decode())
    # name-version.tar.gz, name-version-tags.whl, where the name may be spelled with any of - _ .
    spelling = "[-_.]+".join(map(re.escape, re.split(r"[-_.]+", name)))
    start = re.compile(rf"{spelling}-{re.escape(version)}(-|\.tar|\.zip)", re.IGNORECASE)
    digests = sorted({digest for file, digest in files if start.match(file)})
    if not digests:
        raise SystemExit(f"the index has no file of {requirement}")
    return " \\\n".join([requirement, *(f"    --hash=sha256:{digest}" for digest in digests)])


def main() -> None:
    """Lock what comes on standard input."""
    requirements = sorted({line.strip() for line in sys.stdin if line.strip()}, key=str.lower)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        lines = list(pool.map(hashes, requirements))
    head = "# Written by `make lock`. Every file of every version, by its hash: pip installs these or none.\n"
    target = pathlib.Path(sys.argv[1])
    part = target.with_name(target.name + ".part")
    part.write_text(head + "\n".join(lines) + "\n")
    part.replace(target)


if __name__ == "__main__":
    main()
