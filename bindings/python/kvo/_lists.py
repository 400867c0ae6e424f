"""List, the type of to-many properties, and the lists that they give."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, MutableSequence
from typing import Any as Anything, Generic, Optional, TYPE_CHECKING

from ._guards import _Guard, _no_guard, _read_by_c
from ._handles import _Elements, _kept, _values
from ._library import _begin_change, _end, _finish, _stored, _will
from ._property import Property, T
from ._property_types import Any
from ._reports import _interrupted, _raise_interrupt
from ._types import _argument, _Frame, INSERTION, REMOVAL, REPLACEMENT, _size, _WANTS_WILL

if TYPE_CHECKING:
    from ._objects import Object


class List(Property[Anything], Generic[T]):
    """A to-many property: reading it gives a list whose mutations notify, with kind and indexes. `element` is the property type of its
    elements, such as kvo.Double."""

    def __init__(self, element: type[Property[T]] = Any, default: Iterable[T] = ()) -> None:
        if not (isinstance(element, type) and issubclass(element, Property)):
            raise TypeError("a type of property was expected, such as kvo.Double")
        self.element = element()
        self.encoding = "[" + self.element.encoding + "]"
        super().__init__(list(default))

    def convert(self, value: Anything) -> Anything:
        return _Elements(self.element.convert(one) for one in value)

    def __get__(self, instance: Anything, owner: Anything = None) -> Anything:
        if instance is None:
            return self
        super().__get__(instance, owner)
        return _ListOf(instance, self)

    def __set__(self, instance: "Object", value: Anything) -> None:
        if isinstance(value, _ListOf) and value._owner is instance and value._property is self:
            return  # after += and *=, which have told their change
        super().__set__(instance, value)


class _ListOf(MutableSequence):
    """The list of a property of an object."""

    __slots__ = ("_owner", "_property")

    def __init__(self, owner: "Object", of: List) -> None:
        self._owner, self._property = owner, of

    @property
    def _elements(self) -> list:
        return self._owner.__dict__[self._property.name]

    def __len__(self) -> int:
        return len(self._elements)

    def __getitem__(self, index: Anything) -> Anything:
        return self._elements[index]

    def __iter__(self) -> Iterator:
        return iter(self._elements)

    def __eq__(self, other: object) -> bool:
        return self._elements == (other._elements if isinstance(other, _ListOf) else other)

    def __repr__(self) -> str:
        return repr(self._elements)

    def insert(self, index: int, value: Anything) -> None:
        count = len(self._elements)
        at = max(0, index + count) if index < 0 else min(index, count)
        value = self._property.element.convert(value)
        self._change(INSERTION, [at], [value], lambda elements: elements.insert(at, value))

    def extend(self, values: Iterable[Anything]) -> None:
        made, at = self._property.convert(list(values)), len(self._elements)
        self._change(INSERTION, list(range(at, at + len(made))), list(made), lambda elements: elements.extend(made))

    def __imul__(self, times: int) -> "_ListOf":
        times = operator.index(times)
        if times > 0:
            self.extend(list(self._elements) * (times - 1))
        else:
            self.clear()
        return self

    def clear(self) -> None:
        self._change(REMOVAL, list(range(len(self._elements))), None, lambda elements: elements.clear())

    def __setitem__(self, index: Anything, value: Anything) -> None:
        if isinstance(index, slice):
            made = list(self._elements)
            made[index] = value
            self._property.__set__(self._owner, made)
        else:
            at = range(len(self._elements))[index]
            value = self._property.element.convert(value)
            self._change(REPLACEMENT, [at], [value], lambda elements: operator.setitem(elements, at, value))

    def __delitem__(self, index: Anything) -> None:
        every = range(len(self._elements))[index]
        indexes = sorted(every) if isinstance(index, slice) else [every]
        self._change(REMOVAL, indexes, None, lambda elements: operator.delitem(elements, index))

    def sort(self, *, key: Anything = None, reverse: bool = False) -> None:
        """Sorts: told as one setting."""
        self._property.__set__(self._owner, sorted(self._elements, key=key, reverse=reverse))

    def reverse(self) -> None:
        """Reverses: told as one setting."""
        self._property.__set__(self._owner, self._elements[::-1])

    def _change(self, kind: int, indexes: list[int], elements_after: Optional[list], apply: Callable[[list], Anything]) -> None:
        if indexes:
            with _Guard() if _read_by_c else _no_guard:
                self._change_now(kind, indexes, elements_after, apply)

    def _change_now(self, kind: int, indexes: list[int], elements_after: Optional[list], apply: Callable[[list], Anything]) -> None:
        instance, key, elements = self._owner, self._property.key, self._elements
        if not instance._kvo_word.value & 1:
            apply(elements)
            if instance._kvo_word.value & 1:
                _stored(instance._kvo_address, key)
            return
        memory, at = _Frame(), (_size * len(indexes))(*indexes)
        wants = _begin_change(memory, instance._kvo_address, key, kind, at, len(indexes))
        if wants == 0:
            apply(elements)
            _stored(instance._kvo_address, key)
            return
        old = new = None
        try:
            if kind != INSERTION:
                old = _kept([elements[index] for index in indexes])
            if elements_after is not None:
                new = _kept(elements_after)
            if wants & _WANTS_WILL:
                _will(memory, _argument(old))
            apply(elements)
        except BaseException:  # another thread has changed the list meanwhile
            _end(memory)
            raise
        else:
            _finish(memory, _argument(old), _argument(new))
        finally:
            _values.pop(old, None)  # type: ignore[arg-type]
            _values.pop(new, None)  # type: ignore[arg-type]
        if _interrupted:
            _raise_interrupt()
