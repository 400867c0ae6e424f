"""List, the type of to-many properties, and the lists that they give."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any as Anything, Generic, Optional, overload, TYPE_CHECKING

from ._copies import _List, E
from ._guards import _in_guard, _read_by_c
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

    @overload
    def __init__(self: "List[Anything]", *, default: Iterable[Anything] = ()) -> None: ...
    @overload
    def __init__(self, element: type[Property[T]], default: Iterable[T] = ()) -> None: ...

    def __init__(self, element: type[Property[Anything]] = Any, default: Iterable[Anything] = ()) -> None:
        if not (isinstance(element, type) and issubclass(element, Property)):
            raise TypeError("a type of property was expected, such as kvo.Double")
        self.element = element()
        self.encoding = "[" + self.element.encoding + "]"
        super().__init__(list(default))

    def convert(self, value: Anything) -> Anything:
        return _Elements(self.element.convert(one) for one in value)

    @overload
    def __get__(self, instance: None, owner: Anything) -> "List[T]": ...
    @overload
    def __get__(self, instance: "Object", owner: Anything) -> "_ListOf[T]": ...

    def __get__(self, instance: Anything, owner: Anything = None) -> Anything:
        if instance is None:
            return self
        super().__get__(instance, owner)
        return _ListOf(instance, self)

    def __set__(self, instance: "Object", value: Iterable[T]) -> None:
        if isinstance(value, _ListOf) and value._owner is instance and value._property is self:
            return  # after += and *=, which have told their change
        super().__set__(instance, value)


class _ListOf(_List[E]):
    """The list of a property of an object."""

    __slots__ = ("_owner", "_property")

    def __init__(self, owner: "Object", of: List[E]) -> None:
        self._owner, self._property = owner, of

    @property
    def _elements(self) -> list[E]:
        return self._owner.__dict__[self._property.name]

    def __len__(self) -> int:
        return len(self._elements)

    @overload
    def __getitem__(self, index: int) -> E: ...
    @overload
    def __getitem__(self, index: slice) -> list[E]: ...

    def __getitem__(self, index: Anything) -> Anything:
        return self._elements[index]

    def __iter__(self) -> Iterator[E]:
        return iter(self._elements)

    def __eq__(self, other: object) -> bool:
        return self._elements == (other._elements if isinstance(other, _ListOf) else other)

    def __repr__(self) -> str:
        return repr(self._elements)

    def insert(self, index: int, value: E) -> None:
        value = self._property.element.convert(value)
        count = len(self._elements)
        at = max(0, index + count) if index < 0 else min(index, count)
        self._change(INSERTION, range(at, at + 1), [value])

    def extend(self, values: Iterable[E]) -> None:
        made = list(self._property.convert(list(values)))
        at = len(self._elements)
        self._change(INSERTION, range(at, at + len(made)), made)

    def __imul__(self, times: int) -> "_ListOf[E]":  # type: ignore[override]
        times = operator.index(times)
        if times > 0:
            self.extend(list(self._elements) * (times - 1))
        else:
            self.clear()
        return self

    def clear(self) -> None:
        self._change(REMOVAL, range(len(self._elements)), None)

    def __setitem__(self, index: Anything, value: Anything) -> None:
        if isinstance(index, slice):
            made = list(self._elements)
            made[index] = value
            self._property.__set__(self._owner, made)
        else:
            value = self._property.element.convert(value)
            at = range(len(self._elements))[index]
            self._change(REPLACEMENT, range(at, at + 1), [value])

    def __delitem__(self, index: Anything) -> None:
        every = range(len(self._elements))[index]
        indexes = every if isinstance(every, range) else range(every, every + 1)
        self._change(REMOVAL, indexes if indexes.step > 0 else indexes[::-1], None)

    def sort(self, *, key: Anything = None, reverse: bool = False) -> None:
        """Sorts: told as one setting."""
        self._property.__set__(self._owner, sorted(self._elements, key=key, reverse=reverse))

    def reverse(self) -> None:
        """Reverses: told as one setting."""
        self._property.__set__(self._owner, self._elements[::-1])

    def _change(self, kind: int, indexes: range, elements_after: Optional[list]) -> None:
        """Changes the elements at ascending indexes."""
        if indexes and _read_by_c:
            _in_guard(self._change_now, kind, indexes, elements_after)
        elif indexes:
            self._change_now(kind, indexes, elements_after)

    def _change_now(self, kind: int, indexes: range, elements_after: Optional[list]) -> None:
        instance, key = self._owner, self._property.key
        if not instance._kvo_word.value & 1:
            self._apply(kind, indexes, elements_after)
            if instance._kvo_word.value & 1:
                _stored(instance._kvo_address, key)
            return
        memory, at = _Frame(), (_size * len(indexes))(*indexes)
        old = new = None
        try:  # a signal handler may raise after each call
            wants = _begin_change(memory, instance._kvo_address, key, kind, at, len(indexes))
            if wants == 0:
                self._apply(kind, indexes, elements_after)
                _stored(instance._kvo_address, key)
                return
            if kind != INSERTION:
                old = _kept(self._present(kind, indexes))
            if elements_after is not None:
                new = _kept(elements_after)
            old_argument, new_argument = _argument(old), _argument(new)
            if wants & _WANTS_WILL:
                _will(memory, old_argument)
                if old is not None:
                    _values[old] = self._present(kind, indexes)
            # The list may have been changed meanwhile: by a handler that is called before the change, or by another thread.
            elements = self._checked(kind, indexes)
            span = slice(indexes.start, indexes.start if kind == INSERTION else indexes.stop, indexes.step)
            if elements_after is None:  # as _apply does, but with no call between the store and its end
                del elements[span]
            else:
                elements[span] = elements_after
            _finish(memory, old_argument, new_argument)
        except BaseException:
            _end(memory)
            raise
        finally:
            _values.pop(old, None)  # type: ignore[arg-type]
            _values.pop(new, None)  # type: ignore[arg-type]
        if _interrupted:
            _raise_interrupt()

    def _checked(self, kind: int, indexes: range) -> list:
        """The present elements, if they have the indexes."""
        elements = self._elements
        if (indexes[0] - 1 if kind == INSERTION else indexes[-1]) >= len(elements):
            raise IndexError(f"the list of '{self._property.name}' has {len(elements)} elements, and has been changed meanwhile")
        return elements

    def _present(self, kind: int, indexes: range) -> list:
        return self._checked(kind, indexes)[indexes.start : indexes.stop : indexes.step]

    def _apply(self, kind: int, indexes: range, elements_after: Optional[list]) -> None:
        if kind == INSERTION:
            self._elements[indexes.start : indexes.start] = elements_after or []
        elif kind == REPLACEMENT:
            self._checked(kind, indexes)[indexes.start : indexes.stop] = elements_after or []
        else:
            del self._checked(kind, indexes)[indexes.start : indexes.stop : indexes.step]
