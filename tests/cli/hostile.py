"""Bundles that nobody should accept, byte by byte: a writer of ustar headers and zstd frames that has no scruples."""

import hashlib
import tarfile

BLOCK = 512


def header(name, size, kind=b"0", link=b"", mode=b"0000644\0", time=b"00000000000\0", owner=b"0000000\0", prefix=b"", size_text=None):
    """A ustar header; `name` and `link` are bytes that may hold anything."""
    fields = [name.ljust(100, b"\0")[:100], mode, owner, b"0000000\0", size_text or b"%011o\0" % size, time, b" " * 8, kind,
              link.ljust(100, b"\0")[:100], b"ustar\x0000", b"\0" * 32, b"\0" * 32, b"\0" * 16, prefix.ljust(155, b"\0")]
    raw = b"".join(fields).ljust(BLOCK, b"\0")
    return raw[:148] + b"%06o\0 " % sum(raw) + raw[156:]


def entry(name, data=b"", **fields):
    name = name if isinstance(name, bytes) else name.encode()
    return header(name, len(data), **fields) + data + b"\0" * (-len(data) % BLOCK)


def standard_header(name, size):
    """The same header by Python's own tarfile."""
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = size, 0o644, 0
    return info.tobuf(tarfile.USTAR_FORMAT)


def archive(*entries, end=b"\0" * 2 * BLOCK):
    return b"".join(entries) + end


def frame(blocks):
    """A zstd frame (RFC 8878) with a window of 1 MiB of (type, content size, bytes) blocks."""
    out = b"\x28\xb5\x2f\xfd\x00\x50"
    for i, (kind, size, data) in enumerate(blocks):
        out += (int(i == len(blocks) - 1) | kind << 1 | size << 3).to_bytes(3, "little") + data
    return out


def zstd(data):
    parts = [data[i:i + (1 << 17)] for i in range(0, len(data), 1 << 17)] or [b""]
    return frame([(0, len(part), part) for part in parts])


def zstd_bomb(size, byte=b"\0"):
    """`size` equal bytes in four bytes for every 128 KiB."""
    return frame([(1, 1 << 17, byte)] * (size >> 17))


TOML = b'name = "gates"\nversion = "1.0.0"\n'
POLICY = b"policy gates\nfn few(n: rollouts) -> bool = n < 2\n"
FILES = {"allot.toml": TOML, "gates.allot": POLICY}


def listing(files):
    text = "allot-files 1\n"
    for path in sorted(files, key=lambda path: path.encode()):
        text += f"{hashlib.sha256(files[path]).hexdigest()} {len(files[path])} {path}\n"
    return text.encode()


def good(files=FILES, signature=None):
    """The entries of a bundle that is right."""
    entries = [entry("allot.files", listing(files))]
    if signature is not None:
        entries.append(entry("allot.signature", signature))
    return entries + [entry(path, files[path]) for path in sorted(files, key=lambda path: path.encode())]


