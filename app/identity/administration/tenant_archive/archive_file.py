"""The file of an archive: lines of JSON, compressed and encrypted with age (age-encryption.org/v1).

It begins with one line, which names the format, and the size of the encrypted key that follows: an age identity under a passphrase
(scrypt), or nothing where the archive is for recipients. The rest is an age file for that identity or those recipients. So a
passphrase costs its time once, and the content of any size streams.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

_MAGIC: Final = b"gatehouse-tenant-archive 1 "
_MAX_HEADER: Final = 64
_MAX_KEY: Final = 4_096
_MAX_LINE: Final = 64 * 1024 * 1024
"""The longest row; a theme's largest file is far below."""
_CHUNK: Final = 256 * 1024


class ArchiveUnreadable(Exception):
    """The file is no archive, was changed or cut off, or the key is another one; the text says which."""


@dataclass(frozen=True)
class ArchiveKey:
    """What opens an archive: a passphrase, or age recipients to write and age identities to read."""

    passphrase: str = ""
    recipients: Sequence[str] = ()
    identities: Sequence[str] = ()


class _Lines(io.RawIOBase):
    """The lines as the one stream that age reads. An error of the lines is kept: age would pass on its text alone."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines, self._compressor = lines, zlib.compressobj()
        self._buffer, self._is_over = bytearray(), False
        self.error: BaseException | None = None

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        try:
            while not self._is_over and len(self._buffer) < (size if size > 0 else _CHUNK):
                self._fill()
        except BaseException as problem:
            self.error = problem
            raise
        wanted = len(self._buffer) if size < 0 else size
        taken = bytes(self._buffer[:wanted])
        del self._buffer[:wanted]
        return taken

    def _fill(self) -> None:
        text = next(self._lines, None)
        if text is None:
            self._buffer += self._compressor.flush()
            self._is_over = True
        else:
            self._buffer += self._compressor.compress(text + b"\n")


class _Reader:
    """Takes what age decrypted, and hands each line on."""

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self._take, self._decompressor, self._rest = take, zlib.decompressobj(), bytearray()

    def write(self, content: bytes) -> int:
        pending = bytes(content)
        while pending:
            try:
                self._rest += self._decompressor.decompress(pending, _CHUNK)
            except zlib.error as problem:
                raise ArchiveUnreadable(f"The archive is damaged: {problem}.") from None
            pending = self._decompressor.unconsumed_tail
            self._hand_on()
        return len(content)

    def flush(self) -> None:
        """Age calls it; every line was handed on when it was complete."""

    def end(self) -> None:
        self._rest += self._decompressor.flush()
        self._hand_on()
        if self._rest or not self._decompressor.eof:
            raise ArchiveUnreadable("The archive is damaged: its last line isn't complete.")

    def _hand_on(self) -> None:
        *lines, rest = self._rest.split(b"\n")
        if len(rest) > _MAX_LINE:
            raise ArchiveUnreadable("The archive is damaged: a line has no end.")
        self._rest = rest
        for line in lines:
            self._take(bytes(line))


def write(file: BinaryIO, lines: Iterator[bytes], key: ArchiveKey) -> None:
    """Write the encrypted lines. Raises ValueError for a malformed recipient."""
    import pyrage  # noqa: PLC0415 - few commands need it

    if key.passphrase:
        identity = pyrage.x25519.Identity.generate()
        recipients, locked = [identity.to_public()], pyrage.passphrase.encrypt(str(identity).encode(), key.passphrase)
    else:
        try:
            recipients, locked = [pyrage.x25519.Recipient.from_str(text) for text in key.recipients], b""
        except pyrage.RecipientError as problem:
            raise ValueError(f"not an age recipient, which begins with age1: {problem}") from None
    file.write(_MAGIC + str(len(locked)).encode() + b"\n" + locked)
    source = _Lines(lines)
    try:
        pyrage.encrypt_io(source, file, recipients)
    except pyrage.EncryptError:
        if source.error is not None:
            raise source.error from None
        raise


def read(file: BinaryIO, take: Callable[[bytes], None], key: ArchiveKey) -> None:
    """Hand each line of an archive to `take`, whose errors pass.

    What was handed on is only authentic as a whole once this returns: an archive that was cut off fails at its end.

    Raises ArchiveUnreadable.
    """
    import pyrage  # noqa: PLC0415 - as above

    locked = _locked_key(file)
    reader = _Reader(take)
    try:
        identities = _identities(pyrage, locked, key)
        pyrage.decrypt_io(file, reader, identities)
        reader.end()
    except (pyrage.DecryptError, pyrage.IdentityError):
        what = "The passphrase is wrong" if locked else "None of these keys opens the archive"
        raise ArchiveUnreadable(f"{what}, or the archive is damaged.") from None
    except OSError as problem:
        if problem.errno is not None:
            raise
        raise ArchiveUnreadable("The archive was changed or cut off after it was written.") from None


def needs_passphrase(file: BinaryIO) -> bool:
    """Return whether an archive opens by a passphrase; the file is at its beginning before and afterwards. Raises ArchiveUnreadable."""
    try:
        return bool(_locked_key(file))
    finally:
        file.seek(0)


def _locked_key(file: BinaryIO) -> bytes:
    header = file.readline(_MAX_HEADER)
    size = header.removeprefix(_MAGIC).removesuffix(b"\n")
    if not header.startswith(_MAGIC) or not size.isdigit() or int(size) > _MAX_KEY:
        raise ArchiveUnreadable("This isn't an archive of a tenant that this version can read.")
    return file.read(int(size))


def _identities(pyrage: Any, locked: bytes, key: ArchiveKey) -> list[Any]:
    texts = [pyrage.passphrase.decrypt(locked, key.passphrase).decode()] if locked else key.identities
    return [pyrage.x25519.Identity.from_str(text) for text in texts]
