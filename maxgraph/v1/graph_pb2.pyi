from maxgraph.v1 import types_pb2 as _types_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Access(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACCESS_UNSPECIFIED: _ClassVar[Access]
    ACCESS_READ: _ClassVar[Access]
    ACCESS_WRITE: _ClassVar[Access]
    ACCESS_READ_WRITE: _ClassVar[Access]
ACCESS_UNSPECIFIED: Access
ACCESS_READ: Access
ACCESS_WRITE: Access
ACCESS_READ_WRITE: Access

class Graph(_message.Message):
    __slots__ = ("name", "inputs", "outputs", "blocks")
    NAME_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    name: str
    inputs: _containers.RepeatedCompositeFieldContainer[Input]
    outputs: _containers.RepeatedCompositeFieldContainer[Output]
    blocks: _containers.RepeatedCompositeFieldContainer[Block]
    def __init__(self, name: _Optional[str] = ..., inputs: _Optional[_Iterable[_Union[Input, _Mapping]]] = ..., outputs: _Optional[_Iterable[_Union[Output, _Mapping]]] = ..., blocks: _Optional[_Iterable[_Union[Block, _Mapping]]] = ...) -> None: ...

class Input(_message.Message):
    __slots__ = ("name", "type", "access", "state")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    ACCESS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: int
    access: Access
    state: int
    def __init__(self, name: _Optional[str] = ..., type: _Optional[int] = ..., access: _Optional[_Union[Access, str]] = ..., state: _Optional[int] = ...) -> None: ...

class Output(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: int
    def __init__(self, name: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...

class Block(_message.Message):
    __slots__ = ("param_types", "nodes", "results")
    PARAM_TYPES_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    param_types: _containers.RepeatedScalarFieldContainer[int]
    nodes: _containers.RepeatedCompositeFieldContainer[Node]
    results: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, param_types: _Optional[_Iterable[int]] = ..., nodes: _Optional[_Iterable[_Union[Node, _Mapping]]] = ..., results: _Optional[_Iterable[int]] = ...) -> None: ...

class Node(_message.Message):
    __slots__ = ("op", "operands", "operand_segments", "result_types", "attributes", "blocks", "effects", "location")
    OP_FIELD_NUMBER: _ClassVar[int]
    OPERANDS_FIELD_NUMBER: _ClassVar[int]
    OPERAND_SEGMENTS_FIELD_NUMBER: _ClassVar[int]
    RESULT_TYPES_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    LOCATION_FIELD_NUMBER: _ClassVar[int]
    op: int
    operands: _containers.RepeatedScalarFieldContainer[int]
    operand_segments: _containers.RepeatedScalarFieldContainer[int]
    result_types: _containers.RepeatedScalarFieldContainer[int]
    attributes: _containers.RepeatedCompositeFieldContainer[Attribute]
    blocks: _containers.RepeatedScalarFieldContainer[int]
    effects: _containers.RepeatedCompositeFieldContainer[Effect]
    location: int
    def __init__(self, op: _Optional[int] = ..., operands: _Optional[_Iterable[int]] = ..., operand_segments: _Optional[_Iterable[int]] = ..., result_types: _Optional[_Iterable[int]] = ..., attributes: _Optional[_Iterable[_Union[Attribute, _Mapping]]] = ..., blocks: _Optional[_Iterable[int]] = ..., effects: _Optional[_Iterable[_Union[Effect, _Mapping]]] = ..., location: _Optional[int] = ...) -> None: ...

class Effect(_message.Message):
    __slots__ = ("buffer", "access")
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    ACCESS_FIELD_NUMBER: _ClassVar[int]
    buffer: int
    access: Access
    def __init__(self, buffer: _Optional[int] = ..., access: _Optional[_Union[Access, str]] = ...) -> None: ...

class Attribute(_message.Message):
    __slots__ = ("name", "bool_val", "int_val", "float_val", "string_val", "dtype_val", "type_val", "weight_val", "literal_val", "ints_val", "floats_val", "strings_val", "dims_val")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BOOL_VAL_FIELD_NUMBER: _ClassVar[int]
    INT_VAL_FIELD_NUMBER: _ClassVar[int]
    FLOAT_VAL_FIELD_NUMBER: _ClassVar[int]
    STRING_VAL_FIELD_NUMBER: _ClassVar[int]
    DTYPE_VAL_FIELD_NUMBER: _ClassVar[int]
    TYPE_VAL_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_VAL_FIELD_NUMBER: _ClassVar[int]
    LITERAL_VAL_FIELD_NUMBER: _ClassVar[int]
    INTS_VAL_FIELD_NUMBER: _ClassVar[int]
    FLOATS_VAL_FIELD_NUMBER: _ClassVar[int]
    STRINGS_VAL_FIELD_NUMBER: _ClassVar[int]
    DIMS_VAL_FIELD_NUMBER: _ClassVar[int]
    name: str
    bool_val: bool
    int_val: int
    float_val: float
    string_val: str
    dtype_val: _types_pb2.Dtype
    type_val: int
    weight_val: int
    literal_val: Literal
    ints_val: IntList
    floats_val: FloatList
    strings_val: StringList
    dims_val: DimList
    def __init__(self, name: _Optional[str] = ..., bool_val: bool = ..., int_val: _Optional[int] = ..., float_val: _Optional[float] = ..., string_val: _Optional[str] = ..., dtype_val: _Optional[_Union[_types_pb2.Dtype, str]] = ..., type_val: _Optional[int] = ..., weight_val: _Optional[int] = ..., literal_val: _Optional[_Union[Literal, _Mapping]] = ..., ints_val: _Optional[_Union[IntList, _Mapping]] = ..., floats_val: _Optional[_Union[FloatList, _Mapping]] = ..., strings_val: _Optional[_Union[StringList, _Mapping]] = ..., dims_val: _Optional[_Union[DimList, _Mapping]] = ...) -> None: ...

class Literal(_message.Message):
    __slots__ = ("type", "data")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    type: int
    data: bytes
    def __init__(self, type: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...

class IntList(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, values: _Optional[_Iterable[int]] = ...) -> None: ...

class FloatList(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, values: _Optional[_Iterable[float]] = ...) -> None: ...

class StringList(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, values: _Optional[_Iterable[str]] = ...) -> None: ...

class DimList(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedCompositeFieldContainer[_types_pb2.Dim]
    def __init__(self, values: _Optional[_Iterable[_Union[_types_pb2.Dim, _Mapping]]] = ...) -> None: ...
