"""Writes a wheel again without what is of the machine that built it, in its list of crates (CycloneDX).

Usage: without_paths.py WHEEL ROOT SECONDS. Folders below ROOT become relative to it, the time becomes that of the commit,
and the random number of the list goes; the list's line in RECORD is made anew. Fails if ROOT is in any other file.
"""

import base64
import datetime
import hashlib
import json
import os
import sys
import zipfile

wheel, root, seconds = sys.argv[1], sys.argv[2].rstrip("/"), int(sys.argv[3])
made = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


def plain(content):
    """The list of crates, without folders of this machine."""
    text = content.decode().replace(f"path+file://{root}/", "path+file:")
    bom = json.loads(text)
    bom.pop("serialNumber", None)
    bom["metadata"]["timestamp"] = made.strftime("%Y-%m-%dT%H:%M:%SZ")
    return (json.dumps(bom, indent=2, ensure_ascii=False) + "\n").encode()


def recorded(name, content):
    """The line of RECORD for a file."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}"


with zipfile.ZipFile(wheel) as old:
    files = {info: old.read(info) for info in old.infolist()}
changed = {}
for info, content in files.items():
    if "/sboms/" in info.filename and info.filename.endswith(".json"):
        changed[info.filename] = plain(content)
if not changed:
    sys.exit(f"{wheel} has no list of crates")
for info, content in files.items():
    if info.filename.endswith(".dist-info/RECORD"):
        lines = content.decode().splitlines()
        names = [line.rsplit(",", 2)[0] for line in lines]
        if any(names.count(name) != 1 for name in changed):
            sys.exit(f"{info.filename} does not list {', '.join(changed)} once")
        for name, text in changed.items():
            lines[names.index(name)] = recorded(name, text)
        changed[info.filename] = ("\n".join(lines) + "\n").encode()
        break
with zipfile.ZipFile(wheel + ".new", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
    for info, content in files.items():
        content = changed.get(info.filename, content)
        if root.encode() in content:
            sys.exit(f"{info.filename} of {wheel} names the folder {root}")
        new.writestr(info, content)
os.replace(wheel + ".new", wheel)