def kinds():
    """Each kind of hostile bundle: a name, its bytes, and words of the reason."""
    for name, path, reason in [
        ("traversal", "../evil.allot", "leads out of its folder"),
        ("traversal within", "gates/../../evil.allot", "leads out of its folder"),
        ("a dot part", "./gates.allot", "leads out of its folder"),
        ("absolute", "/tmp/evil.allot", "is absolute"),
        ("a drive", "C:evil.allot", "is absolute"),
        ("a backslash", "..\\evil.allot", "holds a backslash"),
        ("an empty part", "a//evil.allot", "has an empty part"),
        ("hidden", ".git/hooks/README", "is hidden"),
        ("a line end", "evil\n.allot", "U+000A"),
        ("an escape of the terminal", "\x1b[2Jevil.allot", "U+001B"),
        ("a device of Windows", "aux.allot", "is a device"),
        ("another device", "team/COM1.allot", "is a device"),
        ("a dot at the end", "README.", "ends in a dot"),
        ("an option", "-rf.allot", "begins with `-`"),
        ("a letter beyond ASCII", "g\u0430tes.allot", "U+0430"),
        ("a combined letter", "gate\u0301.allot", "U+0301"),
        ("too deep", "a/b/c/d/e/f/g/h/i.allot", "folders deep"),
        ("a program", "gates.so", "a package holds policies"),
        ("another project file", "team/allot.toml", "a package holds policies"),
    ]:
        yield name, zstd(archive(*good({**FILES, path: b"policy p\n"}))), reason
    plain = good()
    yield "a name that is no UTF-8", zstd(archive(*plain, entry(b"z\xff\xfe.allot", b"x"))), "is not UTF-8"
    yield "a NUL in a name", zstd(archive(*plain, entry(b"z.allot\0../../evil", b"x"))), "holds a NUL"
    yield "a long name by a prefix", zstd(archive(*plain, entry("z.allot", b"x", prefix=b"p" * 155))), "not as `allot pack` writes"
    yield "a long name of GNU tar", zstd(archive(*plain, entry("././@LongLink", b"z" * 5000, kind=b"L"))), "a long name of GNU tar"
    yield "a header of pax", zstd(archive(*plain, entry("pax", b"20 path=../evil.al\n", kind=b"x"))), "a header of pax"
    yield "a global header of pax", zstd(archive(entry("pax", b"x", kind=b"g"), *plain)), "a header of pax"
    for kind, link, reason in [(b"1", b"gates.allot", "a hard link"), (b"2", b"/etc/passwd", "a symbolic link"),
                               (b"3", b"", "a device"), (b"4", b"", "a device"), (b"5", b"", "a folder"),
                               (b"6", b"", "a pipe"), (b"7", b"", "unknown kind"), (b"\0", b"", "unknown kind")]:
        yield f"kind {kind}", zstd(archive(*plain, entry("z.allot", b"", kind=kind, link=link))), reason
    yield "setuid", zstd(archive(*plain, entry("z.allot", b"x", mode=b"0004755\0"))), "not as `allot pack` writes"
    yield "a time", zstd(archive(*plain, entry("z.allot", b"x", time=b"14000000000\0"))), "not as `allot pack` writes"
    yield "an owner", zstd(archive(*plain, entry("z.allot", b"x", owner=b"0000123\0"))), "not as `allot pack` writes"
    yield "a wrong checksum", zstd(archive(*plain, b"z.allot".ljust(512, b"\0"))), "checksum of a header"
    yield "a size in base 256", zstd(archive(*plain, header(b"z.allot", 0, size_text=b"\x80" + b"\0" * 10 + b"\x05"))), "no octal number"
    yield "a size beyond all", zstd(archive(*plain, header(b"z.allot", 0, size_text=b"77777777777\0"))), "more than 1048576"
    yield "a file that is too large", zstd(archive(*good({**FILES, "z.md": b"x" * ((1 << 20) + 1)}))), "more than 1048576"
    large = {f"f{i:02}.md": b"x" * (1 << 20) for i in range(17)}
    yield "files that are too large together", zstd(archive(*good({**FILES, **large})))[:1 << 24], "cut off"
    yield "a bundle that is too large", zstd(archive(*good({**FILES, **large}))), "larger than 16777216"
    yield "a compression bomb", zstd_bomb(8 << 30), "unpacks to more than"
    yield "a bomb in zeros at the end", zstd(archive(*plain))[:-3] + zstd_bomb(1 << 30), ""
    many = {f"f{i:04}.md": b"x" for i in range(1001)}
    yield "too many files", zstd(archive(*good({**FILES, **many}))), "more than 1000 files"
    yield "a name twice", zstd(archive(*plain, entry("gates.allot", b"policy evil\n"))), "is there twice"
    yield "two lists", zstd(archive(entry("allot.files", b"x"), *plain)), "is there twice"
    yield "names that differ in case", zstd(archive(*good({**FILES, "Gates.allot": b"policy p\n"}))), "differ in case"
    yield "folders that differ in case", zstd(archive(*good({**FILES, "a/x.allot": b"p", "A/y.allot": b"p"}))), "differ in case"
    yield "a file that is a folder", zstd(archive(*good({**FILES, "README": b"x", "README/a.md": b"x"}))), "a file and a folder"
    yield "unlisted", zstd(archive(*plain, entry("z.allot", b"policy p\n"))), "z.allot is not in its list of files"
    yield "missing", zstd(archive(*plain[:-1])), "gates.allot is in its list of files, and missing"
    changed = [plain[0], plain[1], entry("gates.allot", POLICY.replace(b"2", b"3"))]
    yield "a wrong hash", zstd(archive(*changed)), "gates.allot is not the file of its list"
    yield "no list", zstd(archive(*plain[1:])), "does not begin with the list"
    yield "a list of another form", zstd(archive(entry("allot.files", listing(FILES) + b"\n"), *plain[1:])), "not written as"
    yield "another order", zstd(archive(plain[0], plain[2], plain[1])), "not in the order"
    yield "no allot.toml", zstd(archive(*good({"gates.allot": POLICY}))), "no allot.toml"
    yield "no version", zstd(archive(*good({"allot.toml": b'name = "gates"\n'}))), "has no version"
    yield "a name that leads out", zstd(archive(*good({"allot.toml": b'name = "../x"\nversion = "1.0.0"\n'}))), "cannot name a package"
    yield "a version that leads out", zstd(archive(*good({"allot.toml": b'name = "gates"\nversion = "1.0/../.."\n'}))), "no version"
    yield "a project file of absurd size", zstd(archive(*good({"allot.toml": TOML + b"#" * (300 << 10)}))), "larger than 262144"
    yield "brackets without end", zstd(archive(*good({"allot.toml": b"x = " + b"[" * 100000}))), "allot.toml"
    yield "a dependency on a folder of its author", zstd(archive(*good(
        {"allot.toml": TOML + b'[dependencies]\nother = { path = "../other" }\n'}))), "only its author's machine has"
    yield "a dependency on a file of this machine by git", zstd(archive(*good(
        {"allot.toml": TOML + b'[dependencies]\nother = { git = "/etc" }\n'}))), "only its author's machine has"
    yield "a dependency that is a command", zstd(archive(*good(
        {"allot.toml": TOML + b'[dependencies]\nother = { git = "ext::sh -c evil" }\n'}))), "is no address"
    yield "a dependency that is an option", zstd(archive(*good(
        {"allot.toml": TOML + b'[dependencies]\nother = { git = "--upload-pack=evil" }\n'}))), "is no address"
    whole = zstd(archive(*plain))
    yield "cut off in the frame", whole[:len(whole) // 2], "cut off"
    yield "cut off at the end", whole[:-1], "cut off"
    yield "cut off in the archive", zstd(archive(*plain, end=b"")), "cut off"
    yield "cut off in a file", zstd(b"".join(plain)[:-600]), "cut off"
    yield "bytes after the frame", whole + b"evil", "bytes after its end"
    yield "a second frame", whole + whole, "bytes after its end"
    yield "a frame to be skipped", whole + b"\x50\x2a\x4d\x18\x04\0\0\0evil", "bytes after its end"
    yield "bytes after the archive", zstd(archive(*plain) + b"evil".ljust(512, b"\0")), "after the end of the archive"
    yield "zeros after the archive", zstd(archive(*plain) + b"\0" * 9216), "after the end of the archive"
    yield "bytes after a file", zstd(archive(*plain[:-1], plain[-1][:-1] + b"x")), "bytes after the end of gates.allot"
    yield "no archive at all", b"policy gates\n", "no bundle"
    yield "nothing", b"", "cut off"
    yield "a plain archive", archive(*plain), "no bundle"
    yield "a signature that is none", zstd(archive(*good(signature=b"evil\n"))), "no signature"
    yield "a wrong signature", zstd(archive(*good(
        signature=b"ed25519:" + b"11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo= " + b"A" * 86 + b"==\n"))), "does not fit"
    yield "too many signatures", zstd(archive(*good(signature=b"x\n" * 17))), "more than 16 signatures"
