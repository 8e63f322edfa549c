"""Damages models and checkpoints and makes their checksums right again.

A checksum detects accidents. What somebody has changed on purpose, or a fault in the program that
wrote the file, is behind it: this is how tests get there.

    tests/command/resealed.py build/release/headwater 2000 [SEED]

damages so many models and so many checkpoints, and lists what went wrong.
"""

import pathlib
import random
import subprocess
import sys
import tempfile
import zlib

MAGIC = b"headwater checkpoint\n"
ENGINES = {
    "exact": ["--prior", "basis-selection"],
    "exact forward": ["--prior", "basis-selection", "--smoother", "forward"],
    "finite": ["--prior", "finite"],
    "beam": ["--prior", "basis-selection", "--engine", "beam", "--beam-width", "3"],
    "finite particles": ["--prior", "basis-selection", "--engine", "particle"],
    "lag": ["--prior", "relaxed-selection"],
    "path": ["--prior", "relaxed-selection", "--smoother", "path"],
    "as printed": ["--prior", "relaxed-selection", "--paper-exact"],
    "paris": ["--prior", "log-gaussian", "--smoother", "paris"],
    "dense": ["--prior", "gamma", "--smoother", "forward", "--background"],
    "guided": ["--prior", "gamma", "--proposal", "guided"],
    "fast": ["--prior", "log-gaussian", "--engine", "fast"],
    "fast gamma": ["--prior", "gamma", "--engine", "fast"],
}
FIT = ["--components", "2", "--particles", "20", "--init", "random", "--burn-in", "20",
       "--trace-every", "20", "--quiet"]


def sealed(model):
    """A model with the right checksum (docs/file_formats.md)."""
    seal = f"headwater model\nchecksum {zlib.crc32(model[512:]):08x}\n".encode()
    return seal.ljust(512, b"\0") + model[512:]


def sealed_checkpoint(checkpoint):
    contents = checkpoint[len(MAGIC) + 16:]
    version = checkpoint[len(MAGIC):len(MAGIC) + 4]
    return (MAGIC + version + len(contents).to_bytes(8, "little") +
            zlib.crc32(contents).to_bytes(4, "little") + contents)


def damaged(content, first, chance):
    """Changes a few places after the first so many bytes."""
    content = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(first, len(content))
        kind = chance.randrange(5)
        if kind == 0:
            content[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            content[at:at + 8] = chance.randbytes(8)
        elif kind == 2:
            content[at] = chance.choice([0, 0x7f, 0x80, 0xff])
        elif kind == 3:
            content[at:at + 8] = chance.choice([0, 1, -1, 2**31, -2**63, 2**62]).to_bytes(
                8, "little", signed=True)
        else:
            del content[at:at + chance.randint(1, 8)]
    return bytes(content)


def make_originals(command, folder):
    """A model and a checkpoint, cut in the middle of a block, for each engine and smoother."""
    rows = "".join(f"{(t * 7) % 5},{'' if t % 11 == 0 else t % 3},{(t * t) % 4}\n"
                   for t in range(90))
    (folder / "all.csv").write_text(rows)
    (folder / "begin.csv").write_text("".join(rows.splitlines(True)[:57]))
    originals = {}
    for name, arguments in ENGINES.items():
        subprocess.run([command, "fit", "begin.csv", *arguments, *FIT, "--checkpoint", "c", "--out",
                        "m.h5"], cwd=folder, check=True)
        originals[name] = ((folder / "m.h5").read_bytes(), (folder / "c").read_bytes())
    return originals


def trouble_with(line, folder):
    """Nothing if the command succeeds, or fails with one line; else what it did."""
    try:
        done = subprocess.run(line, cwd=folder, capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "did not end"
    if done.returncode == 0:
        return None
    is_one_line = done.stderr.startswith(b"headwater: ") and done.stderr.count(b"\n") == 1
    if done.returncode in (1, 2) and is_one_line and done.stderr.endswith(b"\n"):
        return None
    return f"exit {done.returncode}: {done.stderr[:300]!r}"


def troubles(command, folder, count, seed, keep=None):
    """What went wrong with `count` models and as many checkpoints."""
    originals = make_originals(command, folder)
    found = []
    for i in range(count):
        name = list(originals)[i % len(originals)]
        model, checkpoint = originals[name]
        chance = random.Random(f"{seed} {i}")
        (folder / "m.h5").write_bytes(sealed(damaged(model, 512, chance)))
        show = [["show", "m.h5"], ["show", "m.h5", "--json"], ["show", "m.h5", "--trace"],
                ["score", "m.h5", "all.csv", "--quiet"]][i // len(originals) % 4]
        state = sealed_checkpoint(damaged(checkpoint, len(MAGIC) + 16 + 700, chance))
        (folder / "d").write_bytes(state)
        resume = ["fit", "all.csv", *ENGINES[name], *FIT, "--resume", "d", "--out", "o.h5"]
        for file, arguments in (("m.h5", show), ("d", resume)):
            what = trouble_with([command, *arguments], folder)
            if what is None:
                continue
            found.append(f"{name}, {i}: {arguments[0]}: {what}")
            if keep:
                (keep / f"{seed}-{i}-{file}").write_bytes((folder / file).read_bytes())
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        all_found = troubles(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(temporary),
                             int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "0",
                             pathlib.Path("/tmp"))
    print(*all_found, sep="\n")
    sys.exit(len(all_found) > 0)
