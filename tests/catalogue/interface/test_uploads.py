"""The server reads larger bodies only where an operation or a page takes an image."""

from app.contract.catalogue import load_catalogue
from app.contract.images.uploads import BODY_BYTES, FORM_ADDRESSES, MAX_IMAGE_FORM_BYTES
from app.kit.operations.operation import MAX_BODY_BYTES
from app.kit.serving.server_limits import ServerLimits


def test_larger_bodies_are_read_where_they_are_declared() -> None:
    larger = [operation for operation in load_catalogue() if operation.body.max_bytes > MAX_BODY_BYTES]
    declared = {path: operation.body.max_bytes for operation in larger for _, path in operation.addresses()}
    assert declared == {path: most for path, most in BODY_BYTES.items() if path not in FORM_ADDRESSES}
    assert not [path for path in declared if "{" in path]
    assert all(operation.heavy_work is not None for operation in larger)


def test_server_reads_an_upload_and_no_other_large_body() -> None:
    limits = ServerLimits(body_bytes_under=BODY_BYTES)
    for path in FORM_ADDRESSES:
        assert limits.body_bytes_for(path) == MAX_IMAGE_FORM_BYTES
    assert limits.body_bytes_for("/login") == limits.body_bytes_for("/profile") == limits.body_bytes
