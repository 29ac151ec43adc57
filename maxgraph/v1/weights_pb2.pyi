from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Weight(_message.Message):
    __slots__ = ("name", "type", "blob")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    BLOB_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: int
    blob: int
    def __init__(self, name: _Optional[str] = ..., type: _Optional[int] = ..., blob: _Optional[int] = ...) -> None: ...

class Blob(_message.Message):
    __slots__ = ("file", "offset", "length", "sha256")
    FILE_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    file: int
    offset: int
    length: int
    sha256: bytes
    def __init__(self, file: _Optional[int] = ..., offset: _Optional[int] = ..., length: _Optional[int] = ..., sha256: _Optional[bytes] = ...) -> None: ...

class ExternalFile(_message.Message):
    __slots__ = ("name", "size", "sha256", "format")
    class Format(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        FORMAT_UNSPECIFIED: _ClassVar[ExternalFile.Format]
        FORMAT_SAFETENSORS: _ClassVar[ExternalFile.Format]
    FORMAT_UNSPECIFIED: ExternalFile.Format
    FORMAT_SAFETENSORS: ExternalFile.Format
    NAME_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    name: str
    size: int
    sha256: bytes
    format: ExternalFile.Format
    def __init__(self, name: _Optional[str] = ..., size: _Optional[int] = ..., sha256: _Optional[bytes] = ..., format: _Optional[_Union[ExternalFile.Format, str]] = ...) -> None: ...

class State(_message.Message):
    __slots__ = ("name", "type", "zero", "weight", "scratch")
    class Zero(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...
    class Scratch(_message.Message):
        __slots__ = ()
        def __init__(self) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    ZERO_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    SCRATCH_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: int
    zero: State.Zero
    weight: int
    scratch: State.Scratch
    def __init__(self, name: _Optional[str] = ..., type: _Optional[int] = ..., zero: _Optional[_Union[State.Zero, _Mapping]] = ..., weight: _Optional[int] = ..., scratch: _Optional[_Union[State.Scratch, _Mapping]] = ...) -> None: ...
