"""What build_native.py writes."""
from typing import Any

SONAME: str
ffi: Any
