from maxgraph.v1 import graph_pb2 as _graph_pb2
from maxgraph.v1 import types_pb2 as _types_pb2
from maxgraph.v1 import weights_pb2 as _weights_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Model(_message.Message):
    __slots__ = ("producer", "required_features", "ops", "symbols", "devices", "types", "external_files", "blobs", "weights", "states", "graphs", "metadata", "sources", "debug_info", "floor_divs")
    PRODUCER_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FEATURES_FIELD_NUMBER: _ClassVar[int]
    OPS_FIELD_NUMBER: _ClassVar[int]
    SYMBOLS_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_FILES_FIELD_NUMBER: _ClassVar[int]
    BLOBS_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    GRAPHS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    DEBUG_INFO_FIELD_NUMBER: _ClassVar[int]
    FLOOR_DIVS_FIELD_NUMBER: _ClassVar[int]
    producer: Producer
    required_features: _containers.RepeatedScalarFieldContainer[str]
    ops: _containers.RepeatedCompositeFieldContainer[OpRef]
    symbols: _containers.RepeatedCompositeFieldContainer[_types_pb2.Symbol]
    devices: _containers.RepeatedCompositeFieldContainer[_types_pb2.Device]
    types: _containers.RepeatedCompositeFieldContainer[_types_pb2.Type]
    external_files: _containers.RepeatedCompositeFieldContainer[_weights_pb2.ExternalFile]
    blobs: _containers.RepeatedCompositeFieldContainer[_weights_pb2.Blob]
    weights: _containers.RepeatedCompositeFieldContainer[_weights_pb2.Weight]
    states: _containers.RepeatedCompositeFieldContainer[_weights_pb2.State]
    graphs: _containers.RepeatedCompositeFieldContainer[_graph_pb2.Graph]
    metadata: _containers.RepeatedCompositeFieldContainer[MetadataEntry]
    sources: _containers.RepeatedCompositeFieldContainer[Source]
    debug_info: DebugInfo
    floor_divs: _containers.RepeatedCompositeFieldContainer[_types_pb2.FloorDiv]
    def __init__(self, producer: _Optional[_Union[Producer, _Mapping]] = ..., required_features: _Optional[_Iterable[str]] = ..., ops: _Optional[_Iterable[_Union[OpRef, _Mapping]]] = ..., symbols: _Optional[_Iterable[_Union[_types_pb2.Symbol, _Mapping]]] = ..., devices: _Optional[_Iterable[_Union[_types_pb2.Device, _Mapping]]] = ..., types: _Optional[_Iterable[_Union[_types_pb2.Type, _Mapping]]] = ..., external_files: _Optional[_Iterable[_Union[_weights_pb2.ExternalFile, _Mapping]]] = ..., blobs: _Optional[_Iterable[_Union[_weights_pb2.Blob, _Mapping]]] = ..., weights: _Optional[_Iterable[_Union[_weights_pb2.Weight, _Mapping]]] = ..., states: _Optional[_Iterable[_Union[_weights_pb2.State, _Mapping]]] = ..., graphs: _Optional[_Iterable[_Union[_graph_pb2.Graph, _Mapping]]] = ..., metadata: _Optional[_Iterable[_Union[MetadataEntry, _Mapping]]] = ..., sources: _Optional[_Iterable[_Union[Source, _Mapping]]] = ..., debug_info: _Optional[_Union[DebugInfo, _Mapping]] = ..., floor_divs: _Optional[_Iterable[_Union[_types_pb2.FloorDiv, _Mapping]]] = ...) -> None: ...

class Producer(_message.Message):
    __slots__ = ("name", "version")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ...) -> None: ...

class OpRef(_message.Message):
    __slots__ = ("domain", "name", "version")
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    domain: str
    name: str
    version: int
    def __init__(self, domain: _Optional[str] = ..., name: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class MetadataEntry(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: str
    def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ("name", "sha256", "uri")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    name: str
    sha256: bytes
    uri: str
    def __init__(self, name: _Optional[str] = ..., sha256: _Optional[bytes] = ..., uri: _Optional[str] = ...) -> None: ...

class DebugInfo(_message.Message):
    __slots__ = ("files", "locations", "value_names")
    class Location(_message.Message):
        __slots__ = ("file", "line", "column")
        FILE_FIELD_NUMBER: _ClassVar[int]
        LINE_FIELD_NUMBER: _ClassVar[int]
        COLUMN_FIELD_NUMBER: _ClassVar[int]
        file: int
        line: int
        column: int
        def __init__(self, file: _Optional[int] = ..., line: _Optional[int] = ..., column: _Optional[int] = ...) -> None: ...
    class ValueName(_message.Message):
        __slots__ = ("graph", "value", "name")
        GRAPH_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        NAME_FIELD_NUMBER: _ClassVar[int]
        graph: int
        value: int
        name: str
        def __init__(self, graph: _Optional[int] = ..., value: _Optional[int] = ..., name: _Optional[str] = ...) -> None: ...
    FILES_FIELD_NUMBER: _ClassVar[int]
    LOCATIONS_FIELD_NUMBER: _ClassVar[int]
    VALUE_NAMES_FIELD_NUMBER: _ClassVar[int]
    files: _containers.RepeatedScalarFieldContainer[str]
    locations: _containers.RepeatedCompositeFieldContainer[DebugInfo.Location]
    value_names: _containers.RepeatedCompositeFieldContainer[DebugInfo.ValueName]
    def __init__(self, files: _Optional[_Iterable[str]] = ..., locations: _Optional[_Iterable[_Union[DebugInfo.Location, _Mapping]]] = ..., value_names: _Optional[_Iterable[_Union[DebugInfo.ValueName, _Mapping]]] = ...) -> None: ...
