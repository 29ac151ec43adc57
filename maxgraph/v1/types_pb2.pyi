from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Dtype(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DTYPE_UNSPECIFIED: _ClassVar[Dtype]
    DTYPE_BOOL: _ClassVar[Dtype]
    DTYPE_INT8: _ClassVar[Dtype]
    DTYPE_INT16: _ClassVar[Dtype]
    DTYPE_INT32: _ClassVar[Dtype]
    DTYPE_INT64: _ClassVar[Dtype]
    DTYPE_UINT8: _ClassVar[Dtype]
    DTYPE_UINT16: _ClassVar[Dtype]
    DTYPE_UINT32: _ClassVar[Dtype]
    DTYPE_UINT64: _ClassVar[Dtype]
    DTYPE_FLOAT16: _ClassVar[Dtype]
    DTYPE_BFLOAT16: _ClassVar[Dtype]
    DTYPE_FLOAT32: _ClassVar[Dtype]
    DTYPE_FLOAT64: _ClassVar[Dtype]
    DTYPE_FLOAT8_E4M3FN: _ClassVar[Dtype]
    DTYPE_FLOAT8_E4M3FNUZ: _ClassVar[Dtype]
    DTYPE_FLOAT8_E5M2: _ClassVar[Dtype]
    DTYPE_FLOAT8_E5M2FNUZ: _ClassVar[Dtype]
    DTYPE_FLOAT8_E8M0FNU: _ClassVar[Dtype]
    DTYPE_FLOAT4_E2M1FN: _ClassVar[Dtype]
    DTYPE_INT4: _ClassVar[Dtype]
    DTYPE_UINT4: _ClassVar[Dtype]
DTYPE_UNSPECIFIED: Dtype
DTYPE_BOOL: Dtype
DTYPE_INT8: Dtype
DTYPE_INT16: Dtype
DTYPE_INT32: Dtype
DTYPE_INT64: Dtype
DTYPE_UINT8: Dtype
DTYPE_UINT16: Dtype
DTYPE_UINT32: Dtype
DTYPE_UINT64: Dtype
DTYPE_FLOAT16: Dtype
DTYPE_BFLOAT16: Dtype
DTYPE_FLOAT32: Dtype
DTYPE_FLOAT64: Dtype
DTYPE_FLOAT8_E4M3FN: Dtype
DTYPE_FLOAT8_E4M3FNUZ: Dtype
DTYPE_FLOAT8_E5M2: Dtype
DTYPE_FLOAT8_E5M2FNUZ: Dtype
DTYPE_FLOAT8_E8M0FNU: Dtype
DTYPE_FLOAT4_E2M1FN: Dtype
DTYPE_INT4: Dtype
DTYPE_UINT4: Dtype

class Symbol(_message.Message):
    __slots__ = ("name", "min", "max", "multiple_of")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    MULTIPLE_OF_FIELD_NUMBER: _ClassVar[int]
    name: str
    min: int
    max: int
    multiple_of: int
    def __init__(self, name: _Optional[str] = ..., min: _Optional[int] = ..., max: _Optional[int] = ..., multiple_of: _Optional[int] = ...) -> None: ...

class Dim(_message.Message):
    __slots__ = ("size", "symbol", "expr")
    SIZE_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    EXPR_FIELD_NUMBER: _ClassVar[int]
    size: int
    symbol: int
    expr: DimExpr
    def __init__(self, size: _Optional[int] = ..., symbol: _Optional[int] = ..., expr: _Optional[_Union[DimExpr, _Mapping]] = ...) -> None: ...

class DimExpr(_message.Message):
    __slots__ = ("monomials", "constant")
    class Monomial(_message.Message):
        __slots__ = ("coefficient", "symbols", "floor_divs")
        COEFFICIENT_FIELD_NUMBER: _ClassVar[int]
        SYMBOLS_FIELD_NUMBER: _ClassVar[int]
        FLOOR_DIVS_FIELD_NUMBER: _ClassVar[int]
        coefficient: int
        symbols: _containers.RepeatedScalarFieldContainer[int]
        floor_divs: _containers.RepeatedScalarFieldContainer[int]
        def __init__(self, coefficient: _Optional[int] = ..., symbols: _Optional[_Iterable[int]] = ..., floor_divs: _Optional[_Iterable[int]] = ...) -> None: ...
    MONOMIALS_FIELD_NUMBER: _ClassVar[int]
    CONSTANT_FIELD_NUMBER: _ClassVar[int]
    monomials: _containers.RepeatedCompositeFieldContainer[DimExpr.Monomial]
    constant: int
    def __init__(self, monomials: _Optional[_Iterable[_Union[DimExpr.Monomial, _Mapping]]] = ..., constant: _Optional[int] = ...) -> None: ...

class FloorDiv(_message.Message):
    __slots__ = ("numerator", "denominator")
    NUMERATOR_FIELD_NUMBER: _ClassVar[int]
    DENOMINATOR_FIELD_NUMBER: _ClassVar[int]
    numerator: DimExpr
    denominator: DimExpr
    def __init__(self, numerator: _Optional[_Union[DimExpr, _Mapping]] = ..., denominator: _Optional[_Union[DimExpr, _Mapping]] = ...) -> None: ...

class TensorType(_message.Message):
    __slots__ = ("dtype", "shape", "device")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    dtype: Dtype
    shape: _containers.RepeatedCompositeFieldContainer[Dim]
    device: int
    def __init__(self, dtype: _Optional[_Union[Dtype, str]] = ..., shape: _Optional[_Iterable[_Union[Dim, _Mapping]]] = ..., device: _Optional[int] = ...) -> None: ...

class BufferType(_message.Message):
    __slots__ = ("dtype", "shape", "device")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    dtype: Dtype
    shape: _containers.RepeatedCompositeFieldContainer[Dim]
    device: int
    def __init__(self, dtype: _Optional[_Union[Dtype, str]] = ..., shape: _Optional[_Iterable[_Union[Dim, _Mapping]]] = ..., device: _Optional[int] = ...) -> None: ...

class Type(_message.Message):
    __slots__ = ("tensor", "buffer")
    TENSOR_FIELD_NUMBER: _ClassVar[int]
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    tensor: TensorType
    buffer: BufferType
    def __init__(self, tensor: _Optional[_Union[TensorType, _Mapping]] = ..., buffer: _Optional[_Union[BufferType, _Mapping]] = ...) -> None: ...

class Device(_message.Message):
    __slots__ = ("kind", "ordinal")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[Device.Kind]
        KIND_CPU: _ClassVar[Device.Kind]
        KIND_GPU: _ClassVar[Device.Kind]
    KIND_UNSPECIFIED: Device.Kind
    KIND_CPU: Device.Kind
    KIND_GPU: Device.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    kind: Device.Kind
    ordinal: int
    def __init__(self, kind: _Optional[_Union[Device.Kind, str]] = ..., ordinal: _Optional[int] = ...) -> None: ...
